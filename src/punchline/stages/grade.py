"""Grades: a model's answers on each item, under every rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from punchline.core.benchmark import Benchmark, Verdict
from punchline.core.records import RULES, Gold, Grade, Item, Request, Response
from punchline.core.storage import read_records, write_table
from punchline.project.hops import CHAINED
from punchline.project.needs import Project
from punchline.stages.ask import all_asked, asked_of_hop
from punchline.stages.job import make
from punchline.stages.unit import by_unit, check_snapshot

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
    check_snapshot(requests, responses, f"answers of {model}")
    item_of = {item.item_id: item for item in items}
    gold_of = {gold.item_id: gold for gold in golds}
    grades: list[Grade] = []
    for (item_id, condition, sample), answers in by_unit(requests, responses).items():
        item, gold = item_of[item_id], gold_of[item_id]
        for rule in RULES:
            for made in benchmark.grade_item(answers, item, gold, model, rule, verdicts, condition):
                grades.append(made if sample == made.sample else replace(made, sample=sample))
    return grades


def read_verdicts(judge: str, requests: Sequence[Request], responses: Sequence[Response], file: str) -> Verdicts:
    """A judge's answers by id of its request. An answer from a released file says itself whose it is."""
    check_snapshot(requests, responses, file)
    return {answer.request_id: Verdict(str(answer.effective.get("judge", judge)), answer) for answer in responses}


def write_grades(project: Project, benchmark: str, model: str) -> None:
    """One model's answers to one benchmark, scored under both rules."""
    step = project.grade(benchmark, model)

    def write() -> None:
        judges = {hop: who for hop, who in project.hops(benchmark, model).items() if hop != CHAINED}
        verdicts: Verdicts | None = {} if judges else None
        for hop, who in judges.items():
            snapshot = project.paths.hop_snapshot(benchmark, hop, model)
            said = read_verdicts(who, *asked_of_hop(project, benchmark, hop, model), snapshot)
            verdicts = (verdicts or {}) | said
        items = read_records(project.paths.items(benchmark), Item)
        golds = read_records(project.paths.gold(benchmark), Gold)
        own = all_asked(project, benchmark, model)
        write_table(step.outputs[0], grade(project.benchmark(benchmark), model, items, golds, *own, verdicts), Grade)

    make(step, write)
