"""Finished tables as CSV and Markdown, and the values that papers print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tabulate import tabulate as tabulate_text

from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv
from punchline.tables.declare import PublishedRow, Table
from punchline.tables.ratings import for_spreadsheet
from punchline.tables.tabulate import Tabulated
from punchline.text import escape_controls

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_BREAK = re.compile("[ \t]*[\n\r\x0b\x0c\x85\u2028\u2029]\\s*")
PUBLISHED = ("paper", "table", "row", "key", "column", "value", "n", "note")
FORMS = {  # column of a file of config/published/: (pattern, expected)
    "key": (r"(?:[^=;]+=[^=;]*(?:;[^=;]+=[^=;]*)*)?", "nothing, or name=value;name=value"),
    "value": (r"-?\d+(?:\.\d+)?", "a number"),
    "n": (r"\d*", "a whole number, or nothing"),
}
_BAR = re.compile(r"(\\*)\|")
_TAG = re.compile("<(?=[A-Za-z/!?])")


def as_csv(tabulated: Tabulated) -> str:
    """The tidy table: values in full precision, empty cells where there is none.

    A text that a spreadsheet would take for a formula has an apostrophe before it, as spreadsheets have it.
    """
    rows = (*tabulated.rows, *tabulated.others)
    return csv_text(tabulated.columns, ({key: _cell(value) for key, value in row.items()} for row in rows))


def _cell(value: str | int | float | None) -> str | int | float | None:
    if not isinstance(value, str):
        return value
    text = escape_controls(value)
    return text if _NUMBER.fullmatch(text) else for_spreadsheet(text)


def on_one_line(text: str) -> str:
    """Text on one line, where what steers a page or a terminal is shown."""
    return escape_controls(_BREAK.sub(" ", text))


def _in_markdown(text: str) -> str:
    """Text within a line of Markdown: neither a column nor a tag begins in it."""
    return _TAG.sub("&lt;", _BAR.sub(r"\1\1\\|", on_one_line(text)))


def digits(value: float, *, whole: bool) -> str:
    """A value with as many digits as a person reads. `whole`: it is a count."""
    return f"{value:,.0f}" if whole else f"{value:.3f}"


def for_people(tabulated: Tabulated, table: Table) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows of texts for reading: three digits, intervals beside the value. Rows have `comparable` too.

    Columns that hold nothing are left out, and so are the rows of `silent` ones.
    """
    rows = [row for row in tabulated.rows if not silent(row, table.columns)]
    columns = [c for c in tabulated.columns if not c.endswith(("_lo", "_hi")) and c not in ("comparable", "note")]
    columns = [c for c in columns if any(row.get(c) for row in rows or tabulated.rows)]

    def text(row: Mapping[str, str | int | float | None], column: str) -> str:
        ends = [row.get(name) for name in (column, f"{column}_lo", f"{column}_hi")]
        if not isinstance(ends[0], float):
            return "" if ends[0] is None else on_one_line(str(ends[0]))
        value, *limits = (digits(end, whole=column in table.counts) for end in ends if isinstance(end, float))
        return f"{value} [{', '.join(limits)}]" if limits else value

    return columns, [{column: text(row, column) for column in (*columns, "kind", "comparable")} for row in rows]


def silent(row: Mapping[str, str | int | float | None], names: Sequence[str]) -> bool:
    """True if a row says nothing to a person: a baseline that does not try this, a file that answers other things."""
    trying = row["kind"] not in ("measured", "baseline") or (row["kind"] == "measured" and row["engine"] != "replay")
    return not trying and all(row.get(name) in (None, "") for name in names)


def notes_of(tabulated: Tabulated, table: Table) -> list[str]:
    """The notes below a table, and who has no row for people."""
    models = {row["model"] for row in tabulated.rows if not silent(row, table.columns)}
    names = dict.fromkeys(str(row["model"]) for row in tabulated.rows if row["model"] not in models)
    verb = "does" if len(names) == 1 else "do"
    return [*tabulated.notes, *([f"Not shown: {', '.join(names)} ({verb} not attempt this task)."] if names else [])]


def as_markdown(tabulated: Tabulated, table: Table) -> str:
    """The table for reading, with its notes."""
    columns, lines = for_people(tabulated, table)
    cells = [[_in_markdown(line[column]) for column in columns] for line in lines]
    body = tabulate_text(cells, columns, tablefmt="github", disable_numparse=True)
    notes = "".join(f"\n- {_in_markdown(note)}" for note in notes_of(tabulated, table))
    return f"# {table.title}\n\n{body}\n{notes}\n"


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """Rows of a table's CSV that are shown: of the rule that the first of them follows, and the paper's."""
    columns = ("model", "kind", "engine", "scoring", "n")
    rows = [cells for _, cells in parse_csv(Path(path).read_bytes(), columns, file=path)]
    return [row for row in rows if row["kind"] == "published" or row["scoring"] == rows[0]["scoring"]]


def read_published(path: str | Path) -> list[PublishedRow]:
    """Rows of a file of config/published/; none without the file. Raises PunchlineError for one that cannot be read."""
    if not Path(path).is_file():
        return []
    rows = parse_csv(Path(path).read_bytes(), PUBLISHED, file=path)
    for line, cells in rows:
        for column, (pattern, expected) in FORMS.items():
            if not re.fullmatch(pattern, cells[column], re.ASCII):
                what, hint = f"{cells[column]!r} cannot be read", f"Expected {expected}"
                raise PunchlineError(what, file=path, line=line, record=cells["row"], field=column, hint=hint)
    return [cells for _, cells in rows]
