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


class _Cache:
    def __init__(self, path: Path | None) -> None:
        self.path = path  # None: kept for this process only
        self.known: dict[str, tuple[list[int], Any]] = {}
        self.changed = False
        if path is None:
            return
        with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):  # none yet, or damaged: computed again
            self.known = msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[list[int], Any]])
        atexit.register(self.save)

    def save(self) -> None:
        """Write new digests. In a read-only folder this does nothing."""
        if self.changed and self.path is not None and self.path.parent.parent.is_dir():
            with suppress(OSError):
                write_bytes(self.path, msgspec.json.encode(self.known))
                self.changed = False


@functools.cache
def _cache(root: Path) -> _Cache:
    return _Cache(root / FOLDER / "digests.json")


_afresh: list[_Cache] = []


@contextmanager
def afresh() -> Iterator[None]:
    """Compute every digest within the block: a forger of a table can forge the cache too."""
    _afresh.append(_Cache(None))
    try:
        yield
    finally:
        _afresh.pop()


def _stat(path: Path) -> list[int]:
    """Size, times and inode of a file. Writing sets the change time, which no program can set back."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def cached(kind: str, path: str | Path, compute: Callable[[], Any]) -> Any:
    """The JSON result of `compute` for a file, cached until the file changes. Raises OSError."""
    path = Path(path)
    stat = _stat(path)
    cache = _afresh[-1] if _afresh else _cache(Path.cwd())
    name = f"{kind}:{path}"
    entry = cache.known.get(name)
    if entry is not None and entry[0] == stat:
        return entry[1]
    value = msgspec.json.decode(msgspec.json.encode(compute()))
    if time.time_ns() - max(stat[1], stat[2]) > _JUST_NOW_NS:
        cache.known[name] = (stat, value)
        cache.changed = True
    return value


def of_file(path: str | Path) -> str:
    """sha256 of a file's bytes. Raises OSError."""
    return str(cached("sha256", path, lambda: sha256_file(path)))
