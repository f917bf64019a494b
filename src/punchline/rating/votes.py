"""The file of a study, SQLite: its sheet, its raters, their pages, and every vote, synced to disk when it is cast.

Votes are only added: a rater's last vote on a page counts. Of a rater's secret the file holds the sha256.
"""

from __future__ import annotations

import datetime
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from punchline.benchmarks.study import Question
from punchline.errors import PunchlineError, check_file, permission_hint
from punchline.files import write_bytes
from punchline.grouping import grouped
from punchline.schema import Record, sha256

POINTERS = "pointers"  # among a vote's answers: what holds
SCHEMA = """
CREATE TABLE sheet (content BLOB NOT NULL) STRICT;
CREATE TABLE raters (name TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT;
CREATE TABLE seats (rater TEXT NOT NULL, place INTEGER NOT NULL, unit INTEGER NOT NULL,
                    PRIMARY KEY (rater, place)) STRICT;
CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, rater TEXT NOT NULL, unit INTEGER NOT NULL,
                    answers TEXT NOT NULL, note TEXT NOT NULL, time TEXT NOT NULL) STRICT;
CREATE INDEX last_votes ON votes (rater, unit);
"""


class ShownText(Record, frozen=True, kw_only=True):
    """A text and its source."""

    source: str
    text: str
    kind: str = ""  # of a draft: answer or distractor


class Unit(Record, frozen=True, kw_only=True):
    """The content of one page. Fields that are unset by default are not in the digest of older sheets."""

    item_id: str
    task: str  # its name in a ratings file
    texts: tuple[ShownText, ...]  # one, or several of which the best is chosen
    context: tuple[tuple[str, str], ...] = ()  # (name, text) shown above
    picture: str = ""  # path from the root
    sha256: str = ""  # of the picture
    blurred: bool | UnsetType = UNSET  # until the rater asks
    kind: Literal["counts", "practice", "check"] = "counts"
    right: str = ""  # of a check: the right value; if the best text is chosen, its place in `texts`


class Sheet(Record, frozen=True, kw_only=True):
    """All content of a study; its digest is its version."""

    benchmark: str
    study: str  # name of the declaration
    run: str
    models: tuple[str, ...]  # whose answers are shown; other sources are people
    seed: int
    title: str
    intro: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    questions: dict[str, tuple[Question, ...]]
    note: str
    units: tuple[Unit, ...]
    pointers: tuple[str, ...] | UnsetType = UNSET

    @property
    def form(self) -> Literal["rate", "choose", "review"]:
        """Work of raters: points, the best of several texts, or a choice and correction of drafts."""
        if any(shown.kind for unit in self.units for shown in unit.texts):
            return "review"
        return "rate" if self.options else "choose"


Seats = Mapping[str, Sequence[int]]  # by rater, the units of their pages in order


class CastVote(NamedTuple):
    """A rater's last vote on a unit."""

    rater: str
    unit: int
    answers: dict[str, str]  # value by aspect; {}: it cannot be judged
    note: str = ""  # why, where it cannot be judged
    time: str = ""
    pointers: str = ""  # numbers of those that hold, from 1

    def as_fields(self, sheet: Sheet) -> dict[str, str]:
        """The fields of the form by which it was given."""
        if sheet.form != "review" and not self.answers:
            return {"cannot": "1", "reason": self.note}
        ticked = {f"pointer-{number}": "1" for number in self.pointers.split()}
        named = {f"answer-{aspect}": value for aspect, value in self.answers.items()}
        return self.answers | named | ticked | {"note": self.note}


