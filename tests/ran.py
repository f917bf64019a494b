"""Commands that tests run to their end, and disks that are full for them."""

import resource
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import Any


def ran(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """What a command said, as text; its status is for the test to look at."""
    left = {"capture_output": True, "text": True, "check": False}
    return subprocess.run([str(word) for word in command], **left | options)


MOST_GROWTH = 3.0  # of the work for a text of twice the length: linear is 2, quadratic 4


def growth(work: Callable[[int], Any], length: int) -> float:
    """CPU time of `work` for twice the length by that for the length: the best of some tries, taken in turn.

    The more that `work` does at a time, the surer the ratio. Tries end with the first ratio that is small enough.
    """
    best = {length: float("inf"), 2 * length: float("inf")}
    for _ in range(8):
        for size in best:
            best[size] = min(best[size], cpu_seconds(partial(work, size)))
        ratio = best[2 * length] / best[length]
        if ratio <= MOST_GROWTH:
            break
    return ratio


def cpu_seconds(work: Callable[[], Any]) -> float:
    """CPU time of a call, to be compared with that of another in the same run."""
    began = time.process_time()
    work()
    return time.process_time() - began


def full_disk(largest: int | None) -> Callable[[], None]:
    """For `preexec_fn`: no file of the process may grow beyond it."""

    def limit() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    return limit
