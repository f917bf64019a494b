"""Answers on disk: append-only journals that survive a kill.

One line an answer: {"record": <Response>, "sha256": <its digest>}. Journals are the source; other files are derived.
All journals of a respondent and benchmark are one set of lines: order, file and repetition mean nothing. Of several
answers to a request one that did not fail counts, then the one with the smallest digest.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from punchline.errors import PunchlineError
from punchline.files import replacing
from punchline.paths import journal_lock, shard_journal
from punchline.schema import Record, Response, State, canonical, sha256
from punchline.text import log_line

# At most one fsync in this time; every line reaches the kernel at once, so a kill loses none, and a power cut those of
# this time.
SYNC_S = 0.05
LINE_BYTES = 32 * 2**20  # twice what any engine takes for one reply
PLACES = 2**62  # of items among shards; fits the offset of a file lock


class Line(Record, frozen=True, kw_only=True):
    """One line of the journal."""

    record: Response
    sha256: str


Key = tuple[str, str]  # (request_id, model_key)


class Place(NamedTuple):
    """Position of an answer's line."""

    file: int  # number of the journal
    offset: int
    length: int  # bytes, the newline included
    state: State


class Shard(NamedTuple):
    """One of several jobs that ask a respondent, each about an interval of the sha256 of the items' ids."""

    number: int  # from 1
    of: int

    def __str__(self) -> str:
        return f"{self.number}-of-{self.of}"

    @property
    def interval(self) -> tuple[int, int]:
        """First place, and the one after the last."""
        return (self.number - 1) * PLACES // self.of, self.number * PLACES // self.of

    def has(self, item_id: str) -> bool:
        """True if the item is in the shard's interval."""
        first, end = self.interval
        return first <= int(sha256(item_id.encode())[:16], 16) % PLACES < end

    def journal(self, journal: str) -> str:
        """The file that the shard appends to: of a single job, the respondent's own journal."""
        return journal if self.of == 1 else shard_journal(journal, str(self))


WHOLE = Shard(1, 1)


