"""Confidence intervals of models' ranks in each table of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, replace
from pathlib import Path

import pandas as pd

from punchline.artifacts.lineage import kind_of
from punchline.artifacts.project import Project
from punchline.config.runs import making
from punchline.errors import PunchlineError
from punchline.files import Keyed, csv_text
from punchline.prepare import files_of_table
from punchline.schema import RULES, Gold, Item
from punchline.scores import items_frame, scores_frame
from punchline.stats.estimate import NO_ROWS, Estimate
from punchline.tables.declare import Across, Model, Row
from punchline.tables.ranks import Rank, main_column, ranked
from punchline.tables.run import rows_across, rows_of_model
from punchline.tables.tabulate import key_text

COLUMNS = (
    *("table", "row", "model", "kind", "column"),
    *("n", "value", "value_lo", "value_hi", "rank", "rank_lo", "rank_hi"),
)


def items_of(project: Project, benchmark: str) -> pd.DataFrame:
    """Items of a selection, as tables read them."""
    where = project.paths
    items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
    return items_frame(items, golds, project.benchmark(benchmark).ITEMS)


def ranks_of(project: Project, benchmark: str, columns: Mapping[str, str]) -> dict[str, list[Rank]]:
    """{table: the ranks of a selection's models in each of its rows that two of them have}, by a column of each table.

    Raises PunchlineError for a model without a file of scores.
    """
    tables, cards, scoring = project.benchmark(benchmark).TABLES, project.cards.values(), project.selection.scoring
    found: dict[str, dict[str, dict[str, Estimate]]] = {name: {} for name in columns}  # by table, row and model

    def add(name: str, model: str, rows: Iterable[Row]) -> None:
        for row in rows:
            estimate, of = row.estimates.get(columns[name]), model or (row.of.name if row.of else "")
            if of and estimate is not None and estimate.n and estimate.point() is not None:
                # Sums per cluster alone: the frames behind them are large.
                own = replace(estimate, used=NO_ROWS, given=NO_ROWS)
                found[name].setdefault(key_text(row.keys), {})[of] = own

    if not columns or len(cards) < 2:  # one has no rank
        return {name: [] for name in columns}
    items = items_of(project, benchmark)
    for rule in RULES:
        own = {name: tables[name] for name in columns if (scoring or tables[name].published_rule) == rule}
        several = {name: table for name, table in own.items() if table.across is not None}
        models = []
        for card in cards if own else ():
            file = project.paths.scores(benchmark, card.name)
            if not Path(file).is_file():
                hint = f"Make it first: {making(project.selection.run)}"
                raise PunchlineError(f"no scores of {card.name}", file=file, hint=hint)
            scores = scores_frame(file, items, rule)[0]
            for name, table in own.items():
                add(name, card.name, rows_of_model(table, scores, items))
            models += [Model(card.name, kind_of(card), card.engine, scores, card)] if several else []
        for name, table in several.items():
            add(name, "", rows_across(table, Across(models, items, files_of_table(project, benchmark, name))))
    return {
        name: [
            rank
            for row, estimates in rows.items()
            if len(estimates) > 1
            for rank in ranked(estimates, row, lowest=tables[name].better(columns[name]) == "lower")
        ]
        for name, rows in found.items()
    }


def ranks_text(project: Project, benchmark: str) -> str:
    """A benchmark's ranks.csv, of score files: the ranks in the main column of every table that has one."""
    tables = project.benchmark(benchmark).TABLES
    columns = {name: column for name, table in tables.items() if (column := main_column(table)) is not None}
    kinds = {name: kind_of(card) for name, card in project.cards.items()}
    rows = [
        (name, one.row, one.model, kinds[one.model], columns[name], *astuple(one)[2:])
        for name, ranks in ranks_of(project, benchmark, columns).items()
        for one in ranks
    ]
    return csv_text(COLUMNS, (dict(zip(COLUMNS, row, strict=True)) for row in rows))
