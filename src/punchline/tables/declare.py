"""Declaration of a table: a function that yields its rows from frames of scores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
import pandas as pd

from punchline.config.yaml_files import read_yaml
from punchline.core.benchmark import DEFAULT, FOLDER, Verdict
from punchline.errors import PunchlineError, check_known
from punchline.files import as_record
from punchline.schema import ModelCard, Rule
from punchline.scores import ItemColumn, items_frame, scores_frame
from punchline.stats.estimate import PERCENT, Estimate
from punchline.tables.chart import Chart

PublishedRow = dict[str, str]  # paper, table, row, key, column, value, n, note
Verdicts = Mapping[str, Verdict]  # by id of a request


class Row:
    """One row of a table: texts and whole numbers are its keys, estimates its values.

    The key `model` says whose row it is, in a table that is not made model by model.
    """

    def __init__(self, **cells: str | int | Estimate | None) -> None:
        self.model = str(cells.pop("model", ""))
        self.keys = {name: cell for name, cell in cells.items() if isinstance(cell, str | int)}
        self.estimates = {name: cell for name, cell in cells.items() if isinstance(cell, Estimate)}
        self.columns = tuple(name for name in cells if name not in self.keys)
        self.complete = True
        self.of: Model | None = None

    @property
    def key(self) -> str:
        """Key columns as one text, e.g. `style=pun`; as in the column `key` of config/published/."""
        return ";".join(f"{name}={value}" for name, value in self.keys.items())

    def set(self, *, complete: bool = True, of: Model | None = None) -> Self:
        """The same row with more said of it.

        `complete`: False where it depends on less than the paper's items, whatever its states say. `of`: the model that
        it is of, in a table of several models.
        """
        self.complete, self.of = complete, of
        self.model = self.model or (of.name if of is not None else "")
        return self


@dataclass(frozen=True, eq=False)
class Model:
    """One model's scores under one rule, for a table of several models."""

    name: str
    kind: str  # measured | baseline
    engine: str
    scores: pd.DataFrame
    card: ModelCard | None = None
    judge: ModelCard | None = None  # None: no judge, or one whose verdicts were released


@dataclass(frozen=True)
class Across:
    """Inputs of rows of several models: their scores under one rule, the items, files by name."""

    models: Sequence[Model]
    items: pd.DataFrame
    files: Mapping[str, bytes]
    notes: list[str] = field(default_factory=list)  # the function may add to them

    @property
    def with_base(self) -> list[tuple[Model, Model]]:
        """(model, its base) of the models whose base is among them."""
        by_name = {model.name: model for model in self.models}
        return [(one, by_name[one.card.base]) for one in self.models if one.card and one.card.base in by_name]


