"""How sure the order of models in each table of a benchmark is, as a file."""

from __future__ import annotations

import functools
from pathlib import Path

from punchline.bench.frame import Frame, Scope, read_frame
from punchline.bench.ranks import COLUMNS, Line, Rank, as_rows, main_column, ranks_in
from punchline.bench.table import Model, Table
from punchline.core.errors import PunchlineError
from punchline.core.files import write_text
from punchline.core.records import Rule
from punchline.core.storage import csv_text
from punchline.project.lineage import kind_of
from punchline.project.needs import Project
from punchline.stages.cells import parsed_of, scope_of
from punchline.stages.job import make
from punchline.stages.prepare import files_of_table

GRADE = "Make it first: snakemake --cores all"


class Ranks:
    """The ranks of a selection's models in tables of a benchmark, from grades as they lie there, each read once."""

    def __init__(self, project: Project, benchmark: str) -> None:
        self.project = project
        self.benchmark = benchmark
        self.tables: dict[str, Table] = project.benchmark(benchmark).TABLES
        self.parsed = parsed_of(self.tables.values())
        self.frame = functools.cache(self._frame)

    @functools.cached_property
    def scope(self) -> Scope:
        """Items and gold."""
        return scope_of(self.project, self.benchmark)

    def _frame(self, model: str, rule: Rule) -> Frame:
        grades = self.project.paths.grades(self.benchmark, model)
        if not Path(grades).is_file():
            raise PunchlineError(f"no grades of {model}", file=grades, way_out=GRADE)
        return read_frame(grades, self.scope, rule, self.parsed)

    def models(self, table: Table) -> list[Model]:
        """The selection's models with their grades under the table's rule. Raises PunchlineError for one without."""
        rule = self.project.selection.scoring or table.rule
        cards = self.project.cards.values()
        return [Model(one.name, kind_of(one), one.engine, self.frame(one.name, rule), one) for one in cards]

    def of(self, name: str, column: str, *, lowest: bool) -> list[Rank]:
        """The ranks in one column of a table."""
        table = self.tables[name]
        files = files_of_table(self.project, self.benchmark, name)
        return ranks_in(table, self.models(table), files, column, lowest=lowest)

    def rows(self) -> list[Line]:
        """The ranks in the main column of every table that has one."""
        found: list[Line] = []
        kinds = {name: kind_of(card) for name, card in self.project.cards.items()}
        for name, table in self.tables.items():
            if (column := main_column(table)) is not None:
                made = self.of(name, column, lowest=table.better(column) == "lower")
                found += as_rows(table, column, kinds, made)
        return found


def ranks_text(project: Project, benchmark: str) -> str:
    """A benchmark's ranks.csv, of grades as they lie there."""
    return csv_text(COLUMNS, Ranks(project, benchmark).rows())


def write_ranks(project: Project, benchmark: str) -> None:
    """The range of each model's rank, in all tables of a benchmark."""
    step = project.ranks(benchmark)
    make(step, lambda: write_text(step.outputs[0], ranks_text(project, benchmark)))
