"""Result of a reader, and the steps common to all readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, cast

from punchline.read import final, reasoning, structure

V = TypeVar("V")
P = ParamSpec("P")

_QUOTED = re.compile(r"\s*(?:\"([^\"]+)\"|“([^“”]+)”|\(([^()]+)\)|\[([^\[\]]+)\])\s*")  # all of an answer
_FLAG = re.compile(r": (?:yes|no)$", re.MULTILINE)  # a line of a boolean
SHORT = 500  # characters of an answer that is worth remembering
KEPT = 1_000  # of a reader


class Read(NamedTuple, Generic[V]):
    """What was read, and where: a span of the text that the reader was given. value None: nothing was read."""

    value: V | None
    start: int = 0
    end: int = 0


_notes: ContextVar[list[tuple[str, Read[Any]]] | None] = ContextVar("notes", default=None)


@contextmanager
def notes() -> Iterator[list[tuple[str, Read[Any]]]]:
    """What readers are given in the meantime and what they read of it, in order: where `punchline show` marks it."""
    found: list[tuple[str, Read[Any]]] = []
    token = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(token)


def noted(read: Callable[Concatenate[str, P], Read[V]]) -> Callable[Concatenate[str, P], Read[V]]:
    """A reader that tells `notes` what it read."""

    @wraps(read)
    def telling(answer: str, *args: P.args, **kwargs: P.kwargs) -> Read[V]:
        found = read(answer, *args, **kwargs)
        if (told := _notes.get()) is not None:
            told.append((answer, found))
        return found

    return cast(Callable[Concatenate[str, P], Read[V]], telling)


def verbatim(read: Callable[Concatenate[str, P], Read[V]]) -> Callable[Concatenate[str, P], Read[V]]:
    """A reader of texts that are quoted: what looks like a courtesy ("Thank you!") may belong to them, and stays."""
    return reader(read, str)


def reader(
    read: Callable[Concatenate[str, P], Read[V]], trimmed: Callable[[str], str] = final.without_courtesy
) -> Callable[Concatenate[str, P], Read[V]]:
    """A reader that takes thoughts and courtesies off first, and whose span is one of the whole answer all the same."""

    def of_answer(answer: str, *args: P.args, **kwargs: P.kwargs) -> Read[V]:
        own = reasoning.remove(answer)
        text, offset = structure.without_markers(own.text), own.offset
        lines = structure.lines(text)
        flags = text.startswith("{") and _FLAG.search(lines)  # whether, not which: {"A": false, "B": true}
        found = read(trimmed(text), *args, **kwargs) if text and not flags else Read[V](None)
        if found.value is None and (quoted := _QUOTED.fullmatch(text)):
            group = quoted.lastindex or 0
            found, offset = read(quoted[group], *args, **kwargs), offset + quoted.start(group)
        if found.value is None and lines:
            found, offset = read(lines, *args, **kwargs)._replace(start=0, end=len(text)), own.offset
        return Read(found.value, found.start + offset, found.end + offset) if found.value is not None else Read(None)

    remembered: dict[str, Read[V]] = {}

    @wraps(read)
    def once(answer: str, *args: P.args, **kwargs: P.kwargs) -> Read[V]:
        """Many answers are the same few words: those are read once. Nobody changes a value that was read."""
        if len(answer) > SHORT:
            return of_answer(answer, *args, **kwargs)
        key = repr((answer, args, kwargs))
        if key not in remembered:
            if len(remembered) >= KEPT:
                remembered.clear()
            remembered[key] = of_answer(answer, *args, **kwargs)
        return remembered[key]

    return noted(cast(Callable[Concatenate[str, P], Read[V]], once))


Reads = Sequence[tuple[str, Read[Any]]]  # what `notes` gathers


def located(text: str, reads: Reads) -> Iterator[Read[Any]]:
    """What was read of a text, the last first, with its place in the whole: a reader may have been given a part."""
    same = [one for one in reads if one[0] is text]
    for given, found in reversed(same or reads):
        at = text.find(given) if given else -1
        if found.value is not None and at >= 0:
            yield found._replace(start=at + found.start, end=at + found.end)
