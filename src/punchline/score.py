"""Scores of a model's answers to every item, under both rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from punchline.artifacts.passes import CHAINED
from punchline.artifacts.project import Project
from punchline.core.benchmark import Benchmark, Verdict
from punchline.files import Keyed
from punchline.requests import asked, asked_of_hop
from punchline.responses import Asked, Verdicts, by_item, read_verdicts
from punchline.schema import RULES, Gold, Item, Response, Score
from punchline.scores import write_scores


def score(
    benchmark: Benchmark,
    model: str,
    items: Mapping[str, Item],
    golds: Mapping[str, Gold],
    asked: Iterable[Asked],
    verdicts: Mapping[str, Verdict] | None = None,
) -> Iterator[Score]:
    """Scores under both rules, item by item; items and golds by item id.

    In a condition that was asked, an item that was not, for want of what its question depends on, has rows of state
    `missing`: no denominator hides it. `verdicts`: of judges and scorers, by id of the request; None when nobody was
    asked.
    """
    seen: dict[tuple[str, int], set[str]] = {}  # items by condition and sample
    for item_id, units in by_item(asked):
        for (_, condition, sample), answers in units.items():
            seen.setdefault((condition, sample), set()).add(item_id)
            yield from _scored(benchmark, model, items[item_id], golds[item_id], answers, verdicts, condition, sample)
    for (condition, sample), known in seen.items():
        for item_id in items:
            if item_id not in known:
                yield from _scored(benchmark, model, items[item_id], golds[item_id], {}, verdicts, condition, sample)


def _scored(
    benchmark: Benchmark,
    model: str,
    item: Item,
    gold: Gold,
    answers: Mapping[str, Response],
    verdicts: Mapping[str, Verdict] | None,
    condition: str,
    sample: int,
) -> Iterator[Score]:
    for rule in RULES:
        for made in benchmark.score_item(answers, item, gold, model, rule, verdicts, condition):
            yield made if sample == made.sample else replace(made, sample=sample)


def write_model(project: Project, benchmark: str, model: str) -> None:
    """Write the scores of one model's answers to one benchmark under both rules."""
    judges = {hop: who for hop, who in project.hops(benchmark, model).items() if hop != CHAINED}
    verdicts: Verdicts | None = {} if judges else None
    for hop, who in judges.items():
        verdicts = (verdicts or {}) | read_verdicts(who, asked_of_hop(project, benchmark, hop, model))
    items = Keyed(project.paths.items(benchmark), Item)
    golds = Keyed(project.paths.gold(benchmark), Gold)
    loaded, own = project.benchmark(benchmark), asked(project, benchmark, model)
    scores = score(loaded, model, items, golds, own, verdicts)
    write_scores(project.paths.scores(benchmark, model), scores, loaded.METRICS)
