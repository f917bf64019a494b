"""A table of results on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from punchline.tables.declare import Table
from punchline.tables.ranks import main_column
from punchline.tables.render import digits, read_rows

Row = Mapping[str, str]
HIDDEN = ("engine", "scoring", "comparable", "note")


def printed(path: str, table: Table, width: int) -> str:
    """The table at `path` within `width` columns, and the notes of its run."""
    rows = read_rows(path)
    markdown = Path(path).with_suffix(".md")
    notes = [line[2:] for line in markdown.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    of_run = [note for note in notes if note not in table.notes and not note.startswith("95 %")]
    lines = [*of_run, f"More notes: {markdown}. All digits: {path}"]
    parts = [f"{table.title} ({path})", fitted(rows, table, width)]
    parts.append("\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines))
    return "\n\n".join(parts)


def fitted(rows: Sequence[Row], table: Table, width: int) -> str:
    """Rows with values: with intervals where these fit into `width`, else without, and without some columns.

    The last ones go first; the model and the main column stay.
    """
    rows = [row for row in rows if any(row[name] for name in table.columns)]
    columns = [name for name in (rows[0] if rows else ()) if name not in HIDDEN and not name.endswith(("_lo", "_hi"))]
    columns = [name for name in columns if any(row[name] not in ("", "0") for row in rows)]
    text = _text(rows, columns, table, intervals=True)
    spare = [name for name in columns if name not in ("model", main_column(table))]
    dropped: list[str] = []
    for name in ("", *reversed(spare)):
        if max(map(len, text.splitlines()), default=0) <= width:
            break
        dropped += [name]
        text = _text(rows, [name for name in columns if name not in dropped], table, intervals=False)
    more = ", ".join(name for name in columns if name in dropped)
    return text + ("\n\n" + textwrap.fill(f"More columns in the CSV: {more}", width) if more else "")


def _text(rows: Sequence[Row], columns: Sequence[str], table: Table, *, intervals: bool) -> str:
    def cell(row: Row, name: str) -> str:
        if name not in table.columns or not row[name]:
            return row[name]
        ends = [row.get(f"{name}_{end}") for end in ("lo", "hi")] if intervals else []
        value, *limits = (digits(float(end), whole=name in table.counts) for end in (row[name], *ends) if end)
        return f"{value} [{', '.join(limits)}]" if limits else value

    cells = [columns, *([cell(row, name) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
