"""The fetch log, and the lock: digests of first fetches."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from punchline.errors import PunchlineError
from punchline.fetch.manifests import LOCK_COLUMNS, Lock, Pin, check_place
from punchline.fetch.web import valid_reason
from punchline.files import csv_text, write_bytes
from punchline.schema import FetchEntry

AVAILABILITY_COLUMNS = ("source", "n", "ok", "missing", "reason", "n_reason", "first", "last")


def read_ledger(path: Path) -> list[FetchEntry]:
    """Entries of a ledger, one for each comic: the last one written counts. A torn last line is left out.

    Raises PunchlineError with file and line for any other line that is no entry.
    """
    content = path.read_bytes() if path.exists() else b""
    decoder = msgspec.json.Decoder(FetchEntry)
    entries: dict[str, FetchEntry] = {}
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            entry = decoder.decode(line)
            if entry.reason is not None and not valid_reason(entry.reason):
                raise msgspec.ValidationError(f"reason {entry.reason!r} is not in the vocabulary")
            check_place(entry.path, file=path, line=number, record=entry.item_id, field="path")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            hint = "Delete the line: its comic is then looked at again; delete the file to look at all again"
            raise PunchlineError(f"not a ledger entry: {error}", file=path, line=number, hint=hint) from error
        entries[entry.item_id] = entry
    return list(entries.values())


@contextmanager
def journal_of(path: Path) -> Iterator[io.FileIO]:
    """The ledger, open for whole lines at its end; a torn last line is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        file.seek(0)
        file.truncate(file.readall().rfind(b"\n") + 1)
        yield file


def availability(entries: Iterable[FetchEntry]) -> list[dict[str, Any]]:
    """Rows of availability.csv: for each source one row for each reason, or one row when nothing is missing.

    n, ok and missing count the source's comics and stand in each of its rows; n_reason counts the row's reason. first
    and last are the UTC times of the source's first and last look.
    """
    sources: dict[str, list[FetchEntry]] = defaultdict(list)
    for entry in entries:
        sources[entry.source].append(entry)
    rows = []
    for source, members in sorted(sources.items()):
        reasons = Counter(entry.reason for entry in members if entry.reason)
        times = sorted(entry.fetched_at for entry in members if entry.fetched_at)
        by_frequency: list[tuple[str | None, int]] = [*sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))]
        counts = (len(members), len(members) - reasons.total(), reasons.total())
        first, last = (times[0], times[-1]) if times else (None, None)
        for row in by_frequency or [(None, 0)]:
            rows.append(dict(zip(AVAILABILITY_COLUMNS, (source, *counts, *row, first, last), strict=True)))
    return rows


def availability_text(entries: Iterable[FetchEntry]) -> str:
    """availability.csv of the entries."""
    return csv_text(AVAILABILITY_COLUMNS, availability(entries))


def to_be_locked(entry: FetchEntry, pins: Mapping[str, Pin]) -> bool:
    """Bytes that no manifest pins, or that were taken in place of those it pins; those of another pin are neither."""
    pin = pins.get(entry.item_id)
    instead = pin is not None and pin.sha256 != entry.sha256 and pin.sha256 in (entry.note or "")
    return entry.state == "ok" and (pin is None or instead)


def lock_line(entry: FetchEntry, lock: Path | None) -> Lock:
    assert entry.path and entry.sha256 and entry.bytes and entry.width and entry.height
    folder = lock.parent.name if lock else ""
    mirror = str(PurePosixPath(folder, "images", Path(entry.path).name))
    picture = {name: getattr(entry, name) for name in ("sha256", "bytes", "width", "height")}
    return Lock(comic_id=entry.item_id, url=entry.url or "", mirror=mirror, **picture)


def write_lock(path: Path, lines: Mapping[str, Lock]) -> None:
    if lines or path.exists():
        rows = [msgspec.structs.asdict(line) for _, line in sorted(lines.items())]
        write_if_new(path, csv_text(LOCK_COLUMNS, rows).encode())


def write_if_new(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        write_bytes(path, content)
