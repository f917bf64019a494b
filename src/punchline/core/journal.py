"""Answers on disk: an append-only journal that survives a kill, and the snapshot made from it.

One line an answer: {"record": <Response>, "sha256": <its digest>}. The journal is the state; all else is a view.
"""

from __future__ import annotations

import fcntl
import io
import os
import sqlite3
import time
import weakref
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

import msgspec

from punchline.core.errors import PunchlineError
from punchline.core.files import replacing
from punchline.core.records import STATES, Record, Response, State, canonical, sha256

# At most one fsync in this time, by how long the last one took; every line reaches the kernel at once, so a kill loses
# none, and a power cut those of this time. Ten times the fsync: it takes a tenth of the time at most.
GROUP_COMMIT_S = (0.01, 0.05)
COMMITS_SHARE = 0.1
LINE_BYTES = 32 * 2**20  # twice what any engine takes for one reply


class Line(Record, frozen=True, kw_only=True):
    """One line of the journal."""

    record: Response
    sha256: str


Key = tuple[str, str]  # (request_id, model_key)
INDEX = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -32768;
CREATE TABLE places (model INT, request BLOB, file INT, place INT, length INT, state INT, PRIMARY KEY (model, request))
WITHOUT ROWID;
BEGIN;
"""
LOOK_UP = "SELECT file, place, length, state FROM places WHERE model = ? AND request = ?"


class Place(NamedTuple):
    """Where an answer lies."""

    file: int
    offset: int
    length: int  # bytes
    state: State


_LINE = msgspec.json.Decoder(Line)


def _line(response: Response) -> bytes:
    """An answer's line: canonical JSON of a Line."""
    record = canonical(response)
    return b'{"record":%b,"sha256":"%b"}\n' % (record, sha256(record).encode())


def _short(request_id: str) -> bytes:
    """A request id, which is a sha256, in half its characters; any other one in one more than it has."""
    try:
        return bytes.fromhex(request_id) if len(request_id) == 64 else b"?" + request_id.encode()
    except ValueError:
        return b"?" + request_id.encode()


def read_lines(stream: IO[bytes], *, file: str | Path) -> Iterator[tuple[int, int, Response]]:
    """(offset, length in bytes, answer) of every whole line of a journal.

    A last line without its end is a write that a kill cut off: it is left out. Raises PunchlineError, with file and
    line, for any other line that is not what was written.
    """
    offset = 0
    for number, text in enumerate(iter(lambda: stream.readline(LINE_BYTES + 1), b""), start=1):
        if len(text) > LINE_BYTES:
            raise _damaged(file, number, f"longer than {LINE_BYTES:,} bytes, which no line is")
        if not text.endswith(b"\n"):
            return
        try:
            line = _LINE.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _damaged(file, number, f"not a journal line: {error}") from error
        if _line(line.record) != text:
            raise _damaged(file, number, "the record differs from its sha256")
        yield offset, len(text), line.record
        offset += len(text)


def parse_journal(content: bytes, *, file: str | Path) -> tuple[dict[Key, Response], int]:
    """The latest answer for every key, and how many bytes of whole lines there are. Raises as `read_lines`."""
    answers: dict[Key, Response] = {}
    whole = 0
    for offset, length, record in read_lines(io.BytesIO(content), file=file):
        answers[record.request_id, record.model_key] = record
        whole = offset + length
    return answers, whole


def _damaged(file: str | Path, line: int, what: str) -> PunchlineError:
    return PunchlineError(
        what,
        file=file,
        line=line,
        way_out="Restore the file (dvc checkout), or delete that line: only its answer is asked again",
    )


