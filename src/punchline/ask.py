"""Requests: what every model is asked about the items of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from punchline.benchmarks import Benchmark
from punchline.records import Item, Request


def ask(benchmark: Benchmark, items: Iterable[Item], samples: int) -> list[Request]:
    """Item by item, so that requests on one image stand together; `samples` of each request, numbered from 0."""
    return [
        msgspec.structs.replace(request, sample=sample)
        for item in items
        for request in benchmark.requests(item)
        for sample in range(samples)
    ]
