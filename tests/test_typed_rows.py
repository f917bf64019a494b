"""Rows of released files are typed in several threads at once."""

import subprocess
import sys

TYPED = """
import sys, threading, msgspec
sys.setswitchinterval(1e-6)
from punchline.benchmarks.annotations import typed
def one(n):
    fields = {"__annotations__": dict.fromkeys("abcdefgh", "int | None"), "__module__": __name__}
    globals()[f"Inner{n}"] = type(f"Inner{n}", (msgspec.Struct,), fields)
    fields = {"__annotations__": {"inner": f"list[Inner{n}]", "x": "int"}, "__module__": __name__}
    outer = type(f"Outer{n}", (msgspec.Struct,), fields)
    start = threading.Barrier(4)
    def work():
        start.wait()
        typed({"inner": [dict.fromkeys("abcdefgh", 1)], "x": 1}, outer, file="f")
    ts = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in ts]; [t.join() for t in ts]
for n in range(300): one(n)
print("ok")
"""


def test_threads_that_meet_a_type_for_the_first_time_do_not_crash() -> None:
    done = subprocess.run([sys.executable, "-c", TYPED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
