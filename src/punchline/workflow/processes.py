"""One run at a time in a folder, and jobs that end with their run: Ctrl-C, kill -9, a closed terminal."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import psutil

from punchline.errors import PunchlineError, check_known, permission_hint
from punchline.text import log_line
from punchline.workflow.digests import FOLDER

SELECTION = "PUNCHLINE_SELECTION"  # as JSON: in no command, so that logs can be read
AGAIN = "PUNCHLINE_AGAIN"  # rules and files that somebody asks to make again, as --forcerun names them; `all`
MIRROR = "PUNCHLINE_FETCH_MIRROR"  # where bytes come from is no part of the selection: another mirror reruns nothing
SHARDS = "PUNCHLINE_SHARDS"  # by how many jobs a model or judge is asked; "": as its card says
PICTURES = "PUNCHLINE_PICTURES"  # which pictures a report holds, one of MODES
MODES = ("own", "open", "all")  # each holds what the one before it holds
PUBLIC = "PUNCHLINE_PUBLIC"  # "true": a report holds no annotations whose licence does not allow sharing
OWNER = "PUNCHLINE_OWNER"  # process id of the Snakemake whose jobs these are

_held: list[TextIO] = []  # open until this process ends: the system then lifts the lock, whatever ended it


def pictures_mode(chosen: Any = None) -> str:
    """Which images a report includes: `chosen`, else the environment variable's value. Raises PunchlineError."""
    mode = str(chosen or os.environ.get(PICTURES) or "open")
    check_known(mode, MODES, f"unknown {mode!r}", file="--config", field="pictures")
    return mode


def is_public(chosen: Any = None) -> bool:
    """True if a report may hold only public content: `chosen`, else the environment variable's value.

    Raises PunchlineError, too, for pictures that may not be shared.
    """
    value = str(os.environ.get(PUBLIC) or "false" if chosen is None else chosen).lower()
    if value not in ("true", "false"):
        raise PunchlineError(f"expected true or false, got {value!r}", file="--config", field="public")
    if value == "true" and pictures_mode() == "all":
        what = "pictures=all holds pictures that may not be shared"
        raise PunchlineError(what, file="--config", field="public", hint="Leave out pictures=all")
    return value == "true"


def check_writable() -> None:
    """Raises PunchlineError in a folder where no run can be noted: another user's, or one of a read-only disk."""
    for folder in (Path(), Path(".snakemake"), FOLDER, Path("logs")):
        if folder.is_dir() and not os.access(folder, os.W_OK):
            raise PunchlineError("you may not write here", file=folder.resolve(), hint=permission_hint(folder))


def take_folder() -> bool:
    """Hold the folder until this process ends; False where the file system knows no locks.

    Raises PunchlineError when another run holds it.
    """
    FOLDER.mkdir(exist_ok=True)
    file = (FOLDER / "running").open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        what = f"another run is at work in this folder: process {file.read().strip() or '?'}"
        raise PunchlineError(what, hint="Wait until it is done, or end it with Ctrl-C; answers are kept") from None
    except OSError:
        return False
    file.truncate(0)
    file.write(f"{os.getpid()} on {os.uname().nodename}\n")
    file.flush()
    _held.append(file)
    return True


def at_work() -> str | None:
    """The process that holds the folder, as `123 on host`; None if there is none."""
    try:
        with (FOLDER / "running").open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return (FOLDER / "running").read_text(encoding="utf-8").strip() or "?"
    except OSError:  # no run yet, or a file system without locks
        return None
    return None


def end_with_owner() -> None:
    """From now on, end this process when its owner does. Nothing without an owner in the environment."""

    def end() -> None:
        with suppress(OSError):
            log_line("stopped: the run that this job belongs to is gone; what was answered is kept")
        os.kill(os.getpid(), signal.SIGTERM)

    if owner := int(os.environ.get(OWNER) or 0):
        _after(owner, end)


def end_with_parent(grace_s: float = 10.0) -> None:
    """From now on, end this process soon after its parent, even while it hangs. `grace_s`: to end by itself.

    For Snakemake on a node: its handler of SIGTERM takes a lock that the interrupted code may hold (9.27, seen on SLURM
    when a job was cancelled: the process stayed).
    """

    def end() -> None:
        time.sleep(grace_s)
        os._exit(1)

    _after(os.getppid(), end)


def _after(process: int, act: Callable[[], None]) -> None:
    """Act when a process has ended, in a thread."""

    def wait() -> None:
        with suppress(psutil.NoSuchProcess):
            psutil.Process(process).wait()
        act()

    threading.Thread(target=wait, daemon=True).start()
