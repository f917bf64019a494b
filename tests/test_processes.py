"""Processes that end with their parent or owner, and one whose output nobody takes."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.ran import ran

from punchline.files import write_text
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


def test_one_that_waits_for_a_lock_of_its_own_ends_with_its_parent() -> None:
    command = ["sh", "-c", '"$0" -c "$1"; true', sys.executable, HANGS]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    process = psutil.Process(int(parent.stdout.readline()))
    with pytest.raises(psutil.TimeoutExpired):
        process.wait(0.6)
    parent.kill()
    parent.wait()
    process.wait(20)


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


FULL = "error: No space left on device\n"


@pytest.mark.parametrize(("output", "said"), [("| true", ""), (">&-", ""), (">/dev/full", FULL)])
def test_a_command_whose_output_nobody_takes(root: Path, tmp_path: Path, output: str, said: str) -> None:
    write_text(tmp_path / "Snakefile", "")
    (tmp_path / "data").mkdir()
    for name in ("config", "data/demo", "data/manifests"):
        (tmp_path / name).symlink_to(root / name)
    command = [sys.executable, "-m", "punchline.cli", "tables"]
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    done = ran("bash", "-c", f'"$@" {output}', "bash", *command, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (bool(said), said)
