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

from punchline.errors import PunchlineError, nearest
from punchline.files import csv_text, parse_csv
from punchline.grouping import grouped

T = TypeVar("T")

RATINGS = "ratings.csv"
ABOUT = ("task", "aspect")  # columns that tell apart what was rated; others are notes
NUMBER = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
    scores: list[Rating] = []
    choices: list[Choice] = []
    seen: dict[tuple[str, ...], int] = {}
    columns = ("item_id", "rater")
    for line, cells in parse_csv(content, columns, file=file):
        item_id, rater = cells["item_id"].strip(), cells["rater"].strip()
        score, choice = (cells.get(name, "").strip() for name in ("score", "choice"))
        source = cells.get("source", "").strip()

        def wrong(what: str, field: str, hint: str, line: int = line, record: str = item_id) -> PunchlineError:
            return PunchlineError(what, file=file, line=line, record=record, field=field, hint=hint)

        if items is not None and item_id not in items:
            raise wrong("no such item", "item_id", nearest(item_id, items) if len(items) < 50 else "Check the id")
        if not rater:
            raise wrong("the cell is empty", "rater", "Give every rater a name or a number")
        if bool(score) == bool(choice):
            raise wrong(f"score {score!r} and choice {choice!r}", "score", "Fill in one of score and choice")
        about = {name: cells[name].strip() for name in ABOUT if name in cells}
        key = (item_id, rater, *((source, *about.values()) if score else ("",)))
        if key in seen:
            raise wrong(f"rated already in line {seen[key]}", "rater", "Keep one of the two")
        seen[key] = line
        if choice:
            choices.append(Choice(item_id, rater, choice))
            continue
        if not NUMBER.fullmatch(score):
            raise wrong(f"{score!r} is no number", "score", "Write a number")
        number = float(score)
        least, most = scale or (-1e9, 1e9)
        if not least <= number <= most:
            raise wrong(f"{score} is not on the scale", "score", f"Scores go from {least:g} to {most:g}")
        if not source:
            raise wrong("the cell is empty", "source", "Name the model, or whoever wrote what was rated")
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
    return f"'{text}" if text.startswith(_FORMULA) else text


def as_csv(ratings: Sequence[Rating]) -> str:
    """A ratings file."""
    rows = [{**rating._asdict(), "score": f"{rating.score:g}", **rating.about} for rating in ratings]
    columns = dict.fromkeys(name for row in rows for name in row if name != "about")
    return csv_text(list(columns), ({name: row.get(name) for name in columns} for row in rows))
