"""A finished table as a page shows it: read from its own files, which hold every digit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from punchline import paths
from punchline.artifacts.lineage import Lineage, lineage_path, read_lineage
from punchline.artifacts.run import Run
from punchline.files import parse_csv
from punchline.tables.declare import Table
from punchline.tables.render import digits, read_rows, silent
from punchline.tables.run import COUNTED
from punchline.text import escape_controls

HIDDEN = ("engine", "comparable", "note")
KINDS = ("measured", "baseline", "human", "published")

Row = Mapping[str, str]  # values by column, as in the CSV


class Cell(NamedTuple):
    """One cell: what is read, what it is sorted by, and, of a value with an interval, its ends."""

    text: str
    sort: str = ""
    interval: str = ""
    number: bool = False


@dataclass(frozen=True)
class Sheet:
    """One table of one benchmark, with its lineage and its last audit."""

    benchmark: str
    table: Table
    path: str  # of its CSV
    columns: Sequence[str]
    rows: Sequence[Row]
    lineage: Lineage | None = None
    verdict: Mapping[str, Any] = field(default_factory=dict)  # of its last audit

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def file(self) -> str:
        """Its page, from the report's root."""
        return f"tables/{self.benchmark}/{self.name}.html"

    @property
    def main(self) -> str:
        """The column that models are compared by; where none has a value in it, the first column in which one has."""
        ours = [row for row in self.rows if row["kind"] != "published"]
        columns = (name for name in self.table.columns if any(row.get(name) for row in ours))
        return next(columns, self.table.columns[0])

    def cells(self, row: Row) -> list[Cell]:
        """The cells of a row's columns."""
        return [cell(row, name, self.table) for name in self.columns]


def parse_number(text: str) -> float | None:
    """The number in a cell; None if it holds none."""
    try:
        return float(text)
    except ValueError:
        return None


def shown_number(text: str, *, whole: bool = False) -> str:
    """A number with as many digits as a person reads; any other text harmless."""
    number = parse_number(text)
    if number is None:
        return escape_controls(text)
    return digits(number, whole=whole) if "." in text or "e" in text else text


def cell(values: Row, column: str, table: Table) -> Cell:
    """One cell of a line of the CSV."""
    text = values.get(column, "")
    if column not in table.columns and column != "n" and not column.startswith("n_"):
        return Cell(escape_controls(text), escape_controls(text))
    ends = (values.get(f"{column}{end}", "") for end in ("", "_lo", "_hi"))
    shown, low, high = (shown_number(end, whole=column in table.counts) for end in ends)
    return Cell(shown, text, f"{low} to {high}" if shown and low and high else "", number=True)


def read_sheet(run: Run, benchmark: str, table: Table) -> Sheet:
    """A table that was made. Raises PunchlineError, OSError."""
    path = run.paths.table(table.file)
    lines = [line for line in read_rows(path) if not silent(line, table.columns)]
    hidden = {*HIDDEN, *(f"{name}_{end}" for name in table.columns for end in ("lo", "hi"))}
    nothing = {f"n_{state}": ("", "0") for state in COUNTED}  # by column
    names = [name for name in (lines[0] if lines else ()) if name not in hidden]
    columns = [name for name in names if any(line[name] not in nothing.get(name, ("",)) for line in lines)]
    audited = Path(paths.audited(run.selection.run, table.file))
    verdict = json.loads(audited.read_bytes()) if audited.is_file() else {}
    return Sheet(benchmark, table, path, columns, lines, read_lineage(lineage_path(path)), verdict)


def read_lines(path: str) -> list[dict[str, str]]:
    """The rows of one of a run's lists."""
    return [cells for _, cells in parse_csv(Path(path).read_bytes(), (), file=path)]


def filled(rows: Sequence[Row]) -> list[str]:
    """The columns of rows that are not empty or 0 everywhere."""
    return [name for name in (rows[0] if rows else ()) if any(row[name] not in ("", "0") for row in rows)]
