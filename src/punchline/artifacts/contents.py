"""Digests of the content that matters in files whose bytes say more."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from punchline.core.storage import digests_in, rows_in
from punchline.files import PART, parse_csv
from punchline.journal import Answers
from punchline.paths import RECORD
from punchline.schema import digest_of, digest_of_all
from punchline.workflow import digests

INDEXED = ("request_id", "model_key", "digest")  # columns of an index


def printed(file: str, table: str) -> Any:
    """Values that a paper prints in one table."""
    return [cells for cells in _printed(Path(file).read_bytes(), file) if cells["table"] == table]


@functools.lru_cache(maxsize=8)  # a file holds many tables
def _printed(content: bytes, file: str) -> list[dict[str, str]]:
    return [cells for _, cells in parse_csv(content, ("table",), file=file)]


def best_shortcuts(file: str, table: Any) -> list[dict[str, str]]:
    """The best shortcut of each row and column of a table; `file`: the shortcuts.csv of its benchmark."""
    best: dict[tuple[str, str], dict[str, str]] = {}
    for _, line in parse_csv(Path(file).read_bytes(), ("table", "row", "metric", "value"), file=file):
        if line["table"] == table.name:
            sign = -1 if table.better(line["metric"]) == "lower" else 1
            place = line["row"], line["metric"]
            best[place] = max(best.get(place, line), line, key=lambda one: sign * float(one["value"]))
    return list(best.values())


def behind_shortcuts(file: str, table: Any) -> list[str]:
    """Notes on models that are not above the best shortcut of a row, by the first column that has one."""
    first = {line["row"]: line for line in reversed(best_shortcuts(file, table))}
    return [
        f"Not above the shortcut {line['shortcut']} ({line['metric']} {float(line['value']):.3f}"
        f"{', ' + row if row else ''}) by the paired interval: {line['not_above']}."
        for row, line in reversed(first.items())
        if line["not_above"]
    ]


def answers_in(path: str | Path) -> str:
    """One digest of all records of a table."""
    return str(digests.cached("answers", path, lambda: digest_of_all(digests_in(path))))


def counted(index: str, journals: Sequence[str]) -> str | None:
    """Reason why an index differs from what the journals give now; None if it does not."""
    if not Path(journals[0]).is_file():  # lineages name it
        return f"{journals[0]} is gone"
    state = digest_of([digests.of_file(path) if Path(path).is_file() else "" for path in journals])
    lost, others = digests.cached(f"answers {state}", index, lambda: _counted(index, journals))
    if others:
        return f"{others:,} other answers count in {journals[0]}"
    return f"{lost:,} answers are lost from {journals[0]}" if lost else None


def _counted(index: str, journals: Sequence[str]) -> tuple[int, int]:
    """Numbers of answers of an index that no journal holds, and of those replaced by other answers."""
    with closing(Answers(journals)) as log:
        digests_now = [(log.digest((one, key)), digest) for one, key, digest in rows_in(index, INDEXED)]
    return sum(now is None for now, _ in digests_now), sum(now not in (None, digest) for now, digest in digests_now)


def listed_files(path: str | Path) -> list[str]:
    """The files of a report, from the list next to its first page."""
    return [f"{Path(path).parent.as_posix()}/{name}" for name in json.loads(Path(path).read_bytes())]


def files_beside(path: str | Path) -> list[str]:
    """The other files of a folder that one job writes, but records of how they were made, and what a kill left."""
    folder = Path(path).parent
    files = (file for file in folder.iterdir() if file.is_file() and file != Path(path)) if folder.is_dir() else ()
    return sorted(file.as_posix() for file in files if not file.name.endswith((RECORD, PART)))
