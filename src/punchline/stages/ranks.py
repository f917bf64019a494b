"""How sure the order of models in each table of a benchmark is, as a file."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from punchline.bench.frame import Scope, read_frame
from punchline.bench.ranks import COLUMNS, Entry, Line, Rank, as_rows, entries, entries_across, main_column, ranks_of
from punchline.bench.table import Model, Table
from punchline.core.errors import PunchlineError
from punchline.core.files import write_text
from punchline.core.records import RULES, ModelCard, Rule
from punchline.core.storage import csv_text
from punchline.project.lineage import kind_of
from punchline.project.needs import Project
from punchline.project.runs import making
from punchline.stages.cells import parsed_of, scope_of
from punchline.stages.job import make
from punchline.stages.prepare import files_of_table


class Ranks:
    """The ranks of a selection's models in tables of a benchmark, from grades as they lie there.

    Models are gone through one after the other, and what they have is kept as sums: frames are large.
    """

    def __init__(self, project: Project, benchmark: str) -> None:
        self.project = project
        self.benchmark = benchmark
        self.tables: dict[str, Table] = project.benchmark(benchmark).TABLES
        self.parsed = parsed_of(self.tables.values())

    @functools.cached_property
    def scope(self) -> Scope:
        """Items and gold."""
        return scope_of(self.project, self.benchmark)

    def _model(self, card: ModelCard, rule: Rule) -> Model:
        grades = self.project.paths.grades(self.benchmark, card.name)
        if not Path(grades).is_file():
            way_out = f"Make it first: {making(self.project.selection.run)}"
            raise PunchlineError(f"no grades of {card.name}", file=grades, way_out=way_out)
        return Model(card.name, kind_of(card), card.engine, read_frame(grades, self.scope, rule, self.parsed), card)

    def _found(self, columns: Mapping[str, str]) -> dict[str, list[Entry]]:
        """What the models have of a column of each of some tables."""
        found: dict[str, list[Entry]] = {name: [] for name in columns}
        cards, chosen = self.project.cards.values(), self.project.selection.scoring
        for rule in RULES:
            own = {name: self.tables[name] for name in columns if (chosen or self.tables[name].rule) == rule}
            across = {name: table for name, table in own.items() if table.across is not None}
            models = []
            for card in cards if own and len(cards) > 1 else ():  # one has no rank
                model = self._model(card, rule)
                for name, table in own.items():
                    found[name] += entries(table, model, columns[name])
                models += [model] if across else []
            for name, table in across.items():
                files = files_of_table(self.project, self.benchmark, name)
                found[name] += entries_across(table, models, files, columns[name])
        return found

    def of(self, name: str, column: str, *, lowest: bool) -> list[Rank]:
        """The ranks in one column of a table."""
        return ranks_of(self._found({name: column})[name], lowest=lowest)

    def rows(self) -> list[Line]:
        """The ranks in the main column of every table that has one."""
        columns = {name: column for name, table in self.tables.items() if (column := main_column(table)) is not None}
        kinds = {name: kind_of(card) for name, card in self.project.cards.items()}
        made: list[Line] = []
        found = self._found(columns)
        for name, column in columns.items():
            table = self.tables[name]
            ranks = ranks_of(found.pop(name), lowest=table.better(column) == "lower")
            made += as_rows(table, column, kinds, ranks)
        return made


def ranks_text(project: Project, benchmark: str) -> str:
    """A benchmark's ranks.csv, of grades as they lie there."""
    return csv_text(COLUMNS, Ranks(project, benchmark).rows())


def write_ranks(project: Project, benchmark: str) -> None:
    """The range of each model's rank, in all tables of a benchmark."""
    step = project.ranks(benchmark)
    make(step, lambda: write_text(step.outputs[0], ranks_text(project, benchmark)))
