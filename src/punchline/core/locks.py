"""One process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from punchline.core.errors import PunchlineError


@contextmanager
def alone(folder: Path, otherwise: str) -> Iterator[None]:
    """Hold a folder, made where it is not there, against other processes. The system lets go when the process ends,
    however it ends. Raises PunchlineError, with `otherwise`, where another holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PunchlineError(otherwise, file=folder, way_out="Wait for its end") from error
        yield
    finally:
        os.close(handle)
