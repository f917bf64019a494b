"""A judge's PASS or FAIL."""

from __future__ import annotations

import re

from punchline.read import dress, tags, thoughts
from punchline.read.clauses import Mention
from punchline.read.result import Read, noted
from punchline.read.settle import settle

_TAGS = ("judgement", "judgment", "verdict")
_WORD = re.compile(r"(?<![\w-])(PASS|FAIL)(?:(?:e?s|ed)|(?:E?S|ED))?(?!\w)", re.IGNORECASE)
_CLEAN = re.compile(r"\W*(PASS|FAIL)(?:ED)?\W*", re.IGNORECASE | re.ASCII)


def _mentions(text: dress.Plain, marked: bool) -> list[Mention]:
    found = [
        Mention(match.start(), match.end(), match[1].upper())
        for match in _WORD.finditer(text.text)
        if match[0].isascii()
    ]
    return found if marked else [one for one in found if text.text[one.start : one.start + 4].isupper()]


@noted
def verdict(answer: str) -> Read[str]:
    """ "PASS" or "FAIL": the content of the first <judgement>…</judgement>; without such a tag the word alone, else
    what the answer commits itself to, in capitals. Nothing where the tag holds anything else, as "PASS or FAIL" of the
    prompt."""
    own = thoughts.off(answer, tuple(tag for tag in thoughts.TAGS if tag != "reasoning"))
    for tag in _TAGS:
        span = tags.inside(own.text, tag) if tags.named(own.text, tag) else None
        if span is not None:
            clean = _CLEAN.fullmatch(own.text[span[0] : min(span[1], span[0] + 200)])
            if clean is None:
                return Read(None)
            return Read(clean[1].upper(), own.offset + span[0] + clean.start(1), own.offset + span[0] + clean.end(1))
    if len(own.text) < 40 and (clean := _CLEAN.fullmatch(own.text)):
        return Read(clean[1].upper(), own.offset + clean.start(1), own.offset + clean.end(1))
    notes = tags.inside(own.text, "reasoning") if tags.named(own.text, "reasoning") else None
    at = own.text.find(">", notes[1]) + 1 if notes else 0
    said = settle(own.text[at:], _mentions, ("PASS", "FAIL"), ("judgement", "judgment"))
    if said.value is None:
        return Read(None)
    return Read(said.value, own.offset + at + said.start, own.offset + at + said.end)
