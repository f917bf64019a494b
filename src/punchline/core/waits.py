"""Waiting times: those that a server requests (RFC 9110, 10.2.3), and those between tries."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping
from contextlib import suppress


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by Retry-After (seconds or HTTP date) or retry-after-ms; None: the headers have no such wait.

    A date is compared with the server's own clock if it sends one.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            if 0 <= (seconds := float(headers.get(name, "")) * unit) < float("inf"):
                return seconds
    until = _date(headers.get("retry-after"))
    now = _date(headers.get("date")) or time.time()
    return max(0.0, until - now) if until is not None else None


def _date(value: str | None) -> float | None:
    with suppress(ValueError, OverflowError):
        return email.utils.parsedate_to_datetime(value).timestamp() if value else None
    return None


def backoff(tries: int, first: float, most: float) -> float:
    """Seconds to wait after that many failed tries: doubling, at most `most`, less a random half."""
    return float(min(most, first * 2 ** min(tries - 1, 30)) * random.uniform(0.5, 1.0))
