"""Requests about the items of a benchmark, and about responses in later passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module

import msgspec

from punchline import paths
from punchline.artifacts.contents import printed
from punchline.artifacts.passes import CHAINED, DATA, EXTRACTOR
from punchline.artifacts.run import Run
from punchline.core import variants
from punchline.core.benchmark import DEFAULT, Benchmark
from punchline.core.storage import Stored, write_table
from punchline.files import Keyed, records_in
from punchline.prepare import reading
from punchline.responses import Exchange, Unit, by_item, pair_up
from punchline.schema import Gold, Item, Request, Response


def ask(benchmark: Benchmark, items: Iterable[Item], samples: int, conditions: Sequence[str]) -> Iterator[Request]:
    """Item by item, so that requests on one image stand together; `samples` of each request, numbered from 0."""
    for item in items:
        requests = [request for request in benchmark.requests(item) if request.condition in conditions]
        for name in variants.conditions(benchmark):
            requests += variants.requests(benchmark, item, name) if name in conditions else ()
        for request in requests:
            for sample in range(samples):
                yield msgspec.structs.replace(request, sample=sample) if sample != request.sample else request


def ask_in_pass(
    benchmark: Benchmark,
    pass_: str,
    items: Mapping[str, Item],
    golds: Mapping[str, Gold],
    answers: Iterable[Exchange],
    conditions: Sequence[str] = (DEFAULT,),
    samples: int = 1,
) -> Iterator[Request]:
    """`samples` of each request of one pass about one model's answers, in order."""

    def requests() -> Iterator[Request]:
        if pass_ == EXTRACTOR:
            # By name: no other request depends on its code.
            yield from import_module("punchline.extraction").extraction_requests(benchmark, items, golds, answers)
            return
        for item_id, units in by_item(answers):
            if pass_ == CHAINED:
                yield from _chained(benchmark, items[item_id], units, conditions)
                continue
            for (_, condition, _), by_task in units.items():
                asked_as = DEFAULT if variants.is_derived(condition) else condition
                judged = benchmark.judge_requests(items[item_id], golds[item_id], by_task, asked_as)
                yield from (request for request in judged if request.task == pass_)

    seen: set[str] = set()
    for request in requests():
        if request.request_id not in seen:
            seen.add(request.request_id)
            yield request
            yield from (msgspec.structs.replace(request, sample=sample) for sample in range(1, samples))


def _chained(
    benchmark: Benchmark, item: Item, units: Mapping[Unit, Mapping[str, Response]], conditions: Sequence[str]
) -> Iterator[Request]:
    """Requests to the model itself about its answers on one item."""
    by_sample: dict[int, dict[str, Mapping[str, Response]]] = {}
    for (_, condition, sample), by_task in units.items():
        by_sample.setdefault(sample, {})[condition] = by_task
    for sample, by_condition in by_sample.items():
        for request in benchmark.chained_requests(item, by_condition):
            if request.condition in conditions:
                yield msgspec.structs.replace(request, sample=sample)


def write_requests(run: Run, benchmark: str) -> None:
    """Write the requests about a benchmark's items, with rendered prompts."""
    items, samples = records_in(run.paths.items(benchmark), Item), run.selection.samples
    requests = ask(run.benchmark(benchmark), items, samples, run.conditions(benchmark))
    write_table(run.paths.requests(benchmark), requests, Request)


def exchanges_in_pass(run: Run, benchmark: str, pass_: str, model: str) -> Iterator[Exchange]:
    """Requests of a pass about a model, or to it about items ("": no pass), each with its answer."""
    responses = run.paths.responses(benchmark, model, pass_)
    requests = Stored(run.paths.requests(benchmark, *((model, pass_) if pass_ else ())), Request)
    return pair_up(requests, Stored(responses, Response), responses)


def exchanges(run: Run, benchmark: str, model: str, *, chained: bool = True) -> Iterator[Exchange]:
    """Requests to a model, about items and then its own answers, each with its answer."""
    yield from exchanges_in_pass(run, benchmark, "", model)
    if chained and CHAINED in run.passes(benchmark, model):
        yield from exchanges_in_pass(run, benchmark, CHAINED, model)


def pass_requests(run: Run, benchmark: str, pass_: str, model: str, pairs: Iterable[Exchange]) -> Iterable[Request]:
    """Requests of one pass about one model's answers, or about texts of the data (DATA)."""
    loaded = run.benchmark(benchmark)
    if model == DATA:
        rows = [row for table in loaded.COMPARED[pass_] for row in printed(paths.published(benchmark), table)]
        with reading(run, benchmark, loaded.GOLD_FILES) as files:
            return [request for request in loaded.data_requests(files, rows) if request.task == pass_]
    items = Keyed(run.paths.items(benchmark), Item)
    golds = Keyed(run.paths.gold(benchmark), Gold)
    card = run.card_of(run.respondent(benchmark, pass_, model))
    conditions = run.conditions(benchmark)
    return ask_in_pass(loaded, pass_, items, golds, pairs, conditions, card.repeats)
