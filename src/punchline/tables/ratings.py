"""Files of people's ratings.

A ratings file is a CSV with the columns item_id, source and rater, and score (a number) or choice (the source that the
rater prefers on the item); the columns task and aspect tell apart what was rated, any other is a note. It lies in
config/<benchmark>/ratings.csv, where the tables of ratings find it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv
from punchline.grouping import grouped

T = TypeVar("T")

RATINGS = "ratings.csv"
ABOUT = ("task", "aspect")  # columns that tell apart what was rated; others are notes
NUMBER = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")
_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r]")


class Rating(NamedTuple):
    """One rater's score of one source's answer on one item."""

    item_id: str
    source: str
    rater: str
    score: float
    about: Mapping[str, str]  # the other columns: task, aspect


class Choice(NamedTuple):
    """The source whose answer one rater prefers on one item."""

    item_id: str
    rater: str
    source: str


def read_ratings(
    content: bytes, file: str, *, items: Collection[str] | None = None, scale: tuple[float, float] | None = None
) -> tuple[list[Rating], list[Choice]]:
    """Scores and choices of a ratings file, in its order.

    `items`: ids that may occur; `scale`: the least and the greatest score. Raises PunchlineError, naming the line, for
    an unknown item, a row with both or neither of score and choice, a score that is no number on the scale, and a
    second rating by the same rater of the same thing.
    """
    scores, choices = list[Rating](), list[Choice]()
    seen: dict[tuple[str, ...], int] = {}
    least, most = scale or (-1e9, 1e9)
    for line, cells in parse_csv(content, ("item_id", "rater"), file=file):
        item_id, rater = cells["item_id"].strip(), cells["rater"].strip()
        score, choice = (cells.get(name, "").strip() for name in ("score", "choice"))
        source = cells.get("source", "").strip()

        about = {name: cells[name].strip() for name in ABOUT if name in cells}
        key = (item_id, rater, *((source, *about.values()) if score else ("",)))
        number = float(score) if NUMBER.fullmatch(score) else None
        outside = number is not None and not least <= number <= most
        for wrong, field, what, hint in (
            (items is not None and item_id not in items, "item_id", "no such item", "Check the id"),
            (not rater, "rater", "the cell is empty", "Give every rater a name or a number"),
            (bool(score) == bool(choice), "score", f"{score!r}, choice {choice!r}", "Fill in one of score and choice"),
            (key in seen, "rater", f"rated already in line {seen.get(key)}", "Keep one of the two"),
            (score and number is None, "score", f"{score!r} is no number", "Write a number"),
            (outside, "score", f"{score} is not on the scale", f"Scores go from {least:g} to {most:g}"),
            (score and not source, "source", "the cell is empty", "Name the model, or whoever wrote what was rated"),
        ):
            if wrong:
                raise PunchlineError(what, file=file, line=line, record=item_id, field=field, hint=hint)
        seen[key] = line
        if number is None:
            choices.append(Choice(item_id, rater, choice))
        else:
            scores.append(Rating(item_id, source, rater, number, about))
    return scores, choices


def preferred(choices: Sequence[Choice]) -> dict[str, str | None]:
    """{item id: the source that most of its raters chose}; None where two or more have the most votes."""
    votes = grouped(choices, lambda choice: choice.item_id)
    return {item_id: leading(Counter(choice.source for choice in group)) for item_id, group in votes.items()}


def leading(counted: Counter[T]) -> T | None:
    """The value with the most votes; None for a tie."""
    first, *rest = counted.most_common(2)
    return None if rest and rest[0][1] == first[1] else first[0]


def for_spreadsheet(text: str) -> str:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{text}" if _FORMULA.match(text) else text


def as_csv(ratings: Sequence[Rating]) -> str:
    """A ratings file."""
    rows = [{**rating._asdict(), "score": f"{rating.score:g}", **rating.about} for rating in ratings]
    columns = dict.fromkeys(name for row in rows for name in row if name != "about")
    return csv_text(list(columns), ({name: row.get(name) for name in columns} for row in rows))