@contextmanager
def locked(journal: str, shard: Shard = WHOLE) -> Iterator[None]:
    """Hold a shard's interval of a respondent's journals; wait for who holds a part of it.

    A range of bytes of a file next to the journal is locked until the process ends.
    """
    path = Path(journal_lock(journal))
    path.parent.mkdir(parents=True, exist_ok=True)
    first, end = shard.interval
    with path.open("a+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, end - first, first)
        except (BlockingIOError, PermissionError):
            log_line(f"{journal}: waiting for another run that asks")
            fcntl.lockf(file, fcntl.LOCK_EX, end - first, first)
        except OSError as error:
            hint = "Mount the file system with locks, or run on a local disk"
            raise PunchlineError(f"cannot be locked: {error.strerror}", file=path, hint=hint) from error
        yield


_LINE = msgspec.json.Decoder(Line)


def _line(response: Response) -> bytes:
    """An answer's line: canonical JSON of a Line."""
    record = canonical(response)
    return b'{"record":%b,"sha256":"%b"}\n' % (record, sha256(record).encode())


def _index_key(key: Key) -> bytes:
    """32 bytes for a key: a tuple of two strings takes several times the memory."""
    return bytes.fromhex(sha256("\0".join(key).encode()))


def read_lines(stream: IO[bytes], *, file: str | Path) -> Iterator[tuple[int, int, Response | PunchlineError]]:
    """(offset, length in bytes, answer, or what is wrong) of every complete line of a journal.

    A last line without its newline, as a kill leaves it, is complete if nothing else is missing; else it is no line.
    Of a line longer than LINE_BYTES the end is damaged.
    """
    offset, number = 0, 1
    for text in iter(lambda: stream.readline(LINE_BYTES), b""):
        line = text if text.endswith(b"\n") else text + b"\n"
        answer = _parsed(line, file, number)
        if text.endswith(b"\n") or isinstance(answer, Response):
            yield offset, len(line), answer
        offset, number = offset + len(text), number + text.endswith(b"\n")


def _parsed(text: bytes, file: str | Path, number: int) -> Response | PunchlineError:
    try:
        record, what = _LINE.decode(text).record, "the record differs from its sha256"
        if _line(record) == text:
            return record
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = f"not a journal line: {error}"
    hint = "Restore the file (dvc checkout), or delete that line: only its answer is asked again"
    return PunchlineError(what, file=file, line=number, hint=hint)


class Answers:
    """Answers of several journals, read from the files; memory holds their positions, about 250 bytes each.

    An absent journal is empty. Damaged lines are skipped; `damaged` has what is wrong with each.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self.damaged: list[PunchlineError] = []
        self._places, self._files = dict[bytes, Place](), list[int]()
        self.close = weakref.finalize(self, _close, self._files)
        for path in paths:
            with suppress(FileNotFoundError):
                self._load(path, os.open(path, os.O_RDONLY))

    def _load(self, path: str | Path, file: int) -> int:
        """Index a journal's answers and return the end of its last complete line."""
        self._files.append(file)
        number, end = len(self._files) - 1, 0
        with Path(path).open("rb") as stream:
            for offset, length, answer in read_lines(stream, file=path):
                end = offset + length
                if isinstance(answer, Response):
                    self._know(answer, Place(number, offset, length, answer.state))
                else:
                    self.damaged.append(answer)
        return end

    def _know(self, response: Response, place: Place) -> None:
        """Note where an answer is, if it counts."""
        key = _index_key((response.request_id, response.model_key))
        known, failed = self._places.get(key), response.state == "failed"
        if known is None or (failed, response.digest) < (known.state == "failed", self._digest(known)):
            self._places[key] = place

    def _digest(self, place: Place) -> str:
        """The digest at the end of a line."""
        return os.pread(self._files[place.file], 64, place.offset + place.length - len('"}\n') - 64).decode()

    def __contains__(self, key: Key) -> bool:
        return _index_key(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def state(self, key: Key) -> State | None:
        """State of the answer to a key; None if there is none."""
        place = self._places.get(_index_key(key))
        return place and place.state

    def digest(self, key: Key) -> str | None:
        """Digest of the answer to a key; None if there is none."""
        place = self._places.get(_index_key(key))
        return place and self._digest(place)

    def read(self, key: Key) -> Response:
        """The answer to a key. Raises KeyError."""
        place = self._places[_index_key(key)]
        return _LINE.decode(os.pread(self._files[place.file], place.length, place.offset)).record

    def get(self, key: Key) -> Response | None:
        """The answer to a key; None if there is none."""
        return self.read(key) if key in self else None

    def lacks(self, response: Response) -> bool:
        """True if an answer is to be kept that counts nowhere: a failed one only where there is no other."""
        key = response.request_id, response.model_key
        return key not in self or (response.state != "failed" and self.digest(key) != response.digest)

    def check(self) -> None:
        """Raises PunchlineError for a damaged line."""
        if self.damaged:
            raise self.damaged[0]


def _close(files: list[int]) -> None:
    while files:
        os.close(files.pop())


class Journal(Answers):
    """A journal open for writing, and the answers of others: `append` makes one more answer durable.

    Who opens it holds its lock (`locked`). A last line that lacks its newline gets it; a torn one is cut off.
    """

    def __init__(self, path: str | Path, beside: Iterable[str | Path] = ()) -> None:
        self.path = Path(path)
        super().__init__(other for other in beside if Path(other) != self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A linked journal becomes a file of its own: DVC links files of its cache into the project.
        if self.path.is_symlink() or (self.path.exists() and self.path.stat().st_nlink > 1):
            with self.path.open("rb") as shared, replacing(self.path) as copy:
                shutil.copyfileobj(shared, copy)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._number = len(self._files)
        self._end = self._load(path, self._file)
        size = os.fstat(self._file).st_size
        if self._end > size:
            self._write(b"\n")
        elif self._end < size:
            os.ftruncate(self._file, self._end)
        self._synced = time.monotonic()

    def append(self, response: Response) -> None:
        """Append an answer. It is in the kernel on return, and on disk at the next group commit.

        An answer too long for a line is recorded as failed, without its text.
        """
        line = _line(response)
        if len(line) > LINE_BYTES:
            reason = f"the answer is longer than {LINE_BYTES:,} bytes"
            response = msgspec.structs.replace(response, state="failed", text=None, reason=reason, effective={})
            line = _line(response)
        self._write(line)
        self._know(response, Place(self._number, self._end, len(line), response.state))
        self._end += len(line)
        if time.monotonic() - self._synced >= SYNC_S:
            self.sync()

    def _write(self, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            what, hint = f"no answer can be written: {error.strerror}", "Make room and run again: answers are kept"
            raise PunchlineError(what, file=self.path, hint=hint) from error

    def sync(self) -> None:
        """Flush all appended answers to the disk."""
        os.fsync(self._file)
        self._synced = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.sync()
        self.close()
