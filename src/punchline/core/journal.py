"""Answers on disk: an append-only journal that survives a kill, and the snapshot made from it.

One line an answer: {"record": <Response>, "sha256": <its digest>}. The journal is the state; all else is a view.
"""

from __future__ import annotations

import fcntl
import io
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from punchline.core.errors import PunchlineError
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
PLACE = 3 + LINE_BYTES.bit_length()  # bits of a length and a state
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


class Journal:
    """An open journal, the keys that it has an answer for: `read` gives the latest, `append` makes one more durable.

    Memory holds where an answer lies, in some 200 bytes; the answer stays on disk. One writer at a time: a second one
    gets a PunchlineError at once.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise PunchlineError(
                "another run is writing to this journal", file=path, way_out="Wait for it to end, then run again"
            ) from error
        self._places: dict[str, dict[bytes, int]] = {}  # {model key: {request id: offset, length and state in one}}
        self._end = 0
        try:
            with self.path.open("rb") as stream:
                for offset, length, response in read_lines(stream, file=path):
                    self._know(response, offset, length)
            if self._end < os.fstat(self._file).st_size:
                os.ftruncate(self._file, self._end)
        except BaseException:
            os.close(self._file)
            raise
        self._synced, self._window = time.monotonic(), GROUP_COMMIT_S[1]

    def _know(self, response: Response, offset: int, length: int) -> None:
        places = self._places.setdefault(response.model_key, {})
        places[_short(response.request_id)] = offset << PLACE | length << 3 | STATES.index(response.state)
        self._end = offset + length

    def _place(self, key: Key) -> int | None:
        return self._places.get(key[1], {}).get(_short(key[0]))

    def __contains__(self, key: Key) -> bool:
        return self._place(key) is not None

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def state(self, key: Key) -> State | None:
        """State of the latest answer for a key; None where there is none."""
        place = self._place(key)
        return None if place is None else STATES[place & 7]

    def read(self, key: Key) -> Response:
        """The latest answer for a key that is there."""
        place = self._place(key)
        if place is None:
            raise KeyError(key)
        text = os.pread(self._file, place >> 3 & (1 << PLACE - 3) - 1, place >> PLACE)
        return _LINE.decode(text).record

    def append(self, response: Response) -> None:
        """Add an answer. It is in the kernel when this returns, and on disk at the next group commit.

        One that is too long for a line is journalled as failed, without its text.
        """
        line = _line(response)
        if len(line) > LINE_BYTES:
            reason = f"the answer is longer than {LINE_BYTES:,} bytes"
            response = msgspec.structs.replace(response, state="failed", text=None, reason=reason, effective={})
            line = _line(response)
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
        self._know(response, self._end, len(line))
        if time.monotonic() - self._synced >= self._window:
            self.sync()

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
        os.close(self._file)
