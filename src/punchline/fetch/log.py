"""The fetch log, and the lock: digests of first fetches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from msgspec import UNSET

from punchline.fetch.manifests import Lock, Pin
from punchline.files import csv_text, decoded
from punchline.grouping import grouped
from punchline.schema import FetchEntry
from punchline.text import without_secret

AVAILABILITY_COLUMNS = ("source", "n", "ok", "missing", "reason", "n_reason", "first", "last")
HINT = "Delete the line: its comic is then looked at again; delete the file to look at all again"


class Missing(Exception):
    """An unavailable file: a reason of schema.REASONS, and details without secrets."""

    def __init__(self, reason: str, note: str | None = None) -> None:
        self.reason, self.note = reason, without_secret(note) if note is not None else None
        super().__init__(f"{reason} ({self.note})" if note else reason)


def read_log(path: Path) -> dict[str, FetchEntry]:
    """{item id: the last entry} of a fetch log. A torn last line is left out.

    Raises PunchlineError with file and line for any other line that is no entry.
    """
    content = path.read_bytes() if path.exists() else b""
    lines = enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1)
    entries = (decoded(line, FetchEntry, "a fetch log entry", path, number, HINT) for number, line in lines)
    return {entry.item_id: entry for entry in entries}


def availability_text(entries: Iterable[FetchEntry]) -> str:
    """Build availability.csv: for each source one row for each reason, or one row when nothing is missing.

    n, ok and missing count the source's comics and are repeated in each of its rows; n_reason counts the row's reason.
    first and last are the UTC times of the source's first and last fetch.
    """
    rows = []
    for source, members in sorted(grouped(entries, lambda entry: entry.source).items()):
        reasons = Counter(sorted(entry.reason for entry in members if entry.reason))
        times = [entry.fetched_at for entry in members if entry.fetched_at]
        counts = (len(members), len(members) - reasons.total(), reasons.total())
        for reason, n in reasons.most_common() or [("", 0)]:
            row = (source, *counts, reason, n, min(times, default=""), max(times, default=""))
            rows.append(dict(zip(AVAILABILITY_COLUMNS, row, strict=True)))
    return csv_text(AVAILABILITY_COLUMNS, rows)


def lock_lines(entries: Iterable[FetchEntry], pins: Mapping[str, Pin], folder: str) -> dict[str, Lock]:
    """Lines of a benchmark's lock: bytes that no manifest pins, or that were accepted in place of those it pins."""
    lines = {}
    for entry in entries:
        pin, page = pins.get(entry.item_id), "" if entry.page is UNSET else entry.page
        is_pinned = pin is not None and page in ("", without_secret(pin.page_url))
        replaced = pin is not None and pin.sha256 != entry.sha256 and pin.sha256 in (entry.note or "")
        if entry.path and entry.own_file is None and (replaced or not is_pinned):
            mirror = str(PurePosixPath(folder, "images", Path(entry.path).name))
            picture = {name: getattr(entry, name) for name in ("sha256", "bytes", "width", "height")}
            lines[entry.item_id] = Lock(
                comic_id=entry.item_id, url=entry.url or "", mirror=mirror, page=page, **picture
            )
    return lines
