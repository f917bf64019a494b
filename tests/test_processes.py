"""A process that hangs when its parent is gone ends all the same."""

import os
import subprocess
import sys
import time

HANGS = """
import os, threading
from punchline.workflow.processes import end_with_parent
end_with_parent(0.2)
print(os.getpid(), flush=True)
lock = threading.Lock()
lock.acquire()
lock.acquire()
"""


def ends(pid: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_one_that_waits_for_a_lock_of_its_own_ends_with_its_parent() -> None:
    parent = subprocess.Popen(
        ["sh", "-c", '"$0" -c "$1"; true', sys.executable, HANGS], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not ends(pid, 0.6)
    parent.kill()
    parent.wait()
    assert ends(pid, 20)
