"""The text of each panel, as "N: text"."""

from __future__ import annotations

import re
from collections.abc import Collection

from punchline.read import json_tables
from punchline.read.result import NOTHING, Read, verbatim
from punchline.read.words import pattern

# `N:` at the start of a word, tolerating "Panel N:", {N}:, **N:**, "N":; not the 2: of 2:30.
_KEY = pattern("{panel_key}", re.IGNORECASE)
_HEADING = pattern("{panel_heading}", re.IGNORECASE | re.MULTILINE)
_NO_TEXT = pattern(r"[\[({*_\"'-]{0,4}\s?{no_text}\s?[\])}*_\"'.]{0,5}", re.IGNORECASE)
# JSON in JSON
_NESTED = re.compile(r"(?:\s{0,99}```\w{0,10})?\s{0,99}(?:\[|\{\s{0,99}\"\w{1,40}\"\s{0,99}:\s{0,99}[\[{])")
_MOST = 100_000  # characters that are read


def _unquoted(value: str) -> str:
    """A panel's text without the marks around it; "" where it says that there is none."""
    value = value.strip()
    value = value[:-40] + re.sub(r"\s{0,3}```\w{0,10}\s{0,3}$", "", value[-40:])
    for opening, closing in (('"', '"'), ("“", "”"), ("{", "}"), ("**", "**")):
        inner = value.removesuffix(",")
        size = len(opening)
        if len(inner) >= 2 * size and inner.startswith(opening) and inner.endswith(closing):
            value = inner[size:-size].strip()
    return "" if len(value) < 80 and _NO_TEXT.fullmatch(value) else value


@verbatim
def panel_texts(answer: str, labels: Collection[str]) -> Read[dict[str, str]]:
    """The text of each panel in the answer's order.

    Keys: "N:", "Panel N:", {N}:, JSON's "N":, headings, numbered lists. A number that is no label is part of the text.

    Args:
        answer: The whole answer of a model.
        labels: The panels' labels ("1", "2", …).

    Returns:
        {label: text} and the span; a repeated label's texts are joined with a space, and a panel said to have no text
        has "".

    >>> panel_texts("1: HI! 2: BYE.", ("1", "2")).value
    {'1': 'HI!', '2': 'BYE.'}
    """
    known = frozenset(labels)
    text = answer[:_MOST]
    if nested := json_tables.lines(text) if _NESTED.match(text) else "":
        return panel_texts(nested, labels)._replace(start=0, end=len(text.rstrip()))
    in_object = re.match(r"\s{0,99}(?:```\w{0,10}\s{0,9})?\{\s{0,99}\"", text) is not None
    for form in (_KEY, _HEADING):
        keys = [
            (match, key)
            for match in form.finditer(text)
            if (key := str(int(match[match.lastindex or 0]))) in known and (match[0].isascii() or form is _HEADING)
        ]
        if not keys:
            continue
        starts = [match.start() for match, _ in keys]
        texts: dict[str, list[str]] = {}
        for (match, key), end in zip(keys, [*starts[1:], len(text)], strict=False):
            value = text[match.end() : end]
            braced = match[0].startswith("{") and "}" not in match[0] and "{" not in value
            if (in_object or braced) and value.rstrip("` \n").endswith("}"):
                value = value.rstrip("` \n").removesuffix("}")
            texts.setdefault(key, []).append(_unquoted(value))
        return Read({key: " ".join(values) for key, values in texts.items()}, starts[0], len(text.rstrip()))
    return NOTHING
