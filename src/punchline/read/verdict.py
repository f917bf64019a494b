"""A judge's PASS or FAIL."""

from __future__ import annotations

import re

from punchline.read import normalize, reasoning, tags
from punchline.read.resolve import decider, resolve
from punchline.read.result import Read, recorded
from punchline.read.sentences import Mention

_TAGS = ("judgement", "judgment", "verdict")
_WORD = re.compile(r"(?<![\w-])(PASS|FAIL)(?:(?:e?s|ed)|(?:E?S|ED))?(?!\w)", re.IGNORECASE)
_CLEAN = re.compile(r"\W*(PASS|FAIL)(?:ED)?\W*", re.IGNORECASE | re.ASCII)


def _mentions(text: normalize.Plain, marked: bool) -> list[Mention]:
    return [
        Mention(*match.span(), match[1].upper())
        for match in _WORD.finditer(text.text)
        if match[0].isascii() and (marked or match[1].isupper())
    ]


@recorded
def verdict(answer: str) -> Read[str]:
    """ "PASS" or "FAIL": the content of the first <judgement>…</judgement>; without such a tag the word alone, else
    what the answer commits itself to, in capitals. Nothing where the tag holds anything else, as "PASS or FAIL" of the
    prompt."""
    part = reasoning.remove(answer, tuple(tag for tag in reasoning.TAGS if tag != "reasoning"))
    tagged = next(filter(None, (tags.inside(part.text, tag) for tag in _TAGS)), None)
    start, end = tagged or (0, len(part.text))
    if tagged or end < 40:
        if clean := _CLEAN.fullmatch(part.text, start, min(end, start + 200)):
            return Read(clean[1].upper(), part.offset + clean.start(1), part.offset + clean.end(1))
        if tagged:
            return Read(None)
    notes = tags.inside(part.text, "reasoning")
    at = part.text.find(">", notes[1]) + 1 if notes else 0
    if notes is None and "<reasoning>" in part.text.lower():  # never closed
        return Read(None)
    return resolve(part.text[at:], decider(_mentions, ("PASS", "FAIL"))).moved(part.offset + at)
