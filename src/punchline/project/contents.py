"""What counts in files whose bytes say more than a result hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from punchline.core.records import LedgerEntry, digest_of_all
from punchline.core.storage import digests_in, parse_csv
from punchline.project import digests


def ledger_content(entries: Sequence[LedgerEntry]) -> Any:
    """A ledger without when and from where: those differ from machine to machine."""
    return [(e.item_id, e.state, e.reason, e.path, e.sha256) for e in entries]


def printed(file: str, table: str) -> Any:
    """What a paper prints in one table."""
    rows = parse_csv(Path(file).read_bytes(), ("table",), file=file)
    return [cells for _, cells in rows if cells["table"] == table]


def answers_in(path: str | Path) -> str:
    """One digest of all records of a table."""
    return str(digests.cached("answers", path, lambda: digest_of_all(digests_in(path))))
