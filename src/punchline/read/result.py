"""Result of a reader, and the steps common to all readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from punchline.read import json_tables, marked, reasoning
from punchline.read.words import pattern

V = TypeVar("V")
P = ParamSpec("P")

_QUOTED = re.compile(r"\s*(?:\"([^\"]+)\"|“([^“”]+)”|\(([^()]+)\)|\[([^\[\]]+)\])\s*")  # all of an answer
_POLITE = pattern(r"\s*{polite}!\s+(?=\S)", re.IGNORECASE)
_EXPLAINED = re.compile(r"\n\W{0,9}(?:explanation|reasoning|rationale|justification|analysis)\W{0,3}:", re.IGNORECASE)
_TURN = re.compile(r"\b(?:wait|actually|answer|correction|correct(?:ed)?|so|therefore|thus|final)\b", re.IGNORECASE)
SHORT = 500  # characters of an answer that is worth remembering
KEPT = 1_000  # of a reader


class Read(NamedTuple, Generic[V]):
    """A parsed value and its span in the text that the reader was given. value None: unparsable.

    decided: the text commits itself, be it to two values, or to none.
    """

    value: V | None
    start: int = 0
    end: int = 0
    decided: bool = False

    def moved(self, by: int) -> Read[V]:
        """The same, so many characters further on; without a value, no span."""
        moved = self._replace(start=self.start + by, end=self.end + by)
        return Read(None, decided=self.decided) if self.value is None else moved


Reader = Callable[Concatenate[str, P], Read[V]]
Reads = Sequence[tuple[str, Read[Any]]]  # answers and what was read of them: as `collect_readings` gathers them
NOTHING: Read[Any] = Read(None)

_notes: ContextVar[list[tuple[str, Read[Any]]] | None] = ContextVar("notes", default=None)


@contextmanager
def collect_readings() -> Iterator[list[tuple[str, Read[Any]]]]:
    """What readers are given in the meantime and what they read of it, in order: where `punchline show` marks it."""
    readings: list[tuple[str, Read[Any]]] = []
    token = _notes.set(readings)
    try:
        yield readings
    finally:
        _notes.reset(token)


def recorded(read: Reader[P, V]) -> Reader[P, V]:
    """A reader that is collected by `collect_readings`."""

    @wraps(read)
    def telling(answer: str, /, *args: P.args, **kwargs: P.kwargs) -> Read[V]:
        reading = read(answer, *args, **kwargs)
        if (collected := _notes.get()) is not None:
            collected.append((answer, reading))
        return reading

    return telling


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """(start, piece) of a text without "Sure!" before it and an explanation behind it; last, the whole."""
    polite, explained = _POLITE.match(text), _EXPLAINED.search(text)
    start = polite.end() if polite else 0
    end = explained.start() if explained and not _TURN.search(text, explained.end()) else len(text)
    if (start, end) != (0, len(text)):
        yield start, marked.without_courtesy(text[start:end])
    yield 0, marked.without_courtesy(text)


def reader(
    read: Reader[P, V],
    pieces: Callable[[str], Iterable[tuple[int, str]]] = _pieces,
) -> Reader[P, V]:
    """A reader that takes thoughts and courtesies off first, and whose span is one of the whole answer all the same."""

    def of_answer(answer: str, *args: P.args, **kwargs: P.kwargs) -> Read[V]:
        part = reasoning.remove(answer)
        text = part.text
        lines = json_tables.lines(text)
        # Whether, not which: {"A": false, "B": true}.
        flags = text.startswith("{") and re.search(": (?:yes|no)$", lines, re.MULTILINE)
        tried = [] if flags or not text else [*pieces(text)]
        if quoted := _QUOTED.fullmatch(text):
            tried.append((quoted.start(quoted.lastindex or 0), quoted[quoted.lastindex or 0]))
        reading = Read[V](None)
        for start, piece in tried:
            if reading.value is None:
                reading = read(piece, *args, **kwargs).moved(start)
        if reading.value is None and lines and not reading.decided:
            reading = read(lines, *args, **kwargs)._replace(start=0, end=len(text))
        return reading.moved(part.offset)

    remembered: dict[str, Read[V]] = {}

    @wraps(read)
    def read_once(answer: str, /, *args: P.args, **kwargs: P.kwargs) -> Read[V]:
        """Many answers are the same few words: those are read once. Nobody changes a value that was read."""
        if len(answer) > SHORT:
            return of_answer(answer, *args, **kwargs)
        key = repr((answer, args, kwargs))
        if key not in remembered:
            if len(remembered) >= KEPT:
                remembered.clear()
            remembered[key] = of_answer(answer, *args, **kwargs)
        return remembered[key]

    return recorded(read_once)


def verbatim(read: Reader[P, V]) -> Reader[P, V]:
    """A reader of texts that are quoted: what looks like a courtesy ("Thank you!") may belong to them, and stays."""
    return reader(read, lambda text: [(0, text)])


def located(text: str, reads: Reads) -> Iterator[Read[Any]]:
    """Readings of a text, the last first, with their places in the whole: a reader may have been given a part."""
    same = [one for one in reads if one[0] is text]
    for given, span in reversed(same or reads):
        at = text.find(given) if given else -1
        if span.value is not None and at >= 0:
            yield span.moved(at)
