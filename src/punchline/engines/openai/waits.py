"""Waits that servers' words and headers name."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import suppress

from punchline.core.waits import retry_after

RETRY_IN = re.compile(r"(?:re)?try (?:again )?(?:in|after) ((?:\d+(?:\.\d+)? ?(?:ms|d|h|m|s)[a-z]* ?)+)", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|millis|d|h|m|s)", re.IGNORECASE)
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "millis": 0.001}


def reset_in(headers: Mapping[str, str]) -> str:
    """Time until a quota begins anew, by X-RateLimit-Reset (in ms or s, since 1970 or from now) or Retry-After."""
    seconds = retry_after(headers)
    with suppress(ValueError):
        reset = float(headers.get("x-ratelimit-reset", ""))
        reset = reset / 1000 if reset > 1e11 else reset
        seconds = reset - time.time() if reset > 1e9 else reset
    return "" if seconds is None or not 60 <= seconds < 1e8 else from_now(seconds)  # of less: no quota's reset


def from_now(seconds: float) -> str:
    """A time from now: in 8 s, in 7 min, in 2.0 h."""
    if seconds < 60:
        return f"in {seconds:.0f} s"
    return f"in {seconds / 3600:.1f} h" if seconds >= 3600 else f"in {seconds / 60:.0f} min"


def seconds_in(message: str) -> float | None:
    """Seconds that a message asks to wait."""
    match = RETRY_IN.search(message)
    return duration(match[1]) if match else None


def duration(text: str) -> float | None:
    """Seconds of 36s, 1.5s or 7m12s."""
    parts = _DURATION.findall(text[:40])
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts) if parts else None
