"""Answers that do not answer: refusals, and pictures that were not seen."""

from __future__ import annotations

import re

from punchline.read import normalize, words
from punchline.read.result import NOTHING, Read, reader

_REFUSAL = words.pattern("{refusal}")


def refuses(low: str) -> re.Match[str] | None:
    """A refusal is no answer, unless a commitment follows; what somebody in the picture says is none.

    Args:
        low: A plain text in lower case.

    Returns:
        The match of the first words that say so; None without any.
    """
    for match in _REFUSAL.finditer(low[:1_500]):  # its beginning
        before = low[: match.start()]
        if before.count('"') % 2 == 0 or not before[: before.rfind('"')].strip():
            return match
    return None


_ASKS = words.pattern(r"\b{asks_back}\b[^?]{0,80}\?\W*$")


def asks_back(low: str) -> bool:
    """Take an answer that ends with a question to the user as none."""
    return _ASKS.search(low, max(0, len(low) - 200)) is not None


@reader
def refusal(answer: str) -> Read[bool]:
    """True where an answer declines, or says that it saw no picture.

    It looks at the beginning only, and does not ask whether an answer follows all the same: the other readers do.

    Args:
        answer: The whole answer of a model.

    Returns:
        True and the span of the words; no value elsewhere.

    >>> refusal("I cannot see the image.").value
    True
    """
    text = normalize.plain(answer)
    match = refuses(text.low)
    return Read(True, *text.span(match.start(), match.end())) if match else NOTHING
