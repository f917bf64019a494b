"""Words that an answer marks."""

from __future__ import annotations

import re

from punchline.read.highlight import spans, words
from punchline.read.result import NOTHING, Read, verbatim
from punchline.read.words import Texts, pattern

_MOST = 40_000  # characters in which marks are looked for
_REVISED = pattern(r"\b{revised}\b[^:\n]{0,20}:", re.IGNORECASE)


@verbatim
def marked_words(answer: str) -> Read[Texts]:
    """Words between <i> and </i> (or <em>), lower-cased, in order.

    Args:
        answer: The whole answer of a model.

    Returns:
        The words and the span of all passages. A passage that is never closed is not marked.

    >>> marked_words("It <i>Flies</i>.").value
    ('flies',)
    """
    found = [span for span in spans(answer[:_MOST]) if words(answer[slice(*span)])]
    for cue in _REVISED.finditer(answer[:_MOST]):
        found = [span for span in found if span[0] > cue.end()] or found
    marked = tuple(word for span in found for word in words(answer[slice(*span)], hyphens=True))
    return Read(marked, found[0][0], found[-1][1]) if found else NOTHING
