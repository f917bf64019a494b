"""Errors that a user can act on: what is wrong, where, and the way out. Entry points print them without a traceback."""

from __future__ import annotations

import difflib
import errno
import functools
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ParamSpec

from punchline.core.outside import without_secret

P = ParamSpec("P")
SHOWN = 40  # valid names in a message
SHARED = "Work in a clone of your own; or share this one: one group, chmod -R g+rwX, chmod g+s on folders, umask 002"


class PunchlineError(Exception):
    """Bad input or a failed precondition.

    The message reads `<file>[, line N][, record R][, field F]: <what is wrong>. <the way out>`; no password or key of
    an address is in it.
    """

    def __init__(
        self,
        what: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        record: str | None = None,
        field: str | None = None,
        way_out: str | None = None,
    ) -> None:
        where = [str(file)] if file is not None else []
        if line is not None:
            where.append(f"line {line}")
        if record is not None:
            where.append(f"record {record}")
        if field is not None:
            where.append(f"field {field}")
        text = f"{', '.join(where)}: {what}" if where else what
        super().__init__(without_secret(f"{text.rstrip('.')}. {way_out}" if way_out else text))


def one_line(error: Exception) -> str:
    """What an exception says, in one line of at most 300 characters; its type where it says nothing."""
    return " ".join(without_secret(str(error)).split())[:300] or type(error).__name__


def of_system(error: OSError) -> str:
    """A full disk, a read-only folder: the system's own words, with the file; of somebody else's file the way out."""
    text = f"{error.filename}: {error.strerror or error}" if error.filename else str(error.strerror or error)
    barred = isinstance(error, PermissionError) or error.errno == errno.EROFS
    return without_secret(f"{text}. {way_in(str(error.filename or '.'))}" if barred else text)


def way_in(path: str | Path) -> str:
    """What to do about a place that may not be read or written: by whose it is, and where."""
    there = next(place for place in (Path(path).absolute(), *Path(path).absolute().parents) if place.exists())
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return "The file system is read-only: work in a clone on another"
    return f"It is your own: chmod -R u+rwX {there}" if there.stat().st_uid == os.geteuid() else SHARED


def close_to(name: str, valid: Iterable[str]) -> str:
    """`Did you mean 'a' or 'b'? ` for a mistyped name; nothing where none is like it."""
    close = difflib.get_close_matches(str(name), sorted(set(valid)), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(repr(n) for n in close)}? " if close else ""


def nearest(name: str, valid: Iterable[str]) -> str:
    """`Did you mean 'a' or 'b'? Valid: a, b, c` for a mistyped name; of many only those that are close, else some."""
    names = sorted(valid)
    hint = close_to(name, names)
    if not names:
        return "There is none to choose from"
    if hint and len(names) > SHOWN:
        return hint.rstrip()
    more = f", … ({len(names):,} in all)" if len(names) > SHOWN else ""
    return f"{hint}Valid: {', '.join(names[:SHOWN])}{more}"


def entry_point(main: Callable[P, None]) -> Callable[P, None]:
    """Wrap a script's main: an error the user can act on ends it with one message and status 1."""

    @functools.wraps(main)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            main(*args, **kwargs)
        except PunchlineError as error:
            sys.exit(f"error: {error}")
        except OSError as error:
            sys.exit(f"error: {of_system(error)}")
        except MemoryError:
            sys.exit("error: out of memory. Choose fewer items (limit=, subset=) or a machine with more")
        except KeyboardInterrupt:  # Ctrl-C; what was journalled is kept
            print("stopped", file=sys.stderr)
            sys.exit(130)

    return wrapped
