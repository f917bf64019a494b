"""Estimate of a run: requests, images, tokens, money. Nothing is sent or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from punchline import paths
from punchline.artifacts.passes import CHAINED, JUDGE, RELEASED, Pass
from punchline.artifacts.project import Project
from punchline.artifacts.respondents import key_so_far
from punchline.core.engine import has_all_images, looks_at, parameters
from punchline.core.storage import read_table
from punchline.files import Keyed
from punchline.journal import Answers
from punchline.overview.cost import Row, plan_row
from punchline.requests import ask_in_pass
from punchline.schema import Gold, ImageRef, Item, ModelCard, Request

ESTIMATED = "estimated from the questions: the answers are not there yet"


def plan(project: Project) -> list[Row]:
    """One row for each model and pass of each benchmark, from the present items, gold and requests."""
    rows = []
    for benchmark in project.selection.benchmarks:
        items = Keyed(project.paths.items(benchmark), Item)
        golds = Keyed(project.paths.gold(benchmark), Gold)
        requests = read_table(project.paths.requests(benchmark), Request)
        for model in project.selection.models:
            rows += _Asking(project, benchmark, model, items, golds).rows(requests)
    return rows


@dataclass
class _Asking:
    """Requests still to send to one model, and to others about its answers."""

    project: Project
    benchmark: str
    model: str
    items: Mapping[str, Item]
    golds: Mapping[str, Gold]

    @property
    def images(self) -> dict[str, ImageRef]:
        return {image.sha256: image for item in self.items.values() for image in item.images}

    def rows(self, requests: Sequence[Request]) -> list[Row]:
        card, engine = self.project.cards[self.model], self.project.engines[self.model]
        known = Answers(paths.with_shards(paths.journal(self.benchmark, self.model)))
        key = key_so_far(engine, card, self.benchmark)
        unasked = (request for request in requests if (request.request_id, key) not in known)
        to_ask = [one for one in unasked if has_all_images(one) or not looks_at(engine, self.benchmark)]
        why = engine.unavailable()
        note = f"cannot run here: {why}" if why else ""
        rows = [self._row("answer", card, requests, to_ask, self.images, _most(card, to_ask), note)]
        asked, said = list(requests), [known.get((request.request_id, key)) for request in requests]
        for pass_ in self.project.answerers(self.benchmark, self.model, key_so_far):
            if pass_.who == RELEASED or pass_.card is None:
                continue
            if to_ask or any(answer is None for answer in said):
                rows.append(self._estimated(pass_, pass_.card, to_ask))
                continue
            given = [answer for answer in said if answer is not None]
            of = self.project.benchmark(self.benchmark)
            conditions = self.project.conditions(self.benchmark)
            pairs = zip(asked, given, strict=True)
            repeats = pass_.card.repeats
            made = list(ask_in_pass(of, pass_.name, self.items, self.golds, pairs, conditions, repeats))
            found = Answers(paths.with_shards(paths.journal(self.benchmark, pass_.who, pass_.name)))
            still = [r for r in made if (r.request_id, pass_.key) not in found]
            if pass_.name == CHAINED:
                asked, said = [*asked, *made], [*said, *(found.get((r.request_id, pass_.key)) for r in made)]
            shown = self.images if pass_.name == CHAINED else {}
            rows.append(self._row(pass_.name, pass_.card, made, still, shown, _most(pass_.card, still), ""))
        return rows

    def _estimated(self, pass_: Pass, card: ModelCard, to_ask: Sequence[Request]) -> Row:
        """A judge is taken to be asked one question of usual length an answer; how many others will be is not known."""
        if pass_.name != JUDGE:
            return self._row(pass_.name, card, [], [], {}, {}, "unknown until the models have answered")
        to_ask = [replace(request, sample=sample) for request in to_ask for sample in range(card.repeats)]
        usual = int(card.sampling_for(self.benchmark).get("max_tokens") or 1024) + card.thinking_tokens
        return self._row(pass_.name, card, to_ask, to_ask, {}, {r.request_id: usual for r in to_ask}, ESTIMATED)

    def _row(
        self,
        pass_: str,
        card: ModelCard,
        requests: Sequence[Request],
        to_ask: Sequence[Request],
        images: Mapping[str, ImageRef],
        most: Mapping[str, int],
        note: str,
    ) -> Row:
        jobs = self.project.shard_count(card)
        return plan_row(self.benchmark, self.model, pass_, card, requests, to_ask, images, most, note, jobs)


def _most(card: ModelCard, requests: Sequence[Request]) -> dict[str, int]:
    """{request id: tokens that its answer may have}."""
    return {request.request_id: int(parameters(card, request)["max_tokens"] or 0) for request in requests}
