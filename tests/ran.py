"""Commands that tests run to their end, and disks that are full for them."""

import resource
import subprocess
from collections.abc import Callable
from typing import Any


def ran(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """What a command said, as text; its status is for the test to look at."""
    left = {"capture_output": True, "text": True, "check": False}
    return subprocess.run([str(word) for word in command], **left | options)


def full_disk(largest: int | None) -> Callable[[], None]:
    """For `preexec_fn`: no file of the process may grow beyond it."""

    def limit() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    return limit
