"""Requests: what every model is asked about the items of a benchmark, and what its answers lead to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from punchline.core.benchmark import DEFAULT, Benchmark, chains, judged
from punchline.core.records import Gold, Item, Request, Response
from punchline.core.storage import read_records, read_table, write_table
from punchline.project.hops import CHAINED
from punchline.project.needs import Project
from punchline.stages.job import make
from punchline.stages.unit import by_unit


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


def requests(project: Project, benchmark: str, items: Iterable[Item]) -> list[Request]:
    """What every model is asked in a selection."""
    return ask(project.benchmark(benchmark), items, project.selection.samples, project.conditions(benchmark))


def write_requests(project: Project, benchmark: str) -> None:
    """Rendered prompts of a benchmark's items."""
    step = project.ask(benchmark)

    def write() -> None:
        items = read_records(project.paths.items(benchmark), Item)
        write_table(step.outputs[0], requests(project, benchmark, items), Request)

    make(step, write)


def asked(project: Project, benchmark: str, model: str) -> tuple[list[Request], list[Response]]:
    """What a model was asked on items, and its answers."""
    return (
        read_table(project.paths.requests(benchmark), Request),
        read_table(project.paths.snapshot(benchmark, model), Response),
    )


def asked_of_hop(project: Project, benchmark: str, hop: str, model: str) -> tuple[list[Request], list[Response]]:
    """What a hop asked about, or of, a model, and the answers."""
    return (
        read_table(project.paths.hop_requests(benchmark, hop, model), Request),
        read_table(project.paths.hop_snapshot(benchmark, hop, model), Response),
    )


def all_asked(project: Project, benchmark: str, model: str) -> tuple[list[Request], list[Response]]:
    """Everything that a model itself was asked, and its answers: what judges see and what is graded."""
    questions, answers = asked(project, benchmark, model)
    if CHAINED in project.hops(benchmark, model):
        more, their = asked_of_hop(project, benchmark, CHAINED, model)
        return [*questions, *more], [*answers, *their]
    return questions, answers


def write_hop_requests(project: Project, benchmark: str, hop: str, model: str) -> None:
    """What one model's answers lead to in one hop."""
    step = project.ask_hop(benchmark, hop, model)

    def write() -> None:
        items = read_records(project.paths.items(benchmark), Item)
        golds = read_records(project.paths.gold(benchmark), Gold)
        own = (asked if hop == CHAINED else all_asked)(project, benchmark, model)
        loaded, conditions = project.benchmark(benchmark), project.conditions(benchmark)
        write_table(step.outputs[0], ask_hop(loaded, hop, items, golds, *own, conditions), Request)

    make(step, write)
