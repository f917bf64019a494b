"""Number of threads that a job may use, as its rule declares."""

from __future__ import annotations

import os

THREADS = "PUNCHLINE_THREADS"


def threads() -> int:
    """As many as the job was given; outside of jobs, as the process has cores."""
    return int(os.environ.get(THREADS) or len(os.sched_getaffinity(0)))
