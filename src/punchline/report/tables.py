"""A finished table as a page shows it: read from its own files, which hold every digit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.lineage import lineage_path, read_lineage
from punchline.artifacts.project import Project
from punchline.files import parse_csv
from punchline.grouping import grouped
from punchline.overview.discrepancies import DISCREPANCIES
from punchline.tables.declare import Table
from punchline.tables.latex import WORDS
from punchline.tables.render import digits, read_rows, silent
from punchline.text import escape_controls

HIDDEN = ("engine", "comparable", "note")
KINDS = ("measured", "baseline", "human", "published")

Row = Mapping[str, str]  # values by column, as in the CSV


@dataclass(frozen=True)
class Cell:
    """One cell: what is read, what it is sorted by, and, of a value with an interval, its ends."""

    text: str
    sort: str = ""
    interval: str = ""
    number: bool = False


@dataclass(frozen=True)
class Sheet:
    """One table of one benchmark, with its notes and its last audit."""

    benchmark: str
    table: Table
    path: str  # of its CSV
    columns: Sequence[str]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    root: str = ""
    made_at: str = ""
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


def head(column: str) -> str:
    """A column's name in words."""
    text = " ".join(WORDS.get(word, word) for word in column.split("_"))
    return text[:1].upper() + text[1:]


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


def cell(values: Mapping[str, str], column: str, table: Table) -> Cell:
    """One cell of a line of the CSV."""
    text = values.get(column, "")
    whole = column in table.counts
    if column not in table.columns and column != "n" and not column.startswith("n_"):
        return Cell(escape_controls(text), escape_controls(text))
    low, high = values.get(f"{column}_lo", ""), values.get(f"{column}_hi", "")
    ends = f"{shown_number(low, whole=whole)} to {shown_number(high, whole=whole)}" if text and low and high else ""
    return Cell(shown_number(text, whole=whole), text, ends, number=True)


def read_sheet(project: Project, benchmark: str, table: Table) -> Sheet:
    """A table that was made. Raises PunchlineError, OSError."""
    path = Path(project.paths.table(table.file))
    lineage = read_lineage(lineage_path(path))
    lines = [line for line in read_rows(path) if not silent(line, table.columns)]
    counts = {f"n_{state}" for state in ("missing", "failed", "refused", "unparsable", "truncated")}
    hidden = {*HIDDEN, *(f"{name}_{end}" for name in table.columns for end in ("lo", "hi"))}
    hidden |= {name for name in counts if all(line.get(name) in ("", "0") for line in lines)}
    names = [name for name in (lines[0] if lines else ()) if any(line[name] for line in lines)]
    columns = [name for name in names if name not in hidden]
    audited = Path(paths.audited(project.selection.run, table.file))
    return Sheet(
        benchmark,
        table,
        path.as_posix(),
        columns,
        lines,
        lineage.noted.get("notes", ()),
        lineage.root,
        str(lineage.noted.get("made_at", ""))[:16].replace("T", " "),
        json.loads(audited.read_bytes()) if audited.is_file() else {},
    )


def differences(path: str) -> dict[tuple[str, str], list[dict[str, str]]]:
    """Cells in which the two rules differ, by (benchmark, table)."""
    lines = (line for _, line in parse_csv(Path(path).read_bytes(), DISCREPANCIES, file=path))
    return grouped(lines, lambda line: (line["benchmark"], line["table"]))
