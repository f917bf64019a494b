"""Fields of an answer that holds several: a JSON object, or `name: value` on lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_OBJECT = re.compile(r"\{(?=\s{0,20}\")")
CHARACTERS = 20_000  # of an answer that are read as JSON
_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: dict(reversed(pairs)))  # of several the first counts


def _as_text(value: Any) -> str:
    """A value of a JSON object as the text of a field; lists of texts with "; " between them."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = "; ".join(value)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()


def _of_object(answer: str, names: Sequence[str]) -> dict[str, str]:
    """The fields of the first JSON object of an answer that has any; {} where none has."""
    for opening in list(_OBJECT.finditer(answer))[:5]:
        try:
            found, _ = _DECODER.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            continue
        by_name = {name.lower(): value for name, value in reversed(found.items())}
        if fields := {name: _as_text(by_name[name]) for name in names if name in by_name}:
            return fields
    return {}


def fields(answer: str, names: Sequence[str]) -> dict[str, str]:
    """The text of each field, of a JSON object or up to the next field; of a field that comes twice the first."""
    if read := _of_object(answer[:CHARACTERS], names):
        return read
    pattern = re.compile(
        r"(?:^[\s*_`#\-\"'{]{0,12}(?:\d{1,2}[.)]\s{0,4})?[*_`\"']{0,4}|[,;|{]\s{0,5}[*_`\"']{0,4})"
        rf"({'|'.join(names)})[*_`\"']{{0,4}}\s{{0,4}}[:=][*_`]{{0,4}}",
        re.IGNORECASE | re.MULTILINE,
    )
    found = list(pattern.finditer(answer))
    ends = [*(match.start() for match in found[1:]), len(answer)]
    for match, end in zip(found, ends, strict=False):
        value = answer[match.end() : end].strip()
        if value.startswith(("'", '"')):
            value = value[1:].rstrip("\"'}, \t\r\n")
        read.setdefault(match[1].lower(), value)
    return read


def leading(field: str, labels: Iterable[str]) -> str | None:
    """The label that a field begins with, "true" for Yes; None for anything else, and for a list of labels."""
    by_name = {label.lower(): label for label in labels} | {"true": "Yes", "false": "No"}
    pattern = rf"[\s*_`\"']{{0,8}}({'|'.join(by_name)})\b(?!\s{{0,2}}(?:,|/|or\b)\s{{0,2}}\w)"
    match = re.match(pattern, field, re.IGNORECASE)
    return by_name[match[1].lower()] if match else None
