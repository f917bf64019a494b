"""Rows of released files are typed in several threads at once."""

import subprocess
import sys

TYPED = """
import sys, threading, msgspec
sys.setswitchinterval(1e-6)
from punchline.benchmarks.annotations import typed
for n in range(300):
    inner = msgspec.defstruct(f"Inner{n}", [(name, int | None) for name in "abcdefgh"])
    outer = msgspec.defstruct(f"Outer{n}", [("inner", list[inner]), ("x", int)])
    start = threading.Barrier(4)
    def work():
        start.wait()
        typed({"inner": [dict.fromkeys("abcdefgh", 1)], "x": 1}, outer, file="f")
    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]; [thread.join() for thread in threads]
print("ok")
"""


def test_threads_that_meet_a_type_for_the_first_time_do_not_crash() -> None:
    done = subprocess.run([sys.executable, "-c", TYPED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