class Votes:
    """A study. Raises PunchlineError for a file that is none, sqlite3.Error if the disk is full."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        check_file(path, "no such study", hint="Make it: punchline rate new STUDY --raters N")
        try:
            ((content,),) = self._rows("SELECT content FROM sheet")
            self.sheet = msgspec.json.decode(content, type=Sheet)
        except (sqlite3.DatabaseError, msgspec.DecodeError, ValueError) as error:
            raise PunchlineError(f"not a readable study: {error}", file=path, hint="Restore a copy") from error
        self.version = self.sheet.digest[:16]

    @property
    def name(self) -> str:
        """Its name for commands: benchmark/name."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @classmethod
    def make(cls, path: str | Path, sheet: Sheet, seats: Seats) -> Votes:
        """Write a new study. Raises PunchlineError if the file exists."""
        path = Path(path)
        if path.exists():
            raise PunchlineError("the study exists", file=path, hint="Give another --name, or move the file away")
        with closing(sqlite3.connect(":memory:")) as file:
            file.executescript(SCHEMA)
            file.execute("INSERT INTO sheet VALUES (?)", [msgspec.json.encode(sheet)])
            file.executemany("INSERT INTO raters VALUES (?, '')", [[rater] for rater in seats])
            places = [(rater, place, unit) for rater, own in seats.items() for place, unit in enumerate(own, 1)]
            file.executemany("INSERT INTO seats VALUES (?, ?, ?)", places)
            file.commit()
            write_bytes(path, file.serialize())
        return cls(path)

    def check_writable(self) -> None:
        """Raises PunchlineError if votes cannot be written."""
        for place in (self.path, self.path.parent):
            if not os.access(place, os.W_OK):
                raise PunchlineError("votes cannot be written here", file=place, hint=permission_hint(place))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=rw"  # read-only where it may not be written
        with closing(sqlite3.connect(address, uri=True, timeout=20.0)) as file, file:  # a vote waits for another's
            file.execute("PRAGMA synchronous = EXTRA")  # a committed vote survives a crash
            yield file

    def _rows(self, query: str, *values: str | None) -> list[tuple[Any, ...]]:
        with self._open() as file:
            return file.execute(query, values).fetchall()

    def _write(self, query: str, *values: str | int) -> None:
        self.check_writable()
        with self._open() as file:
            file.execute(query, values)

    def raters(self) -> list[str]:
        """Their names, in order."""
        return [name for (name,) in self._rows("SELECT name FROM raters ORDER BY name")]

    def new_secret(self, rater: str) -> str:
        """Give a rater a new secret, which replaces the last one."""
        secret = secrets.token_urlsafe(24)
        self._write("UPDATE raters SET secret = ? WHERE name = ?", sha256(secret.encode()), rater)
        return secret

    def rater_of(self, secret: str) -> str | None:
        """The rater with this secret; None for an unknown one."""
        raters = self._rows("SELECT name FROM raters WHERE secret = ?", sha256(secret.encode()))
        return raters[0][0] if raters else None

    def seats(self, rater: str) -> list[int]:
        """The units of a rater's pages, in order."""
        return [unit for (unit,) in self._rows("SELECT unit FROM seats WHERE rater = ? ORDER BY place", rater)]

    def vote(self, rater: str, unit: int, answers: Mapping[str, str], note: str, pointers: str = "") -> None:
        """Add a vote; it is on disk on return."""
        answers = {**answers, POINTERS: pointers} if pointers else answers
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        insert = "INSERT INTO votes (rater, unit, answers, note, time) VALUES (?, ?, ?, ?, ?)"
        self._write(insert, rater, unit, json.dumps(answers, sort_keys=True), note, now)

    def given(self, rater: str | None = None) -> dict[tuple[str, int], CastVote]:
        """The last vote on every unit by (rater, unit), of one rater or of all, in the order of first votes."""
        query = "SELECT rater, unit, answers, note, time FROM votes WHERE ?1 IS NULL OR rater = ?1 ORDER BY id"
        votes = {}
        for voter, unit, text, note, time in self._rows(query, rater):
            answers = json.loads(text)
            pointers = answers.pop(POINTERS, "")
            votes[voter, unit] = CastVote(voter, unit, answers, note, time, pointers)
        return votes

    def rated(self) -> dict[int, list[CastVote]]:
        """The last votes by unit, of all units without a rater who is yet to vote."""
        given, seats = self.given(), self._rows("SELECT rater, unit FROM seats ORDER BY unit, rater")
        seated = grouped(seats, itemgetter(1)).items()
        return {unit: [given[seat] for seat in rows] for unit, rows in seated if given.keys() >= set(rows)}
