"""From the first question to the last answer: requests, models, hops, and who answered. See needs.py."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.config.cards import read_card
from punchline.core import benchmark as benchmarks
from punchline.core.engine import Engine
from punchline.core.storage import digests_in, read_table
from punchline.files import MANIFEST
from punchline.project import adapters, recipes
from punchline.project.asking import key_so_far, role_of
from punchline.project.contents import answers_in, printed
from punchline.project.hops import CHAINED, DATA, RELEASED, by_journal
from punchline.project.prepared import Prepared, once
from punchline.schema import ModelCard, Request, digest_of_all
from punchline.workflow.provenance import Artifact, Input

SHARD = "shard"


class Answered(Prepared):
    """Questions and answers."""

    # Questions and answers

    @once
    def ask(self, benchmark: str) -> Artifact:
        return Artifact(
            "ask",
            (benchmark,),
            (self.paths.requests(benchmark),),
            (self._items(benchmark),),
            {"samples": self.selection.samples, "conditions": self.conditions(benchmark)},
            ("punchline.stages.ask", benchmarks.module_of(benchmark, "ask")),
        )

    def _requests(self, benchmark: str) -> Input:
        return Input("requests", self.paths.requests(benchmark), functools.partial(self.ask, benchmark))

    def _weights(self, card: ModelCard) -> list[Input]:
        """Files of a model in a folder, or their list where the folder has one; its adapter."""
        found = []
        if (folder := str(card.options.get("id", ""))) and Path(folder).is_dir():
            files = [Path(folder, MANIFEST)] if Path(folder, MANIFEST).is_file() else Path(folder).rglob("*")
            found += [Input("model", path) for path in sorted(path.as_posix() for path in files if path.is_file())]
        adapter = card.options.get("adapter")
        if isinstance(adapter, str):
            trains = recipes.can_train(card, adapter, self.selection.benchmarks)
            step = functools.partial(self.finetune, adapter) if trains else None
            companions = functools.partial(adapters.files_beside, adapter)
            found.append(Input("adapter", paths.adapter(adapter), step, companions=companions))
        return found

    @once
    def finetune(self, adapter: str) -> Artifact:
        """An adapter. Of which items it was trained is in its manifest: another selection trains nothing anew."""
        recipe = recipes.read_recipe(adapter)
        base = read_card(recipe.base)
        items, gold = self._items(recipe.benchmark), self._gold(recipe.benchmark)
        before = [need._replace(decides=False) for need in (items, gold)]
        return Artifact(
            "finetune",
            (adapter,),
            (paths.adapter(adapter),),
            (*before, *self._weights(base)),
            {"recipe": recipe.trained_by(), "base": base.asked(), "corpus": self.selection.corpus.name},
            (),
            extra=lambda: adapters.files_beside(adapter),
            extra_role="adapter",
            record=paths.record_of(paths.folder_of(paths.adapter(adapter))),
        )

    def _answering(self, card: ModelCard, engine: Engine, benchmark: str) -> tuple[list[Input], dict[str, Any]]:
        """(files, parameters) that decide what an engine answers, apart from what it is asked."""
        return [*self._released(engine), *self._weights(card)], {
            "card": card.asked(),
            "key": key_so_far(engine, card, benchmark),
        }

    @once
    def snapshot(self, benchmark: str, model: str) -> Artifact:
        """A model's answers to the current requests, from its journal: what is not in it is asked."""
        files, parameters = self._answering(self.cards[model], self.engines[model], benchmark)
        snapshot = self.paths.snapshot(benchmark, model)
        shards = self._shards_of(self.cards[model], snapshot, lambda: self.snapshot(benchmark, model))
        return Artifact(
            "infer",
            (benchmark, model),
            (snapshot,),
            (self._requests(benchmark), self._items(benchmark)._replace(decides=False), *files, *shards),
            parameters,
            ("punchline.stages.infer",),
            journals=lambda: [("journal", paths.journal(benchmark, model), answers_in(snapshot))],
            kept=(paths.journal(benchmark, model),),
        )

    def _shards_of(self, card: ModelCard | None, path: str, snapshot: Callable[[], Artifact]) -> list[Input]:
        """The parts that several jobs ask of who answers a snapshot's requests. How many there are decides about no
        answer: the snapshot's step does not hang on them, and asks for them only where it is to be made."""

        def part(shard: str) -> Artifact:
            return self.shard(snapshot(), shard)

        return [
            Input(SHARD, paths.shard(path, shard), functools.partial(part, shard), decides=False)
            for shard in self.shards(card)
        ]

    @once
    def shard(self, snapshot: Artifact, shard: str) -> Artifact:
        """One job's part of the answers of a snapshot's step."""
        needs = [need for need in snapshot.needs if need.role != SHARD]
        return Artifact(
            f"{snapshot.rule}_shard",
            (*snapshot.wildcards, shard),
            (paths.shard(snapshot.outputs[0], shard),),
            tuple(needs),
            {**snapshot.parameters, "shards": len(snapshot.needs) - len(needs)},
            snapshot.code,
            follows=(snapshot.rule, *snapshot.outputs),
        )

    def _own(self, benchmark: str, model: str) -> list[Input]:
        """What a model itself was asked, on items and on its own answers, and what it said."""
        snapshot = functools.partial(self.snapshot, benchmark, model)
        needs = [self._requests(benchmark), Input("snapshot", self.paths.snapshot(benchmark, model), snapshot)]
        return needs + (self._hop(benchmark, CHAINED, model) if CHAINED in self.hops(benchmark, model) else [])

    def _hop(self, benchmark: str, hop: str, model: str) -> list[Input]:
        requests = functools.partial(self.ask_hop, benchmark, hop, model)
        snapshot = functools.partial(self.hop_snapshot, benchmark, hop, model)
        return [
            Input(f"{role_of(hop)} requests", self.paths.hop_requests(benchmark, hop, model), requests),
            Input(f"{role_of(hop)} snapshot", self.paths.hop_snapshot(benchmark, hop, model), snapshot),
        ]

    @once
    def ask_hop(self, benchmark: str, hop: str, model: str) -> Artifact:
        """What hangs on a model's answers; of DATA, on texts of the data itself."""
        if model == DATA:
            return self._ask_data(benchmark, hop)
        own = self._own(benchmark, model)
        if hop == CHAINED:  # these come before what it makes itself
            own = own[:2]
        return Artifact(
            "ask_hop",
            (benchmark, hop, model),
            (self.paths.hop_requests(benchmark, hop, model),),
            (self._items(benchmark), self._gold(benchmark), *own),
            {"conditions": self.conditions(benchmark)},
            ("punchline.stages.ask", benchmarks.module_of(benchmark, "ask" if hop == CHAINED else "judge")),
            benchmarks.libraries(self.benchmark(benchmark), "ask" if hop == CHAINED else "judge"),
        )

    def _ask_data(self, benchmark: str, hop: str) -> Artifact:
        loaded = self.benchmark(benchmark)

        def values(file: str) -> list[Any]:
            return [printed(file, name) for name in loaded.COMPARED[hop]]

        return Artifact(
            "ask_hop",
            (benchmark, hop, DATA),
            (self.paths.hop_requests(benchmark, hop, DATA),),
            (*self._raw(benchmark, loaded.GOLD_FILES), *self._published(benchmark, values)),
            {},
            ("punchline.stages.ask", benchmarks.module_of(benchmark, "compared")),
        )

    @once
    def hop_snapshot(self, benchmark: str, hop: str, model: str) -> Artifact:
        """The answers to a hop's requests about, or of, one model."""
        who = self.hops(benchmark, model)[hop]
        itself = hop == CHAINED or who == RELEASED  # released verdicts lie in the model's own files
        card = self.cards[model] if itself else self.judges[who]
        engine = self.engines[model] if itself else self.judging[who]
        files, parameters = self._answering(card, engine, benchmark)
        requests = self._hop(benchmark, hop, model)[0]
        pictured = [self._items(benchmark)._replace(decides=False)] if hop == CHAINED else []
        snapshot = self.paths.hop_snapshot(benchmark, hop, model)
        asked = None if who == RELEASED else card
        shards = self._shards_of(asked, snapshot, lambda: self.hop_snapshot(benchmark, hop, model))
        return Artifact(
            "infer_chained" if hop == CHAINED else "judge",
            (benchmark, hop, model),
            (snapshot,),
            (requests, *pictured, *files, *shards),
            {"who": who, **parameters},
            ("punchline.stages.infer",),
            journals=lambda: self._hop_journals(benchmark, hop, model),
            kept=() if who == RELEASED else (paths.hop_journal(benchmark, hop, who),),
        )

    def _hop_journals(self, benchmark: str, hop: str, model: str) -> list[tuple[str, str, str]]:
        """(role, path, digest of the answers that count) of every journal that a hop's answers about a model are in."""
        who = self.hops(benchmark, model)[hop]
        stem = model if hop == CHAINED else who
        engine = self.engines[model] if hop == CHAINED or who == RELEASED else self.judging[who]
        requests = read_table(self.paths.hop_requests(benchmark, hop, model), Request)
        digests = digests_in(self.paths.hop_snapshot(benchmark, hop, model))
        answers = {request.request_id: digest for request, digest in zip(requests, digests, strict=False)}
        return [
            (
                f"{role_of(hop)} journal",
                paths.hop_journal(benchmark, hop, name),
                digest_of_all(answers.get(request.request_id, "") for request in part),
            )
            for name, part in by_journal(stem, engine, requests).items()
        ]
