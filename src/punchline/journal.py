"""Answers on disk: append-only journals that survive a kill.

One line an answer: {"record": <Response>, "sha256": <its digest>}. Journals are the source; other files are derived.
"""

from __future__ import annotations

import fcntl
import io
import os
import struct
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

import msgspec

from punchline.errors import PunchlineError
from punchline.schema import STATES, Record, Response, State, canonical, sha256

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
PLACE = struct.Struct(">HQIB")  # a Place in 15 bytes, which sort by file and offset


class Place(NamedTuple):
    """Position of an answer's line."""

    file: int  # number of the journal
    offset: int
    length: int  # bytes, the newline included
    state: State


_LINE = msgspec.json.Decoder(Line)


def _line(response: Response) -> bytes:
    """An answer's line: canonical JSON of a Line."""
    record = canonical(response)
    return b'{"record":%b,"sha256":"%b"}\n' % (record, sha256(record).encode())


def _index_key(key: Key) -> bytes:
    """32 bytes for a key: a tuple of two strings takes several times the memory."""
    return bytes.fromhex(sha256("\0".join(key).encode()))


def read_lines(stream: IO[bytes], *, file: str | Path) -> Iterator[tuple[int, int, Response]]:
    """(offset, length in bytes, answer) of every complete line of a journal.

    A last line without its newline, as a kill leaves it, is skipped. Raises PunchlineError with file and line for any
    other damaged line.
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
    """The latest answer for every key, and the bytes of all complete lines. Raises as `read_lines`."""
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
        hint="Restore the file (dvc checkout), or delete that line: only its answer is asked again",
    )


class Answers:
    """Answers of several journals, read from the files; memory holds their positions, about 170 bytes each.

    Of several answers to a key the latest of a journal counts, and of several journals the first that did not fail.
    An absent journal is empty. Raises as `read_lines`.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._places: dict[bytes, bytes] = {}
        self._files: list[int] = []
        self._close = weakref.finalize(self, _close, self._files)
        for path in paths:
            self._beside(path)

    def _beside(self, path: str | Path) -> None:
        with suppress(FileNotFoundError):
            self._files.append(os.open(path, os.O_RDONLY))
            self._load(path, len(self._files) - 1)

    def _load(self, path: str | Path, file: int) -> int:
        """Index a journal's answers and return the bytes of its complete lines."""
        end = 0
        with Path(path).open("rb") as stream:
            for offset, length, response in read_lines(stream, file=path):
                end = offset + length
                place = self._place((response.request_id, response.model_key)) if file else None
                if place is None or place.file == file or place.state == "failed" != response.state:
                    self._know(response, offset, length, file)
        return end

    def _know(self, response: Response, offset: int, length: int, file: int) -> None:
        key = _index_key((response.request_id, response.model_key))
        self._places[key] = PLACE.pack(file, offset, length, STATES.index(response.state))

    def _place(self, key: Key) -> Place | None:
        packed = self._places.get(_index_key(key))
        if packed is None:
            return None
        file, offset, length, state = PLACE.unpack(packed)
        return Place(file, offset, length, STATES[state])

    def __contains__(self, key: Key) -> bool:
        return _index_key(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def state(self, key: Key) -> State | None:
        """State of the answer to a key; None if there is none."""
        place = self._place(key)
        return None if place is None else place.state

    def read(self, key: Key) -> Response:
        """The answer to a key. Raises KeyError."""
        place = self._place(key)
        if place is None:
            raise KeyError(key)
        return _LINE.decode(os.pread(self._files[place.file], place.length, place.offset)).record

    def get(self, key: Key) -> Response | None:
        """The answer to a key; None if there is none."""
        return self.read(key) if key in self else None

    def lines(self) -> Iterator[bytes]:
        """The lines of the answers that count, in the order of writing."""
        for file, offset, length, _ in map(PLACE.unpack, sorted(self._places.values())):
            yield os.pread(self._files[file], length, offset)

    def close(self) -> None:
        """Close the journals."""
        self._close()


def _close(files: list[int]) -> None:
    while files:
        os.close(files.pop())


class Journal(Answers):
    """A journal open for writing, and the answers of others: `append` makes one more answer durable.

    Raises PunchlineError at once if another process writes to it.
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
                "another run is writing to this journal", file=path, hint="Wait for it to end, then run again"
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
        """Append an answer. It is in the kernel on return, and on disk at the next group commit.

        An answer too long for a line is recorded as failed, without its text.
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
                hint="Make room and run again: what was answered before is kept",
            ) from error

    def take(self, path: str | Path) -> int:
        """Append the answers of another journal that are absent or failed here, and return their number.

        All are on disk on return. Raises PunchlineError if a process writes to the other journal, and as `read_lines`.
        """
        taken = 0
        with Path(path).open("rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError as error:
                raise PunchlineError("a process writes to this journal", file=path, hint="Wait for its end") from error
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
        """Flush all appended answers to the disk."""
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
