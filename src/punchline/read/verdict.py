"""A judge's PASS or FAIL."""

from __future__ import annotations

import re

from punchline.read import normalize
from punchline.read.explanation import elements
from punchline.read.resolve import decider, resolve
from punchline.read.result import NOTHING, Read, reader
from punchline.read.sentences import Mention

_WORD = re.compile(r"(?<![\w-])(PASS|FAIL)(?:(?:e?s|ed)|(?:E?S|ED))?(?!\w)", re.IGNORECASE)
_SAID = re.compile(r"\b(?:does|did|should|must)(?: not|n't)? $")  # "does not pass"
_CLEAN = re.compile(r"\W*(PASS|FAIL)(?:ED)?\W*", re.IGNORECASE | re.ASCII)
_EMPHASIS = re.compile(r"\W*<(?:b|i|strong|em)>\W*(PASS|FAIL)(?:ED)?\W*</\w{1,6}>\W*", re.IGNORECASE | re.ASCII)


def _mentions(text: normalize.Plain, marked: bool) -> list[Mention]:
    return [
        Mention(*match.span(), match[1].upper())
        for match in _WORD.finditer(text.text)
        if match[0].isascii()
        and (marked or match[1].isupper() or _SAID.search(text.low, max(0, match.start() - 20), match.start()))
    ]


@reader
def verdict(answer: str) -> Read[str]:
    """A judge's "PASS" or "FAIL".

    The content of the first <judgement>…</judgement>; without such a tag the word alone, else what the answer commits
    itself to, in capitals.

    Args:
        answer: The whole answer of a judge.

    Returns:
        The word and its span; no value where the tag holds anything else, as "PASS or FAIL" of the prompt.

    >>> verdict("<judgement>PASS</judgement>").value
    'PASS'
    """
    tagged = next((match for tag in ("judgement", "judgment", "verdict") for match in elements(answer, tag)), None)
    start, end = tagged.span(1) if tagged else (0, len(answer))
    clean = _CLEAN.fullmatch(answer, start, min(end, start + 200)) if tagged or end < 40 else None
    clean = clean or (None if tagged else _EMPHASIS.fullmatch(answer))
    if clean:
        return Read(clean[1].upper(), *clean.span(1))
    return NOTHING if tagged else resolve(answer, decider(_mentions, ("PASS", "FAIL")))
