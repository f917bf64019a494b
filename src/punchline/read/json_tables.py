"""Answers that are data: JSON objects, tool calls and tables, as lines `name: value` or as fields."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from punchline.read.words import any_of, pattern

LONGEST = 20_000  # characters of an answer that are read as data
_START = re.compile(r"[{\[](?=\s{0,99}[\"{\[\]])")
# Openers one in another; a key between two belongs to the run.
_OPENERS = re.compile(r"(?:[{\[]\s{0,99}(?:\"[^\"\\\n]{0,99}\"\s{0,9}:\s{0,99}(?=[{\[]))?)+")
_ATTEMPTS = 64  # openers of a text that are tried
_INNER = 4  # of a run of openers that failed, the last ones are tried
_DEEPEST = 50  # values in values
_NOTE = pattern("{note_key}")
_NAMED = re.compile(r"score|rating|prob|likel|points|percent|frame|panel|picture|strip")  # values said with their names
_ROW = re.compile(r"^[ \t]{0,9}\|(.+)\|[ \t\u200b-\u200f]{0,9}$", re.MULTILINE)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(members := dict(pairs)) < len(pairs):
        raise ValueError("a name comes twice")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def lines(text: str) -> str:
    """JSON and tables are read as lines "name: value", where nothing is read of them as they are.

    Args:
        text: An answer, or a piece of it.

    Returns:
        The lines; "" for a text with neither, and for one longer than LONGEST.

    >>> lines('{"panel": 3}')
    'panel: 3'
    """
    if len(text) > LONGEST:
        return ""
    return "\n".join(line for value in _values(text) for line in _flat(value)) or "\n".join(_of_tables(text))


def _values(text: str) -> Iterator[Any]:
    """The JSON values of a text that are or hold an object: readers read lists as they are."""
    at, attempts = 0, 0
    while attempts < _ATTEMPTS and (match := _START.search(text, at)):
        attempts += 1
        start = match.start()
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = _next_opener(text, start)
            continue
        if "{" in text[start:at] and _nesting(text[start:at]) <= _DEEPEST:
            yield value


def _next_opener(text: str, failed: int) -> int:
    """The place of the next opener to try after one that failed: among the last of its run."""
    run = _OPENERS.match(text, failed)
    openers = [mark.start() for mark in re.finditer(r"[{\[]", run[0])] if run else []
    return failed + max(1, *openers[-_INNER:][:1])


def _nesting(text: str) -> int:
    """Number of brackets that are open at once, those in strings included."""
    steps = ((mark in "{[") - (mark in "}]") for mark in text)
    return max(itertools.accumulate(steps))


def _scalar(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _flat(value: Any, name: str = "") -> Iterator[str]:
    """Lines of a JSON value; members that only comment on the others are left out."""
    if isinstance(value, Mapping):
        pairs = {str(key): one for key, one in value.items() if not _NOTE.search(str(key).lower())}
        if name is _RECORD and len(pairs) == 2 and not any(isinstance(one, Mapping | list) for one in pairs.values()):
            (_, first), (key, second) = pairs.items()
            yield _pair(_scalar(first), key, _scalar(second))
        else:
            for key, element in pairs.items():
                yield from _flat(element, key)
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for element in value:
            yield from _flat(element, _RECORD)
    elif value is not None and value != []:
        text = ", ".join(map(_scalar, value)) if isinstance(value, list) else _scalar(value)
        yield f"{name.replace('_', ' ')}: {text}" if name else text


_RECORD = "record"  # name of an object in a list


def _pair(first: str, key: str, second: str) -> str:
    return f"{first}: {key} {second}" if _NAMED.search(key.lower()) else f"{first}: {second}"


def _of_tables(text: str) -> Iterator[str]:
    rows = [[cell.strip(" *`") for cell in match[1].split("|")] for match in _ROW.finditer(text)]
    rows = [row for row in rows if not all(set(cell) <= set(":- ") for cell in row)]
    heads = rows[0] if rows else []
    panels = rows and re.fullmatch("panel|frame", heads[0].lower())
    valued = [n for n, head in enumerate(heads) if n and (len(heads) == 2 or _NAMED.search(head.lower()))]
    for row in rows[1:]:
        row = [f"{heads[0]} {row[0]}", *row[1:]] if panels and row[0].isdecimal() else row
        if valued and len(row) > valued[-1]:
            yield _pair(row[0], heads[valued[-1]], row[valued[-1]])
        elif len(row) == len(heads):
            yield ", ".join(f"{head}: {cell}" for head, cell in zip(heads, row, strict=True))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """An object, and those in it."""
    if isinstance(value, Mapping):
        yield value
    for element in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _objects(element)


def _as_text(value: Any) -> str:
    """A value of a JSON object as the text of a field; lists of texts with "; " between them."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = "; ".join(value)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()


def fields(answer: str, names: Sequence[str]) -> dict[str, str]:
    """The text of each field, of a JSON object or up to the next field; of a field that comes twice the first.

    Args:
        answer: An answer, or a piece of it.
        names: Names of the fields, in lower case.

    Returns:
        {name: text} of the fields that are there.

    >>> fields("is_met: Yes\\nimage_hl: clock", ("is_met", "image_hl"))
    {'is_met': 'Yes', 'image_hl': 'clock'}
    """
    for members in (one for value in _values(answer[:LONGEST]) for one in _objects(value)):
        by_name = {name.lower(): value for name, value in members.items()}
        if read := {name: _as_text(by_name[name]) for name in names if name in by_name}:
            return read
    read = {}
    pattern = rf"{any_of('before_field')}({'|'.join(names)}){any_of('behind_field')}"
    places = list(re.finditer(pattern, answer, re.IGNORECASE | re.MULTILINE))
    ends = [*(match.start() for match in places[1:]), len(answer)]
    for match, end in zip(places, ends, strict=False):
        value = answer[match.end() : end].strip()
        if value.startswith(("'", '"')):
            value = value[1:].rstrip("\"'}, \t\r\n")
        read.setdefault(match[1].lower(), value)
    return read
