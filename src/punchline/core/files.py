"""Files: written whole or not at all. Only the standard library: environments of engines import this too."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from punchline.core.errors import PunchlineError

PART = ".part"  # ends the names of files that are being written, or that killed processes left


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to that takes `path`'s place when the block ends well, and vanishes when it does not.

    Temporary file in the same folder, fsync, rename, fsync of the folder. What a killed process left there goes too.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent.resolve())
    handle, temporary = _temporary(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)
            Path(temporary).replace(path)
        sync(path.parent)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk: the system does not say which file
            error.filename = str(path)
        raise


def sync(path: Path) -> None:
    """What a file holds, or a folder with its names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _temporary(path: Path) -> tuple[int, str]:
    """(descriptor, name) of a new temporary file, locked as long as it is open: that keeps it from being swept."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
        with suppress(OSError):  # a file system without locks: there nothing is swept either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # swept between its making and its locking


@cache  # once a process and folder: a sweep reads the whole folder
def _sweep(folder: Path) -> None:
    """Remove temporary files that no process has open: killed ones left them."""
    for leftover in folder.glob(f".*{PART}"):
        try:
            handle = os.open(leftover, os.O_RDWR)
        except OSError:  # its writer has just ended
            continue
        with suppress(OSError):  # locked: somebody writes it
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink(missing_ok=True)
        os.close(handle)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: str | Path, content: str) -> None:
    """Write a UTF-8 file whole or not at all."""
    write_bytes(path, content.encode())


@contextmanager
def new_folder(path: Path, way_out: str) -> Iterator[Path]:
    """A folder to make and fill that becomes `path` when the block ends well: whole or not at all.

    Raises PunchlineError where something lies there, in the end too: another command may have put it there meanwhile.
    """

    def taken() -> bool:
        return path.exists() and (not path.is_dir() or any(path.iterdir()))

    there = PunchlineError("it is there and not an empty folder", file=path, way_out=way_out)
    if taken():
        raise there
    whole = path.resolve()
    whole.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{whole.name}.", dir=whole.parent) as parent:
        part = Path(parent) / whole.name
        yield part
        try:
            part.replace(whole)
        except OSError as error:
            if taken():
                raise there from error
            raise
    sync(whole.parent)


def sha256_file(path: str | Path) -> str:
    """Hexadecimal sha256 of a file's bytes, read in blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
