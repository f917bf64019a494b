"""Grades: a model's answers on each item, under every rule."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.benchmarks import Benchmark
from punchline.errors import PunchlineError
from punchline.records import RULES, Gold, Grade, Item, Request, Response


def grade(
    benchmark: Benchmark,
    model: str,
    items: Sequence[Item],
    golds: Sequence[Gold],
    requests: Sequence[Request],
    responses: Sequence[Response],
) -> list[Grade]:
    """Grades under both rules, item by item. `responses` answers `requests`, one for one and in their order.

    Raises PunchlineError when they do not belong together.
    """
    if [r.request_id for r in requests] != [r.request_id for r in responses]:
        raise PunchlineError(
            "the snapshot does not answer the current requests",
            file=f"data/responses/{benchmark.NAME}/{model}.parquet",
            way_out="Run the target `responses` again",
        )
    by_unit: dict[tuple[str, str, int], dict[str, Response]] = {}
    for request, response in zip(requests, responses, strict=True):
        by_unit.setdefault((request.item_id, request.condition, request.sample), {})[request.task] = response
    item_of = {item.item_id: item for item in items}
    gold_of = {gold.item_id: gold for gold in golds}
    grades: list[Grade] = []
    for (item_id, _condition, sample), answers in by_unit.items():
        for rule in RULES:
            for made in benchmark.grade_item(answers, item_of[item_id], gold_of[item_id], model, rule):
                grades.append(made if sample == made.sample else _of_sample(made, sample))
    return grades


def _of_sample(made: Grade, sample: int) -> Grade:
    return Grade(**{name: getattr(made, name) for name in made.__struct_fields__} | {"sample": sample})
