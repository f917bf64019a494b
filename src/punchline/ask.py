"""Requests: what every model is asked about the items of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from punchline.benchmarks import Benchmark, judged
from punchline.grade import by_unit
from punchline.records import Gold, Item, Request, Response


def ask(benchmark: Benchmark, items: Iterable[Item], samples: int) -> list[Request]:
    """Item by item, so that requests on one image stand together; `samples` of each request, numbered from 0."""
    return [
        msgspec.structs.replace(request, sample=sample)
        for item in items
        for request in benchmark.requests(item)
        for sample in range(samples)
    ]


def ask_judge(
    benchmark: Benchmark,
    items: Iterable[Item],
    golds: Iterable[Gold],
    requests: Sequence[Request],
    responses: Sequence[Response],
) -> list[Request]:
    """What a judge is asked about one model's answers, in the order of the requests, the same thing once."""
    item_of = {item.item_id: item for item in items}
    gold_of = {gold.item_id: gold for gold in golds}
    judge_requests = judged(benchmark).judge_requests
    made = (
        request
        for (item_id, _, _), answers in by_unit(requests, responses).items()
        for request in judge_requests(item_of[item_id], gold_of[item_id], answers)
    )
    return list({request.request_id: request for request in made}.values())
