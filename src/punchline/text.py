"""Text for people: addresses without secrets, terminals without control characters, progress lines on stderr."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from typing import Any, TypeVar

T = TypeVar("T")

# User and password before the host. A password that holds a slash is malformed but still secret: the text after the
# first colon is then no port. Bounded lengths keep the search linear.
_USERINFO = re.compile(r"(?<=://)(?:[^\s/?#]{0,500}@|[^\s/?#@:\[]{0,500}:(?!\d{0,5}(?:[/?#\s'\"),;]|$))[^\s@]{0,500}@)")
# Parameters of signed and of keyed addresses.
_PARAMETER = re.compile(
    r"(?<=[?&;])((?:[\w-]{0,40}(?:token|secret|password|passwd|signature|credential)|auth|api[_-]?key|key|sig|pwd)=)"
    r"[^\s&#;'\"]+",
    re.IGNORECASE,
)

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def without_secret(text: str) -> str:
    """Text without the user, password and keys of any address in it. Every log, record and message passes through."""
    return _PARAMETER.sub(r"\g<1>[secret]", _USERINFO.sub("", text)) if "://" in text else text


def secret_field(value: Any, at: str = "") -> str | None:
    """Path below `at` of the first address with a secret, such as `extra_body.url`; None if there is none."""
    if isinstance(value, str):
        return at if without_secret(value) != value else None
    parts = dict(enumerate(value)) if isinstance(value, list | tuple) else value if isinstance(value, Mapping) else {}
    if any(isinstance(key, str) and without_secret(key) != key for key in parts):
        return at
    fields = (secret_field(part, f"{at}.{key}" if at else str(key)) for key, part in parts.items())
    return next((field for field in fields if field is not None), None)


def escape_controls(text: str) -> str:
    """Text for a terminal or a page, with control characters, direction marks and lone surrogates as escapes.

    They become such as \\x1b and \\u202e; newlines and tabs stay.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def escape_controls_json(text: str) -> str:
    """JSON text with the same characters as JSON escapes."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def log_line(text: str) -> None:
    """Print one line on stderr."""
    print(text, file=sys.stderr, flush=True)


def track(
    items: Iterable[T], total: int, label: str, more: Callable[[], str] = str, *, at_once: int = 1
) -> Iterator[T]:
    """Yield the items; every five seconds print how many are done, the rate, the time left, and the text of `more`.

    The rate is that after the first `at_once` items, which come together and wait for what starts up; it is printed
    from two more such rounds on, and from ten more items.
    """
    at_once = max(1, min(at_once, total // 4))
    begun = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if done == at_once:
            begun = now
        if now - last >= 5.0 and done < total:
            last, measured, speed = now, done - at_once, ""
            if measured >= max(2 * at_once, 10):
                rate = measured / max(now - begun, 0.001)
                speed = f", {rate:,.1f} a second, about {(total - done) / rate:,.0f} s left"
            log_line(f"{label}: {done:,} of {total:,}{speed}{more()}")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence progress bars and advice of transformers; some bars have no switch."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(verbosity)
