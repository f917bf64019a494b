"""A child process that ends with its owner, however the owner ends, kill -9 included; its children too.

Between the two stands the leash: this file, run as a program of its own. It holds one end of a pipe whose other end
only the owner has. When the pipe closes (the owner closed it, or is dead) the leash ends the child and every process
that came from it. It is Linux's child subreaper: a descendant stays below the leash though its parent died or it took a
session of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from subprocess import DEVNULL, PIPE, STDOUT, Popen
from typing import IO

import psutil


def on_leash(command: Sequence[str], env: Mapping[str, str], log: IO[bytes], grace: float = 8.0) -> Popen[bytes]:
    """Start a command whose output goes to `log`; `grace`: seconds it has to end by itself.

    The process returned is the leash. It ends when the command has ended and nothing is left of it, with the command's
    status (128 + n after signal n). Closing its stdin ends the command. Raises OSError where nothing can be started.
    """
    started = [sys.executable, "-I", "-B", __file__, str(grace), *command]
    # A session of its own: Ctrl-C is the owner's.
    return Popen(started, stdin=PIPE, stdout=log, stderr=STDOUT, env=dict(env), start_new_session=True)


def let_go(leash: Popen[bytes]) -> int:
    """End what is on the leash; return its status once nothing is left of it."""
    assert leash.stdin is not None
    with contextlib.suppress(OSError):
        leash.stdin.close()
    return leash.wait()


def descendants(pid: int) -> list[int]:
    """Process ids of all that came from a process and live; empty where there is none."""
    below: list[int] = []
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                below += [process.pid] if process.status() != psutil.STATUS_ZOMBIE else []
    return below


def _end(grace: float) -> None:
    """TERM, then KILL until nothing of this process's descendants is left."""
    number, until = signal.SIGTERM, time.monotonic() + grace
    while left := descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        while number == signal.SIGTERM and descendants(os.getpid()) and time.monotonic() < until:
            time.sleep(0.05)
        number = signal.SIGKILL
        time.sleep(0.05)


def main() -> None:
    """The leash: argv is the grace in seconds, then the command."""
    grace, command = float(sys.argv[1]), sys.argv[2:]
    with contextlib.suppress(OSError, AttributeError):  # not on Linux
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    child = Popen(command, stdin=DEVNULL, start_new_session=True)

    end = functools.partial(_end, grace)

    def watch() -> None:
        while os.read(0, 4096):
            pass
        end()

    # A batch system's or shutdown's TERM to all processes means the child too.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: threading.Thread(target=end).start())
    threading.Thread(target=watch).start()
    result = 0
    with contextlib.suppress(ChildProcessError):  # raised when no child is left, adopted ones included
        while True:
            pid, status = os.wait()
            if pid == child.pid:
                result = os.waitstatus_to_exitcode(status)
                threading.Thread(target=end).start()  # what it has left behind
    os._exit(result if result >= 0 else 128 - result)  # the watcher may still be reading


if __name__ == "__main__":
    main()
