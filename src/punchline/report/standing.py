"""Models in the order of a table's main column: values, intervals, possible ranks, and a sentence on who leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from punchline.report.figures import first_keys
from punchline.report.tables import KINDS, Row, Sheet, cell, parse_number, shown_number
from punchline.report.validity import in_row

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares of an axis that get a label
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


@dataclass(frozen=True)
class Line:
    """A model's value; places on the axis are percentages, "" where there is none."""

    model: str
    kind: str
    ranks: Ranks | None
    text: str
    interval: str
    at: str = ""
    low: str = ""
    high: str = ""
    paper: str = ""  # the value that the paper prints for it
    paper_at: str = ""


@dataclass(frozen=True)
class Standing:
    """The models of a table in order, the best first within its kind."""

    lines: Sequence[Line]
    ticks: Sequence[tuple[str, str]]  # (place, label) of the axis
    ranked: int  # models that have a rank
    marks: Sequence[tuple[str, str, str]] = ()  # (shortcut or people, place, text) of reference lines

    @property
    def leaders(self) -> list[Line]:
        """The models that may hold the first rank."""
        return [line for line in self.lines if line.ranks is not None and line.ranks.first == 1]

    def headline(self, title: str) -> str:
        """The leaders in a sentence; no winner where intervals of differences do not show one."""
        leaders, measured = self.leaders, [line for line in self.lines if line.text]
        if not measured:
            return f"No selected model has a value on {title}"
        if not leaders:
            return f"{measured[0].model} has {measured[0].text} on {title}"
        if len(leaders) == 1:
            return f"{leaders[0].model} ranks {leaders[0].ranks.in_words()} of {self.ranked} on {title}"  # type: ignore[union-attr]
        if len(leaders) <= 3:
            return f"{', '.join(line.model for line in leaders[:-1])} and {leaders[-1].model} share the lead on {title}"
        return f"{len(leaders)} of {self.ranked} models share the lead on {title}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def standing(
    sheet: Sheet, ranks: Mapping[str, Ranks], printed_as: Mapping[str, str], shortcuts: Sequence[Mapping[str, str]] = ()
) -> Standing:
    """The models of a table. `printed_as`: the paper's row of a model, whose value is shown on the model's line.

    `shortcuts`: the best of each row and column, as in shortcuts.csv.
    """
    column, table, rows = sheet.main, sheet.table, first_keys(sheet)

    def number(row: Row, ending: str = "") -> float | None:
        return parse_number(row.get(column + ending, ""))

    ends = [end for row in rows for end in (number(row), number(row, "_hi")) if end is not None]
    top = next((end for end in AXES if end >= max(ends, default=0)), max(ends, default=1.0))

    def place(value: float | None) -> str:
        return "" if value is None else f"{100 * min(max(value / top, 0), 1):.2f}%"

    papers = {row["model"]: row for row in rows if row["kind"] == "published"}
    of_models = {printed_as.get(row["model"]) for row in rows if row["kind"] != "published"}
    sign = 1 if table.better(column) == "lower" else -1
    lines = []
    for row in sorted(rows, key=lambda row: (KINDS.index(row["kind"]), sign * (number(row) or 0), row["model"])):
        model, value, ours = row["model"], cell(row, column, table), row["kind"] != "published"
        if not ours and model in of_models:
            continue
        paper = papers.get(printed_as.get(model, "")) if ours else row
        of_paper = (cell(paper, column, table).text, place(number(paper))) if paper else ("", "")
        at, low, high = [place(number(row, ending)) if ours else "" for ending in ("", "_lo", "_hi")]
        text = value.text if ours else ""
        lines.append(Line(model, row["kind"], ranks.get(model), text, value.interval, at, low, high, *of_paper))
    ticks = [(f"{100 * share:g}%", f"{top * share:g}") for share in TICKS]
    marks = [
        ("shortcut", place(float(one["value"])), f"best shortcut, {one['shortcut']}: {shown_number(one['value'])}")
        for one in shortcuts
        if one["metric"] == column and rows and in_row(one, rows[0])
    ]
    human_lines = [line for line in lines if line.kind == "human" and line.at][:1]
    marks += [("people", line.at, f"people, {line.model}: {line.text}") for line in human_lines]
    return Standing(lines, ticks, sum(line.ranks is not None for line in lines), marks)
