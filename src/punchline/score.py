"""Scores of a model's answers to every item, under both rules."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from punchline.artifacts.passes import CHAINED, EXTRACTOR
from punchline.artifacts.run import Run
from punchline.core.benchmark import Benchmark, Verdict
from punchline.extraction import Extracted, read_replies, with_replies
from punchline.files import Keyed
from punchline.requests import exchanges, exchanges_in_pass
from punchline.responses import Exchange, Unit, Verdicts, by_item, read_verdicts
from punchline.schema import RULES, Gold, Item, Response, Score
from punchline.scores import write_scores


def score(
    benchmark: Benchmark,
    model: str,
    items: Mapping[str, Item],
    golds: Mapping[str, Gold],
    pairs: Iterable[Exchange],
    verdicts: Mapping[str, Verdict] | None = None,
    extracted: Extracted | None = None,
) -> Iterator[Score]:
    """Scores under both rules, item by item; items and golds by item id.

    In a condition that was asked, an item that was not, for want of what its question depends on, has rows of state
    `missing`: no denominator hides it. `verdicts`: of judges and scorers, by id of the request; None when nobody was
    asked. `extracted`: an extractor's replies, for rule `paper`.
    """
    seen: dict[tuple[str, int], set[str]] = {}  # items by condition and sample

    def answered() -> Iterator[tuple[Unit, Mapping[str, Response]]]:
        for item_id, units in by_item(pairs):
            for unit, answers in units.items():
                seen.setdefault(unit[1:], set()).add(item_id)
                yield unit, answers
        for head, known in seen.items():
            yield from (((item_id, *head), {}) for item_id in items if item_id not in known)

    for unit, answers in answered():
        item_id, condition, sample = unit
        about: dict[str, Any] = {"item": items[item_id], "gold": golds[item_id], "model": model}
        about |= {"verdicts": verdicts, "condition": condition}
        for rule in RULES:
            rescore = functools.partial(benchmark.score_item, **about, rule=rule)
            scores = rescore(answers)
            if extracted and answers and rule == "paper":
                scores = list(with_replies(scores, answers, unit, extracted, rescore))
            yield from (replace(one, sample=sample) for one in scores)


def write_model(run: Run, benchmark: str, model: str) -> None:
    """Write the scores of one model's answers to one benchmark under both rules."""
    verdicts: Verdicts | None = None
    extracted: Extracted | None = None
    for pass_, who in run.passes(benchmark, model).items():
        if pass_ == EXTRACTOR:
            extracted = read_replies(who, exchanges_in_pass(run, benchmark, pass_, model))
        elif pass_ != CHAINED:
            verdicts = (verdicts or {}) | read_verdicts(who, exchanges_in_pass(run, benchmark, pass_, model))
    items, golds = Keyed(run.paths.items(benchmark), Item), Keyed(run.paths.gold(benchmark), Gold)
    loaded, answers = run.benchmark(benchmark), exchanges(run, benchmark, model)
    scores = score(loaded, model, items, golds, answers, verdicts, extracted)
    write_scores(run.paths.scores(benchmark, model), scores, loaded.METRICS)
