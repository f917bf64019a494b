"""Digests of files, cached by size, times and inode, as DVC does.

The cache (.punchline/digests.json) is local and untracked. Without it every digest is computed again. An audit does
not use it.
"""

from __future__ import annotations

import atexit
import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from punchline.files import sha256_file, write_bytes

FOLDER = Path(".punchline")

_JUST_NOW_NS = 2_000_000_000  # a file changed less than this ago may change again within its time stamp's resolution


_Known = dict[str, tuple[list[int], Any]]  # (state of a file, result) by kind and path


@functools.cache
def _cache(root: Path) -> _Known:
    """The cache of a project, which is saved when this process ends."""
    file, known = root / FOLDER / "digests.json", _Known()
    # none yet, or damaged: computed again
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        known = msgspec.json.decode(file.read_bytes(), type=_Known)
    atexit.register(_save, file, known, dict(known))
    return known


def _save(file: Path, known: _Known, before: _Known) -> None:
    """Write the cache if it has changed. In a read-only folder this does nothing."""
    if known != before and file.parent.parent.is_dir():
        with suppress(OSError):
            write_bytes(file, msgspec.json.encode(known))


_afresh: list[_Known] = []  # caches of the blocks of `afresh` that have not ended


@contextmanager
def afresh() -> Iterator[None]:
    """Compute every digest within the block: a forger of a table can forge the cache too."""
    _afresh.append({})
    try:
        yield
    finally:
        _afresh.pop()


def state(path: str | Path) -> list[int]:
    """Size, times and inode of a file. Writing sets the change time, which no program can set back. Raises OSError."""
    status = Path(path).stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def cached(kind: str, path: str | Path, compute: Callable[[], Any]) -> Any:
    """The JSON result of `compute` for a file, cached until the file changes. Raises OSError."""
    now = state(path)
    known = _afresh[-1] if _afresh else _cache(Path.cwd())
    name = f"{kind}:{path}"
    if name in known and known[name][0] == now:
        return known[name][1]
    value = msgspec.json.decode(msgspec.json.encode(compute()))
    if time.time_ns() - max(now[1:3]) > _JUST_NOW_NS:
        known[name] = (now, value)
    return value


def of_file(path: str | Path) -> str:
    """sha256 of a file's bytes. Raises OSError."""
    return str(cached("sha256", path, lambda: sha256_file(path)))
