"""Grades: a model's answers on each item, under every rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from punchline.core.benchmark import Benchmark, Verdict
from punchline.core.errors import PunchlineError
from punchline.core.records import RULES, Gold, Grade, Item, Request, Response

Verdicts = dict[str, Verdict]  # by id of the judge's request


def grade(
    benchmark: Benchmark,
    model: str,
    items: Sequence[Item],
    golds: Sequence[Gold],
    requests: Sequence[Request],
    responses: Sequence[Response],
    verdicts: Mapping[str, Verdict] | None = None,
) -> list[Grade]:
    """Grades under both rules, item by item. `responses` answers `requests`, one for one and in their order.

    `verdicts`: of judges and scorers, by id of the request; None when nobody was asked. Raises PunchlineError when
    requests and responses do not belong together.
    """
    check_snapshot(requests, responses, f"data/responses/{benchmark.NAME}/{model}.parquet")
    item_of = {item.item_id: item for item in items}
    gold_of = {gold.item_id: gold for gold in golds}
    grades: list[Grade] = []
    for (item_id, condition, sample), answers in by_unit(requests, responses).items():
        item, gold = item_of[item_id], gold_of[item_id]
        for rule in RULES:
            for made in benchmark.grade_item(answers, item, gold, model, rule, verdicts, condition):
                grades.append(made if sample == made.sample else replace(made, sample=sample))
    return grades


Unit = tuple[str, str, int]  # item id, condition, sample


def by_unit(requests: Sequence[Request], responses: Sequence[Response]) -> dict[Unit, dict[str, Response]]:
    """Answers that are read together, by task."""
    units: dict[Unit, dict[str, Response]] = {}
    for request, response in zip(requests, responses, strict=True):
        units.setdefault((request.item_id, request.condition, request.sample), {})[request.task] = response
    return units


def check_snapshot(requests: Sequence[Request], responses: Sequence[Response], file: str) -> None:
    """Raises PunchlineError unless the responses answer the requests, one for one and in their order."""
    if [r.request_id for r in requests] != [r.request_id for r in responses]:
        raise PunchlineError(
            "the snapshot does not answer the current requests", file=file, way_out="Run the target `responses` again"
        )


def read_verdicts(judge: str, requests: Sequence[Request], responses: Sequence[Response], file: str) -> Verdicts:
    """A judge's answers by id of its request. An answer from a released file says itself whose it is."""
    check_snapshot(requests, responses, file)
    return {answer.request_id: Verdict(str(answer.effective.get("judge", judge)), answer) for answer in responses}
