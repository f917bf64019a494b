"""Waiting times: those that a server requests (RFC 9110, 10.2.3), and those between tries."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping
from contextlib import suppress


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by Retry-After (seconds or HTTP date) or retry-after-ms; None: the headers have no such wait."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            if 0 <= (seconds := float(headers.get(name, "")) * unit) < float("inf"):
                return seconds
    with suppress(ValueError, OverflowError):
        until = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, until.timestamp() - time.time())
    return None


def backoff(tries: int, first: float, most: float) -> float:
    """Seconds to wait after that many failed tries: doubling, at most `most`, less a random half."""
    return float(min(most, first * 2 ** min(tries - 1, 30)) * random.uniform(0.5, 1.0))
