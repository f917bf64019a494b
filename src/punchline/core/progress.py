"""Progress on stderr, in plain lines that also read well in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

EVERY_S = 5.0


def say(text: str) -> None:
    """One line on stderr."""
    print(text, file=sys.stderr, flush=True)


def track(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Pass items through; every few seconds say how many are done and how long the rest may take."""
    start = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= EVERY_S and done < total:
            last = now
            left = (now - start) / done * (total - done)
            say(f"{label}: {done:,} of {total:,}, about {left:,.0f} s left")