class Answers:
    """The answers of some journals, by an index on disk: memory is the same for a thousand and for ten million.

    Of several answers for a key the latest of a journal counts; of several journals' the first that did not fail.
    Journals that are not there hold none. Raises as `read_lines`.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._index = sqlite3.connect("", isolation_level=None, check_same_thread=False)  # a file that goes with it
        self._index.executescript(INDEX)
        self._models: dict[str, int] = {}
        self._files: list[int] = []
        self._close = weakref.finalize(self, _close, self._index, self._files)
        for path in paths:
            self._beside(path)

    def _beside(self, path: str | Path) -> None:
        with suppress(FileNotFoundError):
            self._files.append(os.open(path, os.O_RDONLY))
            self._load(path, len(self._files) - 1)

    def _load(self, path: str | Path, file: int) -> int:
        """Know a journal's answers; how many bytes its whole lines take."""
        end = 0
        with Path(path).open("rb") as stream:
            for offset, length, response in read_lines(stream, file=path):
                end = offset + length
                place = self._place((response.request_id, response.model_key)) if file else None
                if place is None or place.file == file or place.state == "failed" != response.state:
                    self._know(response, offset, length, file)
        return end

    def _know(self, response: Response, offset: int, length: int, file: int) -> None:
        model = self._models.setdefault(response.model_key, len(self._models))
        row = (model, _short(response.request_id), file, offset, length, STATES.index(response.state))
        try:
            self._index.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise PunchlineError(
                f"where answers lie cannot be noted: {error}",
                way_out="Make room where temporary files are, or name another folder by SQLITE_TMPDIR, and run again",
            ) from error

    def _place(self, key: Key) -> Place | None:
        model = self._models.get(key[1])
        if model is None:
            return None
        row = self._index.execute(LOOK_UP, (model, _short(key[0]))).fetchone()
        return None if row is None else Place(row[0], row[1], row[2], STATES[row[3]])

    def __contains__(self, key: Key) -> bool:
        return self._place(key) is not None

    def __len__(self) -> int:
        return int(self._index.execute("SELECT count(*) FROM places").fetchone()[0])

    def state(self, key: Key) -> State | None:
        """State of the answer for a key; None where there is none."""
        place = self._place(key)
        return None if place is None else place.state

    def read(self, key: Key) -> Response:
        """The answer for a key that is there."""
        place = self._place(key)
        if place is None:
            raise KeyError(key)
        return _LINE.decode(os.pread(self._files[place.file], place.length, place.offset)).record

    def get(self, key: Key) -> Response | None:
        """The answer for a key; None where there is none."""
        return self.read(key) if key in self else None

    def lines(self, keep: Container[Key] | None = None) -> Iterator[bytes]:
        """The lines that count, with `keep` of those keys only, in the order in which they were written."""
        order = "SELECT file, place, length FROM places ORDER BY file, place"
        for file, offset, length in self._index.execute(order):
            text = os.pread(self._files[file], length, offset)
            if keep is not None:
                answer = _LINE.decode(text).record
                if (answer.request_id, answer.model_key) not in keep:
                    continue
            yield text

    def close(self) -> None:
        """Nothing can be read any more."""
        self._close()


def _close(index: sqlite3.Connection, files: list[int]) -> None:
    index.close()
    while files:
        os.close(files.pop())


class Journal(Answers):
    """An open journal, and what lies in others beside it: `append` makes one more answer durable.

    One writer at a time: a second one gets a PunchlineError at once.
    """

    def __init__(self, path: str | Path, beside: Iterable[str | Path] = ()) -> None:
        super().__init__(())
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._files.append(self._file)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise PunchlineError(
                "another run is writing to this journal", file=path, way_out="Wait for it to end, then run again"
            ) from error
        try:
            self._end = self._load(path, 0)
            if self._end < os.fstat(self._file).st_size:
                os.ftruncate(self._file, self._end)
            for other in beside:
                self._beside(other)
        except BaseException:
            self.close()
            raise
        self._synced, self._window = time.monotonic(), GROUP_COMMIT_S[1]

    def append(self, response: Response) -> None:
        """Add an answer. It is in the kernel when this returns, and on disk at the next group commit.

        One that is too long for a line is journalled as failed, without its text.
        """
        line = _line(response)
        if len(line) > LINE_BYTES:
            reason = f"the answer is longer than {LINE_BYTES:,} bytes"
            response = msgspec.structs.replace(response, state="failed", text=None, reason=reason, effective={})
            line = _line(response)
        self._write(line)
        self._know(response, self._end, len(line), 0)
        self._end += len(line)
        if time.monotonic() - self._synced >= self._window:
            self.sync()

    def _write(self, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            raise PunchlineError(
                f"no answer can be written: {error.strerror}",
                file=self.path,
                way_out="Make room and run again: what was answered before is kept",
            ) from error

    def take(self, path: str | Path) -> int:
        """Take over the answers of another journal that this one lacks, or holds as failed; how many those are.

        All of them are on disk when this returns. Raises PunchlineError for a journal that somebody writes to, and as
        `read_lines`.
        """
        taken = 0
        with Path(path).open("rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError as error:
                raise PunchlineError(
                    "somebody writes to this journal", file=path, way_out="Wait for its end"
                ) from error
            other = Answers([path])
            for line in other.lines():
                response = _LINE.decode(line).record
                state = self.state((response.request_id, response.model_key))
                if state is None or (state == "failed" != response.state):
                    self.append(response)
                    taken += 1
            other.close()
        self.sync()
        return taken

    def sync(self) -> None:
        """Group commit."""
        began = time.monotonic()
        os.fsync(self._file)
        self._synced = time.monotonic()
        least, most = GROUP_COMMIT_S
        self._window = min(most, max(least, (self._synced - began) / COMMITS_SHARE))

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.sync()
        self.close()


def compact(path: str | Path, keep: Container[Key] | None = None) -> tuple[int, int]:
    """Rewrite a journal without lines that later ones stand for, and, with `keep`, of no other keys.

    (Bytes before, bytes after.) Raises PunchlineError for a journal that somebody writes to, or that is damaged.
    """
    with Journal(path) as journal:
        before = Path(path).stat().st_size
        after = sum(map(len, journal.lines(keep)))
        if after < before:
            with replacing(path) as file:
                file.writelines(journal.lines(keep))
        return before, after
