"""Grades: a model's answers on each item, under every rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from punchline.core.benchmark import Benchmark, Verdict
from punchline.core.records import RULES, Gold, Grade, Item
from punchline.core.storage import Keyed, write_table
from punchline.project.hops import CHAINED
from punchline.project.needs import Project
from punchline.stages.ask import asked, asked_of_hop
from punchline.stages.job import make
from punchline.stages.unit import Asked, Verdicts, by_item, read_verdicts


def grade(
    benchmark: Benchmark,
    model: str,
    items: Mapping[str, Item],
    golds: Mapping[str, Gold],
    asked: Iterable[Asked],
    verdicts: Mapping[str, Verdict] | None = None,
) -> Iterator[Grade]:
    """Grades under both rules, item by item; items and golds by item id.

    `verdicts`: of judges and scorers, by id of the request; None when nobody was asked.
    """
    for item_id, units in by_item(asked):
        item, gold = items[item_id], golds[item_id]
        for (_, condition, sample), answers in units.items():
            for rule in RULES:
                for made in benchmark.grade_item(answers, item, gold, model, rule, verdicts, condition):
                    yield made if sample == made.sample else replace(made, sample=sample)


def write_grades(project: Project, benchmark: str, model: str) -> None:
    """One model's answers to one benchmark, scored under both rules."""
    step = project.grade(benchmark, model)

    def write() -> None:
        judges = {hop: who for hop, who in project.hops(benchmark, model).items() if hop != CHAINED}
        verdicts: Verdicts | None = {} if judges else None
        for hop, who in judges.items():
            verdicts = (verdicts or {}) | read_verdicts(who, asked_of_hop(project, benchmark, hop, model))
        items = Keyed(project.paths.items(benchmark), Item)
        golds = Keyed(project.paths.gold(benchmark), Gold)
        own = asked(project, benchmark, model)
        write_table(step.outputs[0], grade(project.benchmark(benchmark), model, items, golds, own, verdicts), Grade)

    make(step, write)
