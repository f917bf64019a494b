"""Tables: what a benchmark declares, and how it becomes CSV, Markdown and LaTeX with intervals and published rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from punchline.records import Gold, Grade, Item, Rule
from punchline.stats import Estimate


@dataclass(frozen=True)
class Row:
    """One row of a table for one model (or, in a table of the data itself, for one row name)."""

    keys: Mapping[str, str | int]  # the table's key columns, e.g. {"subset": "all"}
    columns: Mapping[str, Estimate | None]  # None: not attempted, the cell stays empty
    items: frozenset[str] = frozenset()  # item ids that the row speaks of; its states are counted over them
    tasks: tuple[str, ...] = ()  # tasks that the row rests on


@dataclass(frozen=True)
class Table:
    """One table of a paper. `rows` is pure: grades of ONE model under ONE rule, gold and items in; rows out.

    `data_rows` serves tables of the data itself: raw annotation files in; (row name, row) out. A table may have both
    (PixelHumor table 4: its ground-truth row and the models').
    """

    name: str  # table8
    title: str
    path: str  # results/table8.csv
    rule: Rule  # the rule that the published values follow
    keys: tuple[str, ...]  # key columns between `subset` and the metrics
    columns: tuple[str, ...]  # metric columns
    tasks: tuple[str, ...] = ()  # tasks whose grades it reads
    rows: Callable[[Sequence[Grade], Mapping[str, Gold], Mapping[str, Item]], list[Row]] | None = None
    data_rows: Callable[[Mapping[str, bytes]], list[tuple[str, Row]]] | None = None
    files: tuple[str, ...] = ()  # raw files that data_rows reads
    notes: tuple[str, ...] = field(default=())
