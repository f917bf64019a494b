"""Answers that are data: JSON objects, tool calls and tables, rewritten as lines `name: value`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST = 20_000  # characters of an answer that are read as data
_MARKERS = re.compile(
    r"(?:\s{0,9}(?:<\|(?:im_end|im_start|end\w{0,20}|eo[ts]\w{0,9}|eot_id|start_header_id|end_header_id|return|user"
    r"|assistant)\|>|</s>|<s>|<eos>|<end_of_turn>|<eot>|\[/?INST\]|\[EOS\]|(?<=\|>)(?:assistant|user)))+\s{0,9}\Z",
    re.IGNORECASE,
)
_START = re.compile(r"[{\[](?=\s{0,99}[\"{\[\]])")
_NOTE = re.compile(
    r"reason|expla|thought|thinking|rational|analysis|comment|note|justif|confid|descri|alternativ|name$"
)
_NAMED = re.compile(r"score|rating|prob|likel|points|percent|frame|panel")  # a value that is said with its name
_ROW = re.compile(r"^[ \t]{0,9}\|(.+)\|[ \t]{0,9}$", re.MULTILINE)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a name comes twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def without_markers(text: str) -> str:
    """A text without the markers of a turn's end that a template left behind it."""
    end = _MARKERS.search(text, max(0, len(text) - 200)) if text.endswith((">", "]", ">assistant")) else None
    return text[: end.start()] if end else text


def lines(text: str) -> str:
    """The JSON values of a text, or else its tables, as lines; "" where it has neither."""
    if len(text) > LONGEST:
        return ""
    return "\n".join(_of_json(text)) or "\n".join(_of_tables(text))


def _of_json(text: str) -> Iterator[str]:
    at = 0
    for match in _START.finditer(text):
        if match.start() >= at:
            try:
                value, at = _DECODER.raw_decode(text, match.start())
            except (ValueError, RecursionError):
                continue
            if "{" in text[match.start() : at]:  # readers read lists as they are
                yield from _flat(value)


def _scalar(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _flat(value: Any, name: str = "") -> Iterator[str]:
    """Lines of a JSON value; members that only comment on the others are left out."""
    if isinstance(value, Mapping):
        said = {str(key): one for key, one in value.items() if not _NOTE.search(str(key).lower())}
        if name is _RECORD and len(said) == 2 and not any(isinstance(one, Mapping | list) for one in said.values()):
            (_, first), (key, second) = said.items()
            yield _pair(_scalar(first), key, _scalar(second))
        else:
            for key, one in said.items():
                yield from _flat(one, key)
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for one in value:
            yield from _flat(one, _RECORD)
    elif value is not None and value != []:
        text = ", ".join(map(_scalar, value)) if isinstance(value, list) else _scalar(value)
        yield f"{name.replace('_', ' ')}: {text}" if name else text


_RECORD = "record"  # name of an object in a list


def _pair(first: str, key: str, second: str) -> str:
    return f"{first}: {key} {second}" if _NAMED.search(key.lower()) else f"{first}: {second}"


def _of_tables(text: str) -> Iterator[str]:
    rows = [[cell.strip(" *`") for cell in match[1].split("|")] for match in _ROW.finditer(text)]
    rows = [row for row in rows if not all(set(cell) <= set(":- ") for cell in row)]
    panels = bool(rows) and re.fullmatch(r"panel|frame", rows[0][0].lower())
    for row in rows[1:]:
        row = [f"{rows[0][0]} {row[0]}", *row[1:]] if panels and row[0].isdecimal() else row
        if len(row) == 2 or (row and _NAMED.search(rows[0][-1].lower())):
            yield _pair(row[0], rows[0][-1], row[-1])
        elif len(row) == len(rows[0]):
            yield ", ".join(f"{head}: {cell}" for head, cell in zip(rows[0], row, strict=True))
