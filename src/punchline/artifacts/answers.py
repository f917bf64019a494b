"""Artifacts of requests, adapters and responses."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.contents import answers_in, counted, printed
from punchline.artifacts.data import DataArtifacts, artifact
from punchline.artifacts.passes import ALL, CHAINED, DATA, EXTRACTOR, Round
from punchline.artifacts.run import key_so_far, role_of
from punchline.config import adapters, recipes
from punchline.config.cards import read_card
from punchline.files import MANIFEST
from punchline.schema import ModelCard, digest_of
from punchline.workflow.code import QUESTIONS, READING
from punchline.workflow.provenance import Artifact, Input


class AnswerArtifacts(DataArtifacts):
    """The artifacts of questions and answers."""

    @artifact
    def requests(self, benchmark: str) -> Artifact:
        return Artifact(
            (self.paths.requests(benchmark),),
            [self.items(benchmark).output()],
            "punchline.requests:write_requests",
            {"samples": self.selection.samples, "conditions": self.conditions(benchmark)},
            (QUESTIONS, benchmark),
        )

    def _weights(self, card: ModelCard) -> list[Input]:
        """Files of a model in a folder, or their list where the folder has one; its adapter."""
        inputs = []
        if (folder := str(card.options.get("id", ""))) and Path(folder).is_dir():
            files = [Path(folder, MANIFEST)] if Path(folder, MANIFEST).is_file() else Path(folder).rglob("*")
            inputs += [Input("model", path) for path in sorted(path.as_posix() for path in files if path.is_file())]
        adapter = card.options.get("adapter")
        if isinstance(adapter, str):
            trains = recipes.can_train(card, adapter, self.selection.benchmarks)
            companions = functools.partial(adapters.files_beside, adapter)
            artifact = self.train(adapter) if trains else None
            inputs.append(Input("adapter", paths.adapter(adapter), artifact, companions=companions))
        return inputs

    @artifact
    def train(self, adapter: str) -> Artifact:
        """An adapter. Of which items it was trained is in its manifest: another selection trains nothing anew."""
        recipe = recipes.read_recipe(adapter)
        base = read_card(recipe.base)
        before = [need._replace(decides=False) for need in self._items_and_gold(recipe.benchmark)]
        return Artifact(
            (paths.adapter(adapter),),
            [*before, *self._weights(base)],
            "punchline.train:write_adapter",
            {"recipe": recipe.trained_by(), "base": base.asked(), "corpus": self.selection.corpus.name},
            extra=lambda: adapters.files_beside(adapter),
            record=paths.record_of(paths.folder_of(paths.adapter(adapter))),
        )

    def every_answer(self, respondent: str) -> list[Artifact]:
        """All answers of a respondent."""
        rounds = self.rounds(respondent)
        return [self.answers(benchmark, pass_, model) for benchmark, pass_, models in rounds for model in models]

    @artifact
    def shard(self, respondent: str, shard: str) -> Artifact:
        """One job's part of a respondent's answers: in its journals, which the record names."""
        artifacts = self.every_answer(respondent)
        after = [step for step in artifacts if step.code]
        outputs = {path for step in artifacts for path in step.outputs}
        journals = sorted({paths.shard_journal(self.journal(respondent, of), shard) for of in self.rounds(respondent)})
        return Artifact(
            (self.paths.responded(respondent, shard),),
            [need for step in artifacts for need in step.inputs if need.path not in outputs],
            "punchline.respond:write_shard",
            {"asked": digest_of([[step.name, step.parameters] for step in artifacts])},
            (READING, *dict.fromkeys(step.wildcards[0] for step in after)) if after else (),
            rule="respond",
            extra=lambda: [path for path in journals if Path(path).is_file()],
            follows=(self.paths.responded(respondent, ALL), *outputs),
        )

    @artifact
    def answers(self, benchmark: str, pass_: str, model: str) -> Artifact:
        """The answers that count to what is asked about a benchmark's items ("": no pass), or about a model's answers;
        of a pass, what is asked too."""
        respondent = self.respondent(benchmark, pass_, model)
        card, engine = self.card_of(respondent), self.engine_of(respondent)
        journal = self.journal(respondent, Round(benchmark, pass_, (model,)))
        index = self.paths.responses(benchmark, model, pass_)
        items = self.items(benchmark).output()._replace(decides=False)
        inputs = self._inputs_of_pass(benchmark, pass_, model) if pass_ else [self.requests(benchmark).output(), items]
        stage = {CHAINED: "ask", EXTRACTOR: "score"}.get(pass_, "judge")
        after = pass_ and model != DATA
        return Artifact(
            (index, *((self.paths.requests(benchmark, model, pass_),) if pass_ else ())),
            [*inputs, *self._released(engine), *self._weights(card)],
            "punchline.respond:write_answers",
            {
                "who": respondent,
                "card": card.asked(),
                "key": key_so_far(engine, card, benchmark),
                **({"conditions": self.conditions(benchmark)} if after else {}),
            },
            (READING, benchmark) if pass_ else (),  # a main pass sends requests that exist, by content
            self.benchmark(benchmark).LIBRARIES.get(stage, ()) if after else (),
            rule="respond",
            journals=lambda: [(f"{role_of(pass_)} journal" if pass_ else "journal", journal, answers_in(index))],
            verify=lambda: counted(index, paths.with_shards(journal)),
            job=self.paths.responded(respondent, ALL),
        )

    def _inputs_of_pass(self, benchmark: str, pass_: str, model: str) -> list[Input]:
        """Inputs of the requests of a pass."""
        loaded = self.benchmark(benchmark)
        if model != DATA:
            answers = self._own_answers(benchmark, model, chained=pass_ != CHAINED)
            return [*self._items_and_gold(benchmark), *answers]

        def values(file: str) -> list[Any]:
            return [printed(file, name) for name in loaded.COMPARED[pass_]]

        return [*self._raw(benchmark, loaded.GOLD_FILES), *self._published(benchmark, values)]

    def _own_answers(self, benchmark: str, model: str, *, chained: bool = True) -> list[Input]:
        """A model's requests and responses about items and, if `chained`, about its own answers."""
        inputs = [self.requests(benchmark).output(), self._responses(benchmark, "", model)]
        chained = chained and CHAINED in self.passes(benchmark, model)
        return inputs + (self._pass(benchmark, CHAINED, model) if chained else [])

    def _pass(self, benchmark: str, pass_: str, model: str) -> list[Input]:
        requests = self.answers(benchmark, pass_, model).output(f"{role_of(pass_)} requests", 1)
        return [requests, self._responses(benchmark, pass_, model)]

    def _responses(self, benchmark: str, pass_: str, model: str) -> Input:
        """The index of responses of a pass, or about items ("": no pass)."""
        return self.answers(benchmark, pass_, model).output(f"{role_of(pass_)} snapshot" if pass_ else "snapshot")

    def _to_be_scored(self, benchmark: str, model: str) -> list[Input]:
        """Items and gold, and requests and responses of a model and of all passes of its answers."""
        passes = [need for pass_ in self.passes(benchmark, model) for need in self._pass(benchmark, pass_, model)]
        return [*self._items_and_gold(benchmark), *self._own_answers(benchmark, model), *passes]
