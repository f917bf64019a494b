"""Confidence intervals of models' ranks in each table of a benchmark."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from punchline.artifacts.lineage import kind_of
from punchline.artifacts.project import Project
from punchline.config.runs import making
from punchline.errors import PunchlineError
from punchline.files import Keyed, csv_text
from punchline.prepare import files_of_table
from punchline.schema import RULES, Gold, Item, ModelCard, Rule
from punchline.scores import items_frame, scores_frame
from punchline.tables.declare import Across, Model, Table
from punchline.tables.ranks import COLUMNS, Entry, Line, Rank, as_rows, entries, main_column, ranks_of
from punchline.tables.run import rows_across, rows_of_model


def items_of(project: Project, benchmark: str) -> pd.DataFrame:
    """Items of a selection, as tables read them."""
    where = project.paths
    items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
    return items_frame(items, golds, project.benchmark(benchmark).ITEMS)


class Ranks:
    """The ranks of a selection's models in tables of a benchmark, from score files."""

    def __init__(self, project: Project, benchmark: str) -> None:
        self.project = project
        self.benchmark = benchmark
        self.tables: dict[str, Table] = project.benchmark(benchmark).TABLES

    @functools.cached_property
    def items(self) -> pd.DataFrame:
        return items_of(self.project, self.benchmark)

    def _scores(self, card: ModelCard, rule: Rule) -> pd.DataFrame:
        scores = self.project.paths.scores(self.benchmark, card.name)
        if not Path(scores).is_file():
            hint = f"Make it first: {making(self.project.selection.run)}"
            raise PunchlineError(f"no scores of {card.name}", file=scores, hint=hint)
        return scores_frame(scores, self.items, rule)[0]

    def _found(self, columns: Mapping[str, str]) -> dict[str, list[Entry]]:
        """Estimates of the models in one column of each of some tables."""
        found: dict[str, list[Entry]] = {name: [] for name in columns}
        cards, chosen = self.project.cards.values(), self.project.selection.scoring
        for rule in RULES:
            own = {name: self.tables[name] for name in columns if (chosen or self.tables[name].published_rule) == rule}
            several = {name: table for name, table in own.items() if table.across is not None}
            models = []
            for card in cards if own and len(cards) > 1 else ():  # one has no rank
                scores = self._scores(card, rule)
                for name, table in own.items():
                    found[name] += entries(card.name, rows_of_model(table, scores, self.items), columns[name])
                models += [Model(card.name, kind_of(card), card.engine, scores, card)] if several else []
            for name, table in several.items():
                files = files_of_table(self.project, self.benchmark, name)
                rows = rows_across(table, Across(models, self.items, files)) if models else []
                found[name] += entries("", rows, columns[name])
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
    """A benchmark's ranks.csv, of score files."""
    return csv_text(COLUMNS, Ranks(project, benchmark).rows())
