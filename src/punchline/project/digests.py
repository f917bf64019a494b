"""Digests of files, each computed once for a size, a time and an inode, as DVC does.

The cache is a convenience on this machine (.punchline/, tracked by nothing): without it every digest is computed again.
An audit does without.
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

from punchline.core.files import sha256_file, write_bytes

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
        """Write what was learnt. A folder that may not be written to loses time, and nothing else."""
        if self.changed and self.path is not None and self.path.parent.parent.is_dir():
            try:
                write_bytes(self.path, msgspec.json.encode(self.known))
            except OSError:
                return
            self.changed = False


@functools.cache
def _cache(root: Path) -> _Cache:
    return _Cache(root / FOLDER / "digests.json")


_afresh: list[_Cache] = []


@contextmanager
def afresh() -> Iterator[None]:
    """Within it every digest is computed: who can write a table can write the cache beside it too."""
    _afresh.append(_Cache(None))
    try:
        yield
    finally:
        _afresh.pop()


def _stat(path: Path) -> list[int]:
    """What changes when a file's bytes do: writing sets its change time, which no program can set back."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def cached(kind: str, path: str | Path, compute: Callable[[], Any]) -> Any:
    """What `compute` gives for a file, as JSON; the same again while the file is the same. Raises OSError."""
    path = Path(path)
    stat = _stat(path)
    cache = _afresh[-1] if _afresh else _cache(Path.cwd())
    name = f"{kind}:{path}"
    found = cache.known.get(name)
    if found is not None and found[0] == stat:
        return found[1]
    value = msgspec.json.decode(msgspec.json.encode(compute()))
    settled = time.time_ns() - max(stat[1], stat[2]) > _JUST_NOW_NS
    if settled and _stat(path) == stat:
        cache.known[name] = (stat, value)
        cache.changed = True
    return value


def of_file(path: str | Path) -> str:
    """sha256 of a file's bytes. Raises OSError."""
    return str(cached("sha256", path, lambda: sha256_file(path)))
