"""What is on a leash ends with its owner: closed, finished or killed, with children that do not want to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from punchline.engines.vllm.leash import descendants, let_go, on_leash

if sys.platform != "linux":
    pytest.skip("the leash finds processes in /proc", allow_module_level=True)

# A child that ignores TERM, with a grandchild that ignores TERM, and one that took a session of its own.
STUBBORN = """
trap '' TERM
sh -c "trap '' TERM; while :; do sleep 0.1; done" &
setsid sh -c "trap '' TERM; while :; do sleep 0.1; done" &
echo started
while :; do sleep 0.1; done
"""

# An owner that puts a command on a leash and waits; prints the leash's process id.
OWNER = """
import os, sys, time
from punchline.engines.vllm.leash import on_leash
with open(sys.argv[1], "wb") as log:
    leash = on_leash(["sh", "-c", sys.argv[2]], os.environ, log, grace=0.3)
print(leash.pid, flush=True)
time.sleep(600)
"""


def below(leash: int, log: Path) -> list[psutil.Process]:
    """Processes on a leash, all started."""
    while not log.exists() or "started" not in log.read_text() or len(descendants(leash)) < 3:
        time.sleep(0.02)
    return [psutil.Process(pid) for pid in descendants(leash)]


@pytest.mark.parametrize("terminated", [False, True])
def test_closing_ends_children_that_ignore_term(tmp_path: Path, terminated: bool) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        leash = on_leash(["sh", "-c", STUBBORN], os.environ, file, grace=0.3)
    every = below(leash.pid, log)
    if terminated:
        leash.terminate()
        leash.wait(15)
    else:
        assert let_go(leash) == 128 + signal.SIGKILL
    assert not psutil.wait_procs(every, 0.1)[1]
    let_go(leash)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_owner_that_is_killed_takes_everything_along(tmp_path: Path, number: int) -> None:
    log = tmp_path / "log"
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(log), STUBBORN], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    leash = int(owner.stdout.readline())
    every = [psutil.Process(leash), *below(leash, log)]
    owner.send_signal(number)
    owner.communicate()
    assert not psutil.wait_procs(every, 15)[1]


@pytest.mark.parametrize(
    ("script", "let", "status", "words"),
    [
        ('echo "$WORD"; read line || echo "no stdin"; exit 3', False, 3, "heard\nno stdin\n"),
        ("sleep 600 & setsid sleep 600 & echo started; exit 7", False, 7, "started\n"),  # no orphan is left
        ("trap 'echo tidied; exit 0' TERM; echo started; while :; do sleep 0.05; done", True, 0, "started\ntidied\n"),
    ],
)
def test_output_and_status_come_through(tmp_path: Path, script: str, let: bool, status: int, words: str) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        leash = on_leash(["sh", "-c", script], {**os.environ, "WORD": "heard"}, file)
    while let and "started" not in log.read_text():
        time.sleep(0.02)
    assert not let or let_go(leash) == status
    assert leash.wait(15) == status and log.read_text().replace("Terminated\n", "") == words
    assert not descendants(leash.pid)
    let_go(leash)
