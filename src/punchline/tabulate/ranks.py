"""Confidence intervals of models' ranks in each table of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from punchline.artifacts.lineage import kind_of
from punchline.artifacts.passes import JUDGE
from punchline.artifacts.run import Run
from punchline.config.runs import making
from punchline.errors import PunchlineError, check_known
from punchline.files import Keyed, csv_text
from punchline.prepare import files_of_table
from punchline.schema import Gold, Item, Rule
from punchline.scores import Digests, items_frame, scores_frame
from punchline.tables.declare import Across, Model, Table
from punchline.tables.ranks import Rank, main_column, ranks_in
from punchline.tables.run import Answers, rows_of

RANK = ("n", "value", "value_lo", "value_hi", "rank", "rank_lo", "rank_hi")  # fields of Rank but its row and model
COLUMNS = ("table", "row", "model", "kind", "column", *RANK)


def items_of(run: Run, benchmark: str) -> pd.DataFrame:
    """Items of a selection, as tables read them."""
    items, golds = Keyed(run.paths.items(benchmark), Item), Keyed(run.paths.gold(benchmark), Gold)
    return items_frame(items, golds, run.benchmark(benchmark).ITEMS)


def read_models(run: Run, benchmark: str, items: pd.DataFrame, rule: Rule) -> tuple[list[Model], Answers]:
    """(the models of a selection with their scores under one rule, the states and digests of these).

    Raises PunchlineError for a model without a file of scores.
    """
    pairs = [read_model(run, benchmark, name, items, rule) for name in run.selection.models]
    return [model for model, _ in pairs], Answers([(model.scores, digests) for model, digests in pairs])


def read_model(run: Run, benchmark: str, name: str, items: pd.DataFrame, rule: Rule) -> tuple[Model, Digests]:
    """(a model with its scores under one rule, their digests). Raises PunchlineError without a file of scores."""
    card, file = run.cards[name], run.paths.scores(benchmark, name)
    if not Path(file).is_file():
        raise PunchlineError(f"no scores of {name}", file=file, hint=f"Make it first: {making(run.selection.run)}")
    scores, digests = scores_frame(file, items, rule)
    judge = run.passes(benchmark, name).get(JUDGE)
    judging = None if judge is None else run.card_for(JUDGE, judge, name)
    return Model(name, kind_of(card), card.engine, scores, card, judging), digests


def ranks_of(run: Run, benchmark: str, table: Table, column: str | None = None) -> tuple[str, list[Rank]]:
    """(column, ranks) of a selection's models in a table, in each of its rows that two of them have.

    `column`: its first one by default. Raises PunchlineError where there is no such column, or no two models.
    """
    path = run.paths.table(table.file)
    if benchmark not in run.selection.benchmarks or not table.of_models:
        raise PunchlineError("no table of this run's models", file=path, hint="See them: punchline tables")
    column = column or table.columns[0]
    check_known(column, table.columns, f"no column {column!r}", file=path)
    items = items_of(run, benchmark)
    models, _ = read_models(run, benchmark, items, run.selection.scoring or table.published_rule)
    files = files_of_table(run, benchmark, table.name) if table.across is not None else {}
    ranks = ranks_in(table, column, rows_of(table, Across(models, items, files)))
    if not ranks:
        hint = "Name another column, or make it with one more model that has one"
        raise PunchlineError(f"no two models have a value of {column}", file=path, hint=hint)
    return column, ranks


def ranks_text(run: Run, benchmark: str, ranks: Mapping[str, Sequence[Rank]]) -> str:
    """The text of ranks.csv: by table the ranks of models in its main column."""
    tables, kinds = run.benchmark(benchmark).TABLES, {name: kind_of(card) for name, card in run.cards.items()}
    pairs = [(name, one) for name, of_table in ranks.items() for one in of_table]
    rows = ((name, one.row, one.model, kinds[one.model], main_column(tables[name]), *one[2:]) for name, one in pairs)
    return csv_text(COLUMNS, (dict(zip(COLUMNS, row, strict=True)) for row in rows))
