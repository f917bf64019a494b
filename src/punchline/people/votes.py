"""A study's file: its sheet, its raters, who rates what, and every vote. SQLite; a vote is on the disk before it is
answered for.

Votes are only ever added: a rater's last vote on a unit counts. Of a rater's secret the file holds the sha256.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hmac import compare_digest
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from punchline.errors import PunchlineError, permission_hint
from punchline.files import sync
from punchline.schema import Record

PATIENCE_S = 20.0  # that a vote waits for another's
SCHEMA = """
CREATE TABLE sheet (content BLOB NOT NULL) STRICT;
CREATE TABLE raters (name TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT;
CREATE TABLE seats (rater TEXT NOT NULL, place INTEGER NOT NULL, unit INTEGER NOT NULL,
                    PRIMARY KEY (rater, place)) STRICT;
CREATE TABLE votes (id INTEGER PRIMARY KEY AUTOINCREMENT, rater TEXT NOT NULL, unit INTEGER NOT NULL,
                    answers TEXT NOT NULL, note TEXT NOT NULL, time TEXT NOT NULL) STRICT;
CREATE INDEX last_votes ON votes (rater, unit);
"""
OFFERED = (
    "CREATE TABLE IF NOT EXISTS offered (rater TEXT NOT NULL, unit INTEGER NOT NULL, text INTEGER NOT NULL) STRICT"
)


class Shown(Record, frozen=True, kw_only=True):
    """A text and whose it is."""

    source: str
    text: str
    kind: str = ""  # of a draft: what it was drafted as


class Unit(Record, frozen=True, kw_only=True):
    """What is rated on one page."""

    item_id: str
    task: str  # as a ratings file calls it
    texts: tuple[Shown, ...]  # one, or those among which the best is chosen; none where one is written
    context: tuple[tuple[str, str], ...] = ()  # (name, text) shown above
    picture: str = ""  # path from the root
    sha256: str = ""  # of the picture
    blurred: bool | msgspec.UnsetType = msgspec.UNSET  # until the rater asks; not said, a sheet's version stays
    kind: Literal["counts", "practice", "check"] = "counts"
    right: str = ""  # of a check: the value to choose; where the best is chosen the place of the text in `texts`


class Ask(Record, frozen=True, kw_only=True):
    """A question, as study.Question has it."""

    aspect: str
    ask: str


class Sheet(Record, frozen=True, kw_only=True):
    """All that a study shows; its digest is its version."""

    benchmark: str
    study: str  # the declaration's name
    run: str
    models: tuple[str, ...]  # whose answers it shows; other sources were written by people
    seed: int
    title: str
    intro: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    questions: dict[str, tuple[Ask, ...]]
    note: str
    units: tuple[Unit, ...]

    @property
    def best(self) -> bool:
        return not self.options and not self.writing

    @property
    def writing(self) -> bool:
        """Whether texts are written, instead of rated."""
        return not any(unit.texts for unit in self.units)

    @property
    def drafts(self) -> bool:
        """Whether texts are chosen and corrected, instead of rated."""
        return any(shown.kind for unit in self.units for shown in unit.texts)


class Given(NamedTuple):
    """A rater's last vote on a unit."""

    rater: str
    unit: int
    answers: dict[str, str]  # value by aspect
    note: str
    time: str


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class Votes:
    """The file of a study. Raises PunchlineError where it is none, sqlite3.Error where the disk has no more room."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise PunchlineError("no such study", file=path, hint="Make it: punchline rate new STUDY --raters N")
        try:
            with self._open() as file:
                content: bytes = file.execute("SELECT content FROM sheet").fetchone()[0]
            self.sheet = msgspec.json.decode(content, type=Sheet)
        except (sqlite3.DatabaseError, msgspec.DecodeError, TypeError) as error:
            raise PunchlineError(f"no study can be read in it: {error}", file=path, hint="Bring back a copy") from error
        self.version = self.sheet.digest[:16]

    @property
    def name(self) -> str:
        """As commands take it: benchmark/name."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @classmethod
    def make(cls, path: str | Path, sheet: Sheet, seats: Mapping[str, Sequence[int]]) -> Votes:
        """A new study; `seats`: by rater the units in their order. Raises PunchlineError where there is one already."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            hint = "Give the new one another name: --name NAME; or move the file away, with -wal and -shm beside it"
            raise PunchlineError("the study is there already", file=path, hint=hint)
        half = path.with_suffix(".part")
        for leftover in path.parent.glob(f"{half.name}*"):
            leftover.unlink()
        try:
            with closing(sqlite3.connect(half, isolation_level=None)) as file:
                file.executescript(f"PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; BEGIN; {SCHEMA}")
                file.execute("INSERT INTO sheet VALUES (?)", [msgspec.json.encode(sheet)])
                file.executemany("INSERT INTO raters VALUES (?, '')", [[rater] for rater in seats])
                places = [(rater, place, unit) for rater, own in seats.items() for place, unit in enumerate(own, 1)]
                file.executemany("INSERT INTO seats VALUES (?, ?, ?)", places)
                file.execute("COMMIT")
            half.rename(path)
            sync(path.parent)
        except sqlite3.Error as error:
            half.unlink(missing_ok=True)
            raise PunchlineError(f"the study cannot be written: {error}", file=path) from error
        return cls(path)

    def check_writable(self) -> None:
        """Raises PunchlineError where no vote can be written."""
        for place in (self.path, self.path.parent):
            if not os.access(place, os.W_OK):
                raise PunchlineError("no vote may be written here", file=place, hint=permission_hint(place))

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        barred = not all(os.access(place, os.W_OK) for place in (self.path, self.path.parent))
        if write:
            self.check_writable()
        log = Path(f"{self.path}-wal")  # of votes that are not in the file itself yet
        how = "mode=rw" if not barred else "mode=ro" if log.is_file() and log.stat().st_size else "immutable=1"
        with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?{how}", uri=True, timeout=PATIENCE_S)) as file:
            if not barred:
                file.execute("PRAGMA journal_mode = WAL")
                file.execute("PRAGMA synchronous = FULL")  # a committed vote is on the disk, whatever ends this process
            with file:
                yield file

    def raters(self) -> list[str]:
        with self._open() as file:
            return [name for (name,) in file.execute("SELECT name FROM raters ORDER BY name")]

    def new_secret(self, rater: str) -> str:
        """A rater's secret from now on; one of before opens nothing more."""
        secret = secrets.token_urlsafe(24)
        with self._open(write=True) as file:
            file.execute("UPDATE raters SET secret = ? WHERE name = ?", [_hashed(secret), rater])
        return secret

    def rater_of(self, secret: str) -> str | None:
        """Whose secret it is. None: nobody's."""
        given, found = _hashed(secret), None
        with self._open() as file:
            for name, known in file.execute("SELECT name, secret FROM raters"):
                if known and compare_digest(known, given):
                    found = str(name)
        return found

    def seats(self, rater: str) -> list[int]:
        """The units of a rater, in their order."""
        with self._open() as file:
            return [unit for (unit,) in file.execute("SELECT unit FROM seats WHERE rater = ? ORDER BY place", [rater])]

    def offered(self, rater: str) -> dict[int, list[int]]:
        """{unit: the texts among which a rater chooses}, where these are not all."""
        found: dict[int, list[int]] = {}
        with self._open() as file:
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'offered'").fetchone():
                return {}  # a file of before
            for unit, text in file.execute("SELECT unit, text FROM offered WHERE rater = ? ORDER BY text", [rater]):
                found.setdefault(unit, []).append(text)
        return found

    def seat(self, rater: str, units: Sequence[int], offered: Mapping[int, Sequence[int]] | None = None) -> None:
        """One rater more, without a link yet, who chooses among the texts `offered` of a unit, else among all.

        Raises PunchlineError where one is called that.
        """
        texts = [(rater, unit, text) for unit, own in (offered or {}).items() for text in own]
        try:
            with self._open(write=True) as file:
                file.execute(OFFERED)
                file.execute("INSERT INTO raters VALUES (?, '')", [rater])
                file.executemany("INSERT INTO offered VALUES (?, ?, ?)", texts)
                places = [(rater, place, unit) for place, unit in enumerate(units, 1)]
                file.executemany("INSERT INTO seats VALUES (?, ?, ?)", places)
        except sqlite3.IntegrityError as error:
            raise PunchlineError(f"there is a rater {rater} already", file=self.path) from error

    def vote(self, rater: str, unit: int, answers: Mapping[str, str], note: str) -> None:
        """Add a vote; it is on the disk when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        with self._open(write=True) as file:
            file.execute(
                "INSERT INTO votes (rater, unit, answers, note, time) VALUES (?, ?, ?, ?, ?)",
                [rater, unit, json.dumps(answers, sort_keys=True), note, now],
            )

    def given(self, rater: str | None = None) -> dict[tuple[str, int], Given]:
        """The last vote on every unit, of one rater or of all."""
        asked = "SELECT rater, unit, answers, note, time FROM votes WHERE ?1 IS NULL OR rater = ?1 ORDER BY id"
        with self._open() as file:
            rows = file.execute(asked, [rater]).fetchall()
        return {
            (name, unit): Given(name, unit, json.loads(answers), note, time) for name, unit, answers, note, time in rows
        }
