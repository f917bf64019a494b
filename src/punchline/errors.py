"""Errors that a user can act on: what is wrong, where, and what to do. Entry points print them without a traceback."""

from __future__ import annotations

import difflib
import errno
import functools
import os
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, ParamSpec

from punchline.text import without_secret

P = ParamSpec("P")
LONGEST = 6_000  # characters of a message: 20 faults, or the names of all cards
SHARED = "Work in a clone of your own; or share this one: one group, chmod -R g+rwX, chmod g+s on folders, umask 002"


class PunchlineError(Exception):
    """Bad input or a failed precondition.

    The message reads `<file>[, line N][, record R][, field F]: <what is wrong>. <hint>`. Passwords and keys of
    addresses are removed from it.
    """

    def __init__(
        self,
        what: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        record: str | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        named = {"": file, "line": line, "record": record, "field": field}
        where = [_short(f"{name} {value}".lstrip(), 500) for name, value in named.items() if value is not None]
        text = _short(f"{', '.join(where)}: {what}" if where else what, LONGEST)
        hint = _short(hint, LONGEST) if hint else None
        super().__init__(without_secret(f"{text.rstrip('.')}. {hint}" if hint else text))


def _short(text: str, most: int) -> str:
    """Text of at most about so many characters: files of others may name anything, at any length."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 4 :]}"


def one_line(error: Exception) -> str:
    """An exception's message in one line of at most 300 characters; its type if it has none."""
    return " ".join(without_secret(str(error)).split())[:300] or type(error).__name__


def system_error(error: OSError) -> str:
    """A full disk, a read-only folder: the system's message with the file, and a hint if permission is missing."""
    text = f"{error.filename}: {error.strerror or error}" if error.filename else str(error.strerror or error)
    denied = isinstance(error, PermissionError) or error.errno == errno.EROFS
    return without_secret(f"{text}. {permission_hint(str(error.filename or '.'))}" if denied else text)


def permission_hint(path: str | Path) -> str:
    """A hint for a path that may not be read or written, by its owner and its file system."""
    there = next(place for place in (Path(path).absolute(), *Path(path).absolute().parents) if place.exists())
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return "The file system is read-only: work in a clone on another"
    return f"It is your own: chmod -R u+rwX {there}" if there.stat().st_uid == os.geteuid() else SHARED


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """`Did you mean 'a' or 'b'? ` for a mistyped name; empty if none is similar."""
    close = difflib.get_close_matches(str(name), sorted(set(valid)), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(repr(n) for n in close)}? " if close else ""


def nearest(name: str, valid: Iterable[str]) -> str:
    """`Did you mean 'a' or 'b'? Valid: a, b, c` for a mistyped name; of over 40 names the similar ones only, if any."""
    names = sorted(valid)
    hint = did_you_mean(name, names)
    if not names:
        return "There is none to choose from"
    return hint.rstrip() if hint and len(names) > 40 else f"{hint}Valid: {', '.join(names)}"


def check_known(name: str, valid: Collection[str], what: str, **where: Any) -> None:
    """Raise PunchlineError, whose hint has the nearest valid names, for a name that is not one of them."""
    if name not in valid:
        raise PunchlineError(what, hint=nearest(name, valid), **where)


def check_file(file: str | Path, what: str, **where: Any) -> None:
    """Raises PunchlineError for a missing file; `where`: fields of the error."""
    if not Path(file).is_file():
        raise PunchlineError(what, file=file, **where)


def entry_point(main: Callable[P, None]) -> Callable[P, None]:
    """Wrap a script's main: an error the user can act on ends it with one message and status 1."""

    @functools.wraps(main)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            main(*args, **kwargs)
        except PunchlineError as error:
            sys.exit(f"error: {error}")
        except OSError as error:
            sys.exit(f"error: {system_error(error)}")
        except MemoryError:
            sys.exit("error: out of memory. Choose fewer items (limit=, subset=) or a machine with more")
        except KeyboardInterrupt:  # Ctrl-C; journalled answers are kept
            print("stopped", file=sys.stderr)
            sys.exit(130)

    return wrapped
