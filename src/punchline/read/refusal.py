"""Answers that do not answer: refusals, and pictures that were not seen."""

from __future__ import annotations

import re

from punchline.read import normalize, words
from punchline.read.result import Read, reader

_REFUSAL = words.pattern("{refusal}")


def refuses(low: str) -> re.Match[str] | None:
    """The first words of a plain text in lower case that say that it does not answer, if any.

    What somebody in the picture, or a sign, says is no refusal.
    """
    for match in _REFUSAL.finditer(low[:1_500]):  # its beginning
        before = low[: match.start()]
        if before.count('"') % 2 == 0 or not before[: before.rfind('"')].strip():
            return match
    return None


_ASKS = words.pattern(r"\b{asks_back}\b[^?]{0,80}\?\W*$")


def asks_back(low: str) -> bool:
    """True if a plain text in lower case ends with asking what was wanted."""
    return _ASKS.search(low, max(0, len(low) - 200)) is not None


@reader
def refusal(answer: str) -> Read[bool]:
    """True, with the span of its words, where an answer declines, or says that it saw no picture; nothing elsewhere.

    It looks at the beginning only, and does not ask whether an answer follows all the same: readers of answers do.
    """
    text = normalize.plain(answer)
    match = refuses(text.low)
    return Read(True, *text.span(match.start(), match.end())) if match else Read(None)
