"""Differences between what an audit rebuilds and what is stored, as text: records, cells and lines."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from punchline.text import escape_controls

Row = Mapping[str, Any]

SHOWN = 3  # differing cells or lines
NAMING = ("item_id", "task", "rule", "row", "column", "name", "who", "request_id")  # fields that name a record
LABELS = 5  # first columns of a CSV that may name a row
NO_VALUES = ("grades", "digest")  # digests: the values that they are of are shown


def same(fresh: Sequence[Row], stored: Sequence[Row]) -> Iterator[str]:
    """Differences between rebuilt and stored records: their number, and the first record that differs."""
    yield from _counts("records", fresh, stored)
    differing = [(ours, theirs) for ours, theirs in zip(fresh, stored, strict=False) if ours != theirs]
    if differing:
        ours, theirs = differing[0]
        yield f"{len(differing):,} records differ, first {_name(theirs)}: {_change(ours, theirs)}"


def same_cells(fresh: Sequence[Row], stored: Sequence[Row]) -> Iterator[str]:
    """Differences between rebuilt and stored cells of a table: their number, and the first cells with both values."""
    yield from _counts("cells", fresh, stored)
    differing = [(ours, theirs) for ours, theirs in zip(fresh, stored, strict=False) if ours != theirs]
    lines = (f"row {theirs['row']}, column {theirs['column']}: {_change(ours, theirs)}" for ours, theirs in differing)
    yield from _first("cells", len(differing), lines)


def same_text(path: str, fresh: str, stored: str) -> Iterator[str]:
    """Differences between a rebuilt and a stored text file: the first cells of a CSV, the first lines of another."""
    if path.endswith(".csv"):
        differing = [*_csv_cells(fresh, stored)]
        yield from _first("cells", len(differing), differing)
        return
    pairs = itertools.zip_longest(fresh.splitlines(), stored.splitlines(), fillvalue="")
    lines = [
        f"line {number}: rebuilt {ours[:160]!r}, stored {theirs[:160]!r}"
        for number, (ours, theirs) in enumerate(pairs, start=1)
        if ours != theirs
    ]
    yield from _first("lines", len(lines), lines)


def _csv_cells(fresh: str, stored: str) -> Iterator[str]:
    """Every differing cell of two CSV texts: its row, its column, both values."""
    tables = [list(csv.reader(text.splitlines())) for text in (fresh, stored)]
    yield from _counts("rows", *tables)
    head = tables[0][0] if tables[0] else []
    for number, (ours, theirs) in enumerate(zip(*tables, strict=False), start=1):
        for column, (mine, other) in enumerate(itertools.zip_longest(ours, theirs, fillvalue="")):
            if mine != other:
                name = head[column] if column < len(head) else str(column + 1)
                row = escape_controls(" ".join(filter(None, ours[:LABELS])))[:80]
                yield f"line {number} ({row}), column {name}: rebuilt {mine[:80]!r}, stored {other[:80]!r}"


def _counts(what: str, fresh: Sequence[Any], stored: Sequence[Any]) -> Iterator[str]:
    if len(fresh) != len(stored):
        yield f"{len(stored):,} {what} stored, {len(fresh):,} rebuilt"


def _first(what: str, count: int, lines: Iterator[str] | list[str]) -> Iterator[str]:
    """The first lines, the first of them after the number of all."""
    for number, line in enumerate(itertools.islice(lines, SHOWN)):
        yield line if number else f"{count:,} {what} differ, first {line}"


def _name(record: Row) -> str:
    return escape_controls(" ".join(str(record[name])[:40] for name in NAMING if record.get(name))) or "record"


def _change(ours: Row, theirs: Row) -> str:
    """Both records' values where they differ."""
    fields = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    fields = [name for name in fields if name not in NO_VALUES] or fields
    return f"rebuilt {_brief(ours, fields)}, stored {_brief(theirs, fields)}"


def _brief(record: Row, fields: Sequence[str]) -> str:
    return repr({name: record.get(name) for name in fields})[:160]
