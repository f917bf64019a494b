"""Models in the order of a table's main column: values, intervals, possible ranks, and who leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from punchline.report.figures import first_keys
from punchline.report.tables import KINDS, Row, Sheet, cell, parse_number, shown_number

AXES = (1.0, 5.0, 7.0, 10.0, 100.0)  # ends of an axis; of larger values, the largest


class Ranks(NamedTuple):
    """The possible ranks of a model, at 95 % confidence for all models of a table together."""

    first: int
    last: int

    def __str__(self) -> str:
        return "–".join(dict.fromkeys(map(str, self)))

    def in_words(self) -> str:
        """The ranks as ordinals: `1st to 3rd`."""
        return " to ".join(dict.fromkeys(map(ordinal, self)))


class Standing(NamedTuple):
    """The models of a table in order, the best first within its kind."""

    # Of each model: model, kind, ranks, text, interval, paper (the value that the paper prints for it), and places on
    # the axis in percent, "" where there is none: at, lo, hi, paper_at.
    lines: Sequence[Mapping[str, Any]]
    ticks: Sequence[tuple[str, str]]  # (place, label) of the axis
    ranked: int  # models that have a rank
    leaders: Sequence[Mapping[str, Any]]  # lines of the models that may hold the first rank
    marks: Sequence[tuple[str, str, str]]  # (shortcut or people, place, text) of reference lines


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def standing(
    sheet: Sheet, ranks: Mapping[str, Ranks], printed_as: Mapping[str, str], shortcuts: Sequence[Row] = ()
) -> Standing:
    """The models of a table. `printed_as`: the paper's row of a model, whose value is shown on the model's line.

    `shortcuts`: the best of each row and column, as in shortcuts.csv.
    """
    column, rows = sheet.main, first_keys(sheet)

    def number(row: Row, ending: str = "") -> float | None:
        return parse_number(row.get(column + ending, ""))

    ends = [end for row in rows for end in (number(row), number(row, "_hi")) if end is not None]
    top = next((end for end in AXES if end >= max(ends, default=0)), max(ends, default=1.0))

    def place(value: float | None) -> str:
        return "" if value is None else f"{100 * min(max(value / top, 0), 1):.2f}%"

    papers = {row["model"]: row for row in rows if row["kind"] == "published"}
    of_models = {printed_as.get(row["model"]) for row in rows if row["kind"] != "published"}
    sign = 1 if sheet.table.better(column) == "lower" else -1
    lines: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (KINDS.index(row["kind"]), sign * (number(row) or 0), row["model"])):
        model, kind = row["model"], row["kind"]
        if kind == "published" and model in of_models:
            continue
        ours, paper = ({}, row) if kind == "published" else (row, papers.get(printed_as.get(model, ""), {}))
        value, printed = cell(ours, column, sheet.table), cell(paper, column, sheet.table).text
        line = {"model": model, "kind": kind, "ranks": ranks.get(model), "text": value.text, "interval": value.interval}
        line |= {name: place(number(ours, end)) for name, end in (("at", ""), ("lo", "_lo"), ("hi", "_hi"))}
        lines.append(line | {"paper": printed, "paper_at": place(number(paper))})
    shortcuts = [one for one in shortcuts if one["metric"] == column and rows and in_row(one, rows[0])]
    texts = (f"best shortcut, {one['shortcut']}: {shown_number(one['value'])}" for one in shortcuts)
    marks = [("shortcut", place(float(one["value"])), text) for one, text in zip(shortcuts, texts, strict=True)]
    people = [line for line in lines if line["kind"] == "human" and line["at"]][:1]
    marks += [("people", line["at"], f"people, {line['model']}: {line['text']}") for line in people]
    ticks = [(f"{100 * share:g}%", f"{top * share:g}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    ranked = [line for line in lines if line["ranks"] is not None]
    return Standing(lines, ticks, len(ranked), [line for line in ranked if line["ranks"].first == 1], marks)


def in_row(line: Row, values: Row) -> bool:
    """True if a shortcut's value is of the row of a table with these values."""
    parts = (part.partition("=") for part in line["row"].split(";") if part)
    return all(values.get(key) == value for key, _, value in parts)