Rows = Callable[[pd.DataFrame, pd.DataFrame], Iterable[Row]]  # of a model's scores, and the items


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of a paper: what its rows are made of, and how it is written.

    `rows` makes those of one model, `across` those that need several models, prices or the user's files, `data` those
    of the released files, `compared` those that need a scorer besides: of the files, the printed rows, and what scorers
    said. A table may have several of them.
    """

    name: str  # table8
    title: str = ""
    file: str = ""  # its CSV, below the folder of a run's results: table8.csv
    rows: Rows | None = None
    across: Callable[[Across], Iterable[Row]] | None = None
    data: Callable[[Mapping[str, bytes]], Iterable[Row]] | None = None
    compared: Callable[[Mapping[str, bytes], Sequence[PublishedRow], Verdicts], Iterable[Row]] | None = None
    published_rule: Rule = "paper"  # the rule that the published values follow
    columns: tuple[str, ...] = ()  # metric columns; (): those that `rows` yields
    keys: tuple[str, ...] = ()  # key columns between `subset` and the metrics
    tasks: tuple[str, ...] = ()  # whose scores it reads; (): all
    conditions: tuple[str, ...] = (DEFAULT,)  # likewise
    counts: tuple[str, ...] = ()  # columns that are whole numbers, for people to read
    percents: tuple[str, ...] = ()  # columns in per cent
    lower_is_better: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()  # columns in which neither more nor less is better, besides counts
    files: tuple[str, ...] = ()  # raw files that data, compared or across reads
    runs: tuple[str, ...] = ()  # files of the released runs that across reads, where a selected card replays one
    # Its rows that those files state, by its name.
    summed_up: Callable[[str, Mapping[str, bytes]], Iterable[PublishedRow]] | None = None
    own: tuple[str, ...] = ()  # files that are the user's, in config/<benchmark>/; absent ones leave their rows out
    notes: tuple[str, ...] = ()
    empty_note: str = ""  # a further note where across yields no row
    kind: str = "measured"  # of the rows of data: measured | baseline | human
    prices: bool = False  # whether it shows what answers cost
    n_from: str | None = None  # the column whose denominator is a row's n; None: the largest of them
    main: bool = False  # whether models are compared by it; without any, `collect` takes the first of models
    chart: Chart | None = None  # how it is drawn, where the paper draws it; None: its first column, a line a model

    @property
    def of_models(self) -> bool:
        """True if it reads scores at all."""
        return self.rows is not None or self.across is not None

    def better(self, column: str) -> Literal["higher", "lower", "neither"]:
        """The better direction of one of its columns."""
        if not self.of_models or column in self.counts or column in self.unordered or column.endswith("_sd"):
            return "neither"
        return "lower" if column in self.lower_is_better else "higher"

    def read_by(self, scores: pd.DataFrame) -> pd.DataFrame:
        """The scores that it reads."""
        read = scores["condition"].isin(self.conditions)
        return scores[read & scores["task"].isin(self.tasks)] if self.tasks else scores[read]


def table(name: str, title: str = "", of: str = "rows", **options: Any) -> Callable[[Callable[..., Any]], Table]:
    """Declare a table by the function that yields its rows: `@table("table8", "Sequence recognition")`.

    `of`: the field of Table that the function becomes: rows, across, data or compared.
    """
    return lambda function: Table(name, title, **options | {of: function})


def collect(
    benchmark: str, metrics: Sequence[str], items: Mapping[str, ItemColumn], *declared: Table
) -> dict[str, Table]:
    """A benchmark's tables by name, with their files, keys and columns, and what tables.yaml says of them.

    A table's columns are those of the first row that its function yields for no scores at all.
    Raises PunchlineError for a table of tables.yaml that there is not, and for a field that a table does not have.
    """
    scores, none = no_scores(metrics), items_frame({}, {}, items)
    described, tables = describe(FOLDER / benchmark / "tables.yaml", [one.name for one in declared]), {}
    for spec in declared:
        spec = msgspec.structs.replace(spec, **described.get(spec.name, {}))
        first = next(iter(spec.rows(scores, none) if spec.rows is not None else ()), Row())
        keys, columns = spec.keys or tuple(first.keys), spec.columns or first.columns
        percents = spec.percents or tuple(name for name, own in first.estimates.items() if own.kind == PERCENT)
        file = spec.file or f"{benchmark}/{spec.name}.csv"
        tables[spec.name] = msgspec.structs.replace(spec, file=file, keys=keys, columns=columns, percents=percents)
    models = [one for one in tables.values() if one.of_models]
    for main in sorted(models, key=lambda one: (one.main, one.rows is not None), reverse=True)[:1]:
        tables[main.name] = msgspec.structs.replace(main, main=True)
    return tables


def describe(file: Path, known: Sequence[str]) -> dict[str, dict[str, Any]]:
    """{table: fields of it} of a YAML file: titles, columns, notes. {} without the file.

    Raises PunchlineError for a table that is not among the `known` ones, and for a field that a table does not have.
    """
    tables = read_yaml(file) if file.is_file() else {}
    for name in tables:
        check_known(name, known, "no such table", file=file, record=name)
    return {name: _checked(name, fields, file) for name, fields in tables.items()}


def _checked(name: str, fields: Any, file: Path) -> dict[str, Any]:
    """Fields of a table with their types."""
    if not isinstance(fields, dict):
        raise PunchlineError("expected a mapping: lines of `field: value`", file=file, record=name)
    table = as_record({"name": name, **fields}, Table, lambda _: f"{file}, record {name}")
    return {field: getattr(table, field) for field in fields}


@functools.cache
def no_scores(metrics: Sequence[str]) -> pd.DataFrame:
    """A frame of no scores that has the columns of a benchmark's."""
    return scores_frame((), items_frame({}, {}), "paper", metrics)[0]
