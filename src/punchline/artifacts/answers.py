"""Artifacts of requests, adapters and responses."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.contents import answers_in, counted, printed
from punchline.artifacts.data import Prepared, once
from punchline.artifacts.passes import ALL, CHAINED, DATA, EXTRACTOR, Round
from punchline.artifacts.respondents import key_so_far, role_of
from punchline.config import adapters, recipes
from punchline.config.cards import read_card
from punchline.core import benchmark as benchmarks
from punchline.core.engine import Engine
from punchline.files import MANIFEST
from punchline.schema import ModelCard, digest_of
from punchline.workflow.provenance import Artifact, Input

SHARD = "shard"


class Answered(Prepared):
    """Questions and answers."""

    # Questions and answers

    @once
    def requests(self, benchmark: str) -> Artifact:
        return Artifact(
            "requests",
            (benchmark,),
            (self.paths.requests(benchmark),),
            (self._items(benchmark),),
            {"samples": self.selection.samples, "conditions": self.conditions(benchmark)},
            "punchline.requests:write_requests",
            tuple(benchmarks.module_of(benchmark, name) for name in ("ask", "options")),
        )

    def _requests(self, benchmark: str) -> Input:
        return Input("requests", self.paths.requests(benchmark), functools.partial(self.requests, benchmark))

    def _weights(self, card: ModelCard) -> list[Input]:
        """Files of a model in a folder, or their list where the folder has one; its adapter."""
        found = []
        if (folder := str(card.options.get("id", ""))) and Path(folder).is_dir():
            files = [Path(folder, MANIFEST)] if Path(folder, MANIFEST).is_file() else Path(folder).rglob("*")
            found += [Input("model", path) for path in sorted(path.as_posix() for path in files if path.is_file())]
        adapter = card.options.get("adapter")
        if isinstance(adapter, str):
            trains = recipes.can_train(card, adapter, self.selection.benchmarks)
            step = functools.partial(self.train, adapter) if trains else None
            companions = functools.partial(adapters.files_beside, adapter)
            found.append(Input("adapter", paths.adapter(adapter), step, companions=companions))
        return found

    @once
    def train(self, adapter: str) -> Artifact:
        """An adapter. Of which items it was trained is in its manifest: another selection trains nothing anew."""
        recipe = recipes.read_recipe(adapter)
        base = read_card(recipe.base)
        items, gold = self._items(recipe.benchmark), self._gold(recipe.benchmark)
        before = [need._replace(decides=False) for need in (items, gold)]
        return Artifact(
            "train",
            (adapter,),
            (paths.adapter(adapter),),
            (*before, *self._weights(base)),
            {"recipe": recipe.trained_by(), "base": base.asked(), "corpus": self.selection.corpus.name},
            "punchline.train:write_adapter",
            None,
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

    def _shards_of(self, respondent: str) -> list[Input]:
        """Markers of the jobs that ask a respondent in parts: asked for only where something is to be made, as their
        number decides about no answer."""
        return [
            Input(
                SHARD,
                self.paths.responded(respondent, shard),
                functools.partial(self.shard, respondent, shard),
                decides=False,
            )
            for shard in self.shards(respondent)
        ]

    @once
    def shard(self, respondent: str, shard: str) -> Artifact:
        """One job's part of a respondent's answers: in its journals, which the record names."""
        steps = [self.answers(b, pass_, model) for b, pass_, models in self.rounds(respondent) for model in models]
        own = {path for step in steps for path in step.outputs}
        needs = {
            need.path: need for step in steps for need in step.needs if need.path not in own and need.role != SHARD
        }

        def journals() -> list[str]:
            found = {paths.shard_journal(self.journal(respondent, one), shard) for one in self.rounds(respondent)}
            return sorted(path for path in found if Path(path).is_file())

        return Artifact(
            "respond",
            (respondent, shard),
            (self.paths.responded(respondent, shard),),
            tuple(needs.values()),
            {"asked": digest_of([[step.name, step.parameters] for step in steps])},
            "punchline.respond:write_shard",
            tuple(dict.fromkeys(module for step in steps for module in step.modules)),
            extra=journals,
            follows=(self.paths.responded(respondent, ALL), *own),
        )

    @once
    def answers(self, benchmark: str, pass_: str, model: str) -> Artifact:
        """The answers that count to what is asked about a benchmark's items ("": no pass), or about a model's answers;
        of a pass, what is asked too."""
        who = self.respondent(benchmark, pass_, model)
        card, engine = self.card_of(who), self.engine_of(who)
        files, parameters = self._answering(card, engine, benchmark)
        where, journal = self.paths, self.journal(who, Round(benchmark, pass_, (model,)))
        index = where.pass_snapshot(benchmark, pass_, model) if pass_ else where.snapshot(benchmark, model)
        items = self._items(benchmark)._replace(decides=False)
        asked = self._asked_after(benchmark, pass_, model) if pass_ else [self._requests(benchmark), items]
        module = "compared" if model == DATA else {CHAINED: "ask", EXTRACTOR: "scoring"}.get(pass_, "judge")
        stage = "score" if pass_ == EXTRACTOR else module
        code = (benchmarks.module_of(benchmark, module),) + (("punchline.extraction",) if pass_ == EXTRACTOR else ())
        return Artifact(
            "respond",
            (benchmark, pass_, model),
            (index, *((where.pass_requests(benchmark, pass_, model),) if pass_ else ())),
            (*asked, *files, *self._shards_of(who)),
            {
                "who": who,
                **parameters,
                **({"conditions": self.conditions(benchmark)} if pass_ and model != DATA else {}),
            },
            "punchline.respond:write_answers",
            code if pass_ else (),
            benchmarks.libraries(self.benchmark(benchmark), stage) if pass_ and model != DATA else (),
            journals=lambda: [(f"{role_of(pass_)} journal" if pass_ else "journal", journal, answers_in(index))],
            verify=lambda: counted(index, paths.with_shards(journal)),
            job=where.responded(who, ALL),
        )

    def _asked_after(self, benchmark: str, pass_: str, model: str) -> list[Input]:
        """Inputs of the requests of a pass."""
        loaded = self.benchmark(benchmark)
        if model != DATA:
            own = self._own(benchmark, model)  # without the requests of the pass itself
            return [self._items(benchmark), self._gold(benchmark), *(own[:2] if pass_ == CHAINED else own)]

        def values(file: str) -> list[Any]:
            return [printed(file, name) for name in loaded.COMPARED[pass_]]

        return [*self._raw(benchmark, loaded.GOLD_FILES), *self._published(benchmark, values)]

    def _own(self, benchmark: str, model: str) -> list[Input]:
        """What a model itself was asked, on items and on its own answers, and what it said."""
        step = functools.partial(self.answers, benchmark, "", model)
        needs = [self._requests(benchmark), Input("snapshot", self.paths.snapshot(benchmark, model), step)]
        return needs + (self._pass(benchmark, CHAINED, model) if CHAINED in self.passes(benchmark, model) else [])

    def _pass(self, benchmark: str, pass_: str, model: str) -> list[Input]:
        step = functools.partial(self.answers, benchmark, pass_, model)
        return [
            Input(f"{role_of(pass_)} requests", self.paths.pass_requests(benchmark, pass_, model), step),
            Input(f"{role_of(pass_)} snapshot", self.paths.pass_snapshot(benchmark, pass_, model), step),
        ]
