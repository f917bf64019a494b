"""Estimate of a run: requests, images, tokens, money. Nothing is sent or written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from punchline import paths
from punchline.artifacts.passes import CHAINED, JUDGE, RELEASED
from punchline.artifacts.project import Project
from punchline.artifacts.run import key_so_far
from punchline.config.resources import gpus
from punchline.core.engine import NOT_ATTEMPTED, has_all_images, images_in, parameters, prompt_tokens
from punchline.core.storage import read_table
from punchline.files import Keyed
from punchline.journal import Answers
from punchline.overview.cost import ASKED, PRICES, Row, prices
from punchline.requests import ask_in_pass
from punchline.schema import Gold, Item, ModelCard, Request, Usage

COUNTS = ("requests", "answered", "to_ask", "images", "jobs", "gpus_a_job", "tokens_in", "tokens_out_most")
PLAN = (*ASKED, *COUNTS, *PRICES, "cost_most", "note")
Requests = Sequence[Request]
ANSWER = "answer"  # the pass of a model's own requests
CHARACTERS_A_TOKEN = 4  # of English text, roughly
PIXELS_A_TOKEN = 28 * 28  # of an image, as Qwen2-VL counts
ESTIMATED = "estimated from the questions: the answers are not there yet"


def plan(project: Project) -> list[Row]:
    """One row for each model and pass of each benchmark, from the present items, gold and requests."""
    rows = []
    for benchmark in project.selection.benchmarks:
        items, golds = Keyed(project.paths.items(benchmark), Item), Keyed(project.paths.gold(benchmark), Gold)
        requests = read_table(project.paths.requests(benchmark), Request)
        for model in project.selection.models:
            rows += Plan(project, benchmark, model, items, golds).rows(requests)
    return rows


class Plan(NamedTuple):
    """Requests still to send to one model, and to others about its answers."""

    project: Project
    benchmark: str
    model: str
    items: Mapping[str, Item]
    golds: Mapping[str, Gold]

    def rows(self, requests: Requests) -> list[Row]:
        """A row for each pass."""
        card, engine = self.project.cards[self.model], self.project.engines[self.model]
        known = Answers(paths.with_shards(paths.journal(self.benchmark, self.model)))
        key = key_so_far(engine, card, self.benchmark)
        unasked = (request for request in requests if (request.request_id, key) not in known)
        to_ask = [one for one in unasked if has_all_images(one) or not engine.looks_at(self.benchmark)]
        why = engine.unavailable()
        notes = [f"cannot run here: {why}"] if why else []
        if skipped := sum(not engine.attempts(request) for request in requests):
            notes.append(f"{skipped:,} {NOT_ATTEMPTED}")
        rows = [self.row(ANSWER, card, requests, to_ask, "; ".join(notes))]
        sent, replies = list(requests), [known.get((request.request_id, key)) for request in requests]
        for pass_ in self.project.answerers(self.benchmark, self.model, key_so_far):
            if pass_.who == RELEASED or pass_.card is None:
                continue
            given = [answer for answer in replies if answer is not None]
            if to_ask or len(given) < len(replies):
                rows.append(self._estimated(pass_.pass_, pass_.card, to_ask))
                continue
            loaded, conditions = self.project.benchmark(self.benchmark), self.project.conditions(self.benchmark)
            pairs, repeats = zip(sent, given, strict=True), pass_.card.repeats
            later = list(ask_in_pass(loaded, pass_.pass_, self.items, self.golds, pairs, conditions, repeats))
            known_answers = Answers(paths.with_shards(paths.journal(self.benchmark, pass_.who, pass_.pass_)))
            still = [request for request in later if (request.request_id, pass_.key) not in known_answers]
            if pass_.pass_ == CHAINED:
                sent += later
                replies += [known_answers.get((one.request_id, pass_.key)) for one in later]
            rows.append(self.row(pass_.pass_, pass_.card, later, still))
        return rows

    def _estimated(self, pass_: str, card: ModelCard, to_ask: Requests) -> Row:
        """A judge is taken to be asked one question of usual length an answer; how many others will be is not known."""
        if pass_ != JUDGE:
            return self.row(pass_, card, [], [], "unknown until the models have answered")
        to_ask = [replace(request, sample=sample) for request in to_ask for sample in range(card.repeats)]
        usual = int(card.sampling_for(self.benchmark).get("max_tokens") or 1024) + card.thinking_tokens
        return self.row(pass_, card, to_ask, to_ask, ESTIMATED, usual)

    def row(
        self, pass_: str, card: ModelCard, requests: Requests, to_ask: Requests, note: str = "", usual: int = 0
    ) -> Row:
        """A row for one pass: requests still to send; prompt tokens are estimated.

        Output is bounded by the tokens that an answer may have, of a verdict by what is `usual`; so the cost is the
        most that it can be, but for the estimate of the prompts.
        """
        seen = to_ask if pass_ in (ANSWER, CHAINED) else []
        images = [image.sha256 for request in seen for image in images_in(request) if image.sha256 is not None]
        sizes = {image.sha256: image.width * image.height for item in self.items.values() for image in item.images}
        pixels = sum(sizes.get(image, 0) for image in images)
        texts = sum(prompt_tokens(request, CHARACTERS_A_TOKEN, 0) for request in to_ask)
        tokens_in = math.ceil(texts + pixels / PIXELS_A_TOKEN)
        most = sum(usual or int(parameters(card, request)["max_tokens"] or 0) for request in to_ask)
        row: Row = {"benchmark": self.benchmark, "model": self.model, "hop": pass_, "asked": card.name}
        row |= {"requests": len(requests), "answered": len(requests) - len(to_ask), "to_ask": len(to_ask)}
        if to_ask:
            row |= {"jobs": self.project.shard_count(card), "gpus_a_job": gpus(card)}
        row |= {"images": len(images), "tokens_in": tokens_in, "tokens_out_most": most} | prices(card)
        if card.price is not None:
            row["cost_most"] = card.price.of(Usage(prompt=tokens_in, completion=most))
        return row | {"note": note}
