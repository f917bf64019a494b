"""What comes from outside (files, addresses, replies), checked before it is used, written or shown."""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

SECRET = "[secret]"

# User and password before the host; and a password that holds a slash, as no address may: what follows the first colon
# is then no port. Lengths are bounded, so that no text is read more than once.
_USERINFO = re.compile(r"(?<=://)(?:[^\s/?#]{0,500}@|[^\s/?#@:\[]{0,500}:(?!\d{0,5}(?:[/?#\s'\"),;]|$))[^\s@]{0,500}@)")
# Parameters of signed and of keyed addresses.
_PARAMETER = re.compile(
    r"(?<=[?&;])((?:[\w-]{0,40}(?:token|secret|password|passwd|signature|credential)|auth|api[_-]?key|key|sig|pwd)=)"
    r"[^\s&#;'\"]+",
    re.IGNORECASE,
)

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_WILDCARD = re.compile(r"\{\s*\w+\s*(?:,[^{}]*(?:\{[\d,]+\}[^{}]*)*)?\}")  # Snakemake's

PASSWORDS = (
    "Put them into ~/.netrc (machine, login, password), or into the environment variable PUNCHLINE_MIRROR_AUTH as"
    " user:password, and give the address without them"
)


def without_secret(text: str) -> str:
    """Text without the user, the password and the keys of any address in it. Whatever is written goes through here."""
    if "://" not in text:
        return text
    return _PARAMETER.sub(rf"\g<1>{SECRET}", _USERINFO.sub("", text))


def holds_secret(address: str) -> bool:
    """Whether an address holds a user, a password, or a key among its parameters."""
    return without_secret(address) != address


def secret_field(value: Any) -> str | None:
    """Where in plain data the first address with a secret stands, as `extra_body.url`; None where there is none."""
    return _field(value, holds_secret)


def wildcard_field(value: Any) -> str | None:
    """Where in plain data the first text stands that Snakemake would take for a wildcard; None where there is none."""
    return _field(value, lambda text: _WILDCARD.search(text) is not None)


def _field(value: Any, holds: Callable[[str], bool], at: str = "") -> str | None:
    if isinstance(value, str):
        return at if holds(value) else None
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
        if any(isinstance(key, str) and holds(key) for key in value):
            return at
    elif isinstance(value, (list, tuple)):
        parts = ((f"{number}", part) for number, part in enumerate(value))
    for key, part in parts:
        if (found := _field(part, holds, f"{at}.{key}" if at else str(key))) is not None:
            return found
    return None


def stays_inside(place: str) -> bool:
    """Whether a path out of a file stays inside the folder that it is relative to, by its words."""
    parts = PurePosixPath(place).parts
    return bool(parts) and not place.startswith("/") and ".." not in parts and "\\" not in place and "\0" not in place


def read_regular(file: Path, limit: int) -> bytes:
    """Bytes of a regular file, at most `limit`. Raises OSError; of a device or a pipe nothing is read."""
    if not stat.S_ISREG(file.stat().st_mode):  # looked at before it is opened: a pipe would wait for its writer
        raise OSError(errno.EINVAL, "not a regular file", str(file))
    with file.open("rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(file))
    return content


def visible(text: str) -> str:
    """Text for a terminal or a page: what steers either (control characters, marks of direction, halves of surrogate
    pairs) is shown as its escape, such as \\x1b and \\u202e; newlines and tabs stay."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def json_shown(text: str) -> str:
    """JSON as `visible` shows a text, by escapes that JSON has."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
