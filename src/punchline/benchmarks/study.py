"""Declarations of rating studies: texts to rate, questions, and the file that tables read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from punchline.config.yaml_files import read_yaml
from punchline.core.benchmark import FOLDER
from punchline.files import as_record
from punchline.read import reasoning
from punchline.schema import Item, Record
from punchline.stats.ratings import Level
from punchline.tables.ratings import RATINGS, for_spreadsheet

BEST = "best"  # the aspect of a study in which the best of several texts is chosen
# One rater's answer to one question about one text: item_id, source, task (its name in a ratings file), aspect, value,
# text, rater, time (UTC, to the second), note, sheet (its digest), pointers (numbers of those that hold, from 1).
Vote = dict[str, Any]


class Question(Record, frozen=True):
    """A question about a text."""

    aspect: str  # its name in a ratings file; "" for the only question
    ask: str
    options: tuple[str, ...] | UnsetType = UNSET  # of a question that may be left open, with values of its own


def without_thoughts(answer: str) -> str:
    """An answer without its reasoning."""
    return reasoning.remove(answer).text


def rating_rows(votes: Sequence[Vote]) -> Iterator[dict[str, Any]]:
    """Rows of a ratings file, one per vote; a choice of the best of several texts has no source but the chosen one."""
    names = ["item_id", "source", "rater", "score", "choice", "task", "aspect", "time", "sheet", "note"]
    names += ["pointers"] if any(vote["pointers"] for vote in votes) else []
    for vote in votes:
        row = vote | {"score": vote["value"], "choice": "", "note": for_spreadsheet(vote["note"])}
        if vote["aspect"] == BEST:
            row |= {"source": "", "score": "", "choice": vote["source"], "aspect": ""}
        yield {name: row[name] for name in names}


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The declaration of a study; a benchmark's module `studies` has them by name in STUDIES."""

    title: str
    feeds: tuple[str, ...]  # tables that read its export
    tasks: Mapping[str, str]  # {task whose answers are rated: its name in a ratings file, "" for the only one}
    questions: Mapping[str, tuple[Question, ...]]  # by that name
    intro: tuple[str, ...]  # paragraphs, shown before the first item and next to each
    options: tuple[tuple[str, str], ...] = ()  # (value, label); none if the best of all texts is chosen
    reviews: bool = False  # raters choose among drafts and correct them
    level: Level = "interval"  # of Krippendorff's alpha
    picture: bool = True  # items without a picture are left out
    pictures: Mapping[str, str] = {}  # the name of the picture by task; by default the first one
    offered: Callable[[Item], Mapping[tuple[str, str], str]] | None = None  # raters answer: {(task, letter): option}
    fields: tuple[str, ...] = ()  # of the item, shown above the text
    gold: tuple[str, ...] = ()  # of its gold, shown above the text
    note: str = ""  # label of a box for a note; "" for no box
    pointers: tuple[str, ...] = ()  # what a rater may tick; where fewer than two are, a note is required
    overlap: int = 2  # raters per text
    practice: int = 2  # items before the first that counts
    reading: Callable[[str], str | None] = without_thoughts  # the shown part of an answer; None or "" for nothing
    file: str = RATINGS  # of the export, below config/<benchmark>/
    rows: Callable[[Sequence[Vote]], Iterator[dict[str, Any]]] = rating_rows

    @property
    def of_answers(self) -> bool:
        """True if answers of models are rated."""
        return not (self.reviews or self.offered)

    @property
    def best(self) -> bool:
        """True if the best of an item's texts is chosen."""
        return not self.options


def read_studies(benchmark: str, **code: dict[str, Any]) -> dict[str, Study]:
    """The studies of a benchmark's studies.yaml by name; `code`: their fields that the file does not have."""
    file = FOLDER / benchmark / "studies.yaml"
    studies = {}
    for name, fields in read_yaml(file).items():
        studies[name] = as_record(fields | code.get(name, {}), Study, lambda _: str(file))
    return studies
