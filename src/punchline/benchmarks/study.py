"""Studies: what people are shown and asked about answers, and what their votes are for the tables that read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from punchline.read import thoughts
from punchline.stats.ratings import Level
from punchline.tables.ratings import RATINGS, for_spreadsheet

BEST = "best"  # the aspect of a study in which the best of several texts is chosen
HUMAN = "Human"  # the source of a text that one person wrote


class Question(NamedTuple):
    """What is asked about a text."""

    aspect: str  # as a ratings file calls it; "" where there is one question
    ask: str


class Vote(NamedTuple):
    """One rater's answer to one question about one text, under its source's name."""

    item_id: str
    source: str
    task: str  # as a ratings file calls it
    aspect: str
    value: str
    text: str
    rater: str
    time: str  # UTC, to the second
    note: str
    sheet: str  # digest of the sheet that was rated


def without_thoughts(answer: str) -> str:
    """What raters read of an answer."""
    return thoughts.off(answer).text


def rating_rows(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """Rows of a ratings file, one per vote; a choice of the best of several has only the chosen source."""
    rows = []
    for vote in votes:
        best = vote.aspect == BEST
        source, choice = ("", vote.source) if best else (vote.source, "")
        score, aspect = ("", "") if best else (vote.value, vote.aspect)
        rated = {"item_id": vote.item_id, "source": source, "rater": vote.rater, "score": score, "choice": choice}
        about = {"task": vote.task, "aspect": aspect, "time": vote.time, "sheet": vote.sheet}
        rows.append({**rated, **about, "note": for_spreadsheet(vote.note)})
    return rows


def text_rows(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """Rows of a file of texts that people wrote, for `punchline rate new --texts`, one per text."""
    columns = ("item_id", "source", "task", "text", "rater", "time", "sheet")
    shown = (vote._replace(text=for_spreadsheet(vote.text)) for vote in votes)
    return [{name: getattr(vote, name) for name in columns} for vote in shown]


@dataclass(frozen=True)
class Study:
    """One declaration; those of a benchmark are STUDIES of its module `studies`, by name."""

    title: str
    feeds: tuple[str, ...]  # tables that read its export
    tasks: Mapping[str, str]  # tasks whose answers are rated: what a ratings file calls them, "" where it does not
    questions: Mapping[str, tuple[Question, ...]]  # by that name
    intro: tuple[str, ...]  # paragraphs, shown before the first item and beside each
    options: tuple[tuple[str, str], ...] = ()  # (value, label); none where the best of all texts is chosen
    writes: bool = False  # whether people write a text on each item, instead of rating one
    level: Level = "interval"  # of Krippendorff's alpha
    picture: bool = True  # whether an item without a picture is left out
    fields: tuple[str, ...] = ()  # of the item, shown above the text
    gold: tuple[str, ...] = ()  # of its gold
    note: str = ""  # label of a box for words; none where it is empty
    overlap: int = 2  # raters of the same text
    practice: int = 2  # items before the first that counts
    check_every: int = 20  # texts to one attention check, of which every rater has one at least
    reading: Callable[[str], str | None] = without_thoughts  # what is shown of an answer; None or "": nothing is there
    file: str = RATINGS  # below config/<benchmark>/, what is exported
    rows: Callable[[Sequence[Vote]], list[dict[str, Any]]] = rating_rows

    @property
    def best(self) -> bool:
        """Whether the best of an item's texts is chosen."""
        return not self.options and not self.writes
