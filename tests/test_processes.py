"""Processes that end with their parent or owner."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from punchline.workflow.processes import OWNER

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


def test_a_job_ends_with_its_owner(root: Path) -> None:
    owner = subprocess.Popen(["sleep", "60"])
    code = "import time; from punchline.workflow.processes import end_with_owner; end_with_owner(); time.sleep(60)"
    environment = {OWNER: str(owner.pid), "PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"}
    result = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    with pytest.raises(subprocess.TimeoutExpired):
        result.wait(timeout=3)
    owner.kill()
    owner.wait()
    output = result.communicate(timeout=30)[1]
    assert result.returncode == -15 and output.startswith("stopped: the run that this job belongs to is gone")
