"""Requests: what every model is asked about the items of a benchmark, and what its answers lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from punchline.core.benchmark import DEFAULT, Benchmark, chains, judged
from punchline.core.records import Gold, Item, Request, Response
from punchline.project.hops import CHAINED
from punchline.stages.grade import by_unit


def ask(
    benchmark: Benchmark, items: Iterable[Item], samples: int, conditions: Sequence[str] = (DEFAULT,)
) -> list[Request]:
    """Item by item, so that requests on one image stand together; `samples` of each request, numbered from 0."""
    return [
        msgspec.structs.replace(request, sample=sample)
        for item in items
        for request in benchmark.requests(item)
        if request.condition in conditions
        for sample in range(samples)
    ]


def ask_hop(
    benchmark: Benchmark,
    hop: str,
    items: Iterable[Item],
    golds: Iterable[Gold],
    requests: Sequence[Request],
    responses: Sequence[Response],
    conditions: Sequence[str] = (DEFAULT,),
) -> list[Request]:
    """What one model's answers lead to in one hop, in the order of the requests, the same thing once."""
    item_of = {item.item_id: item for item in items}
    made: list[Request] = []
    if hop == CHAINED:
        by_sample: dict[tuple[str, int], dict[str, dict[str, Response]]] = {}
        for (item_id, condition, sample), answers in by_unit(requests, responses).items():
            by_sample.setdefault((item_id, sample), {})[condition] = answers
        for (item_id, sample), by_condition in by_sample.items():
            asked = chains(benchmark).chained_requests(item_of[item_id], by_condition)
            made += [msgspec.structs.replace(r, sample=sample) for r in asked if r.condition in conditions]
    else:
        gold_of = {gold.item_id: gold for gold in golds}
        judge_requests = judged(benchmark).judge_requests
        for (item_id, condition, _), answers in by_unit(requests, responses).items():
            asked = judge_requests(item_of[item_id], gold_of[item_id], answers, condition)
            made += [request for request in asked if request.task == hop]
    return list({request.request_id: request for request in made}.values())
