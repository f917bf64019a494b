"""Sentences of an answer in which values are masked, and what a predicate says of its subject."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from punchline.read import words
from punchline.read.words import Span

LONGEST = 1_500  # characters of a sentence; a longer one is read in pieces
NEAR = 300  # characters around a value that bear on it
FIRST, REST = "\ufffc", "\ufffb"  # stand for a mention: normalize.plain leaves neither in a text
MENTION = words.any_of("mention")
_SENTENCE = re.compile(r"[.!?]+[\"')\]]{0,3}(?=\s|$)|\n")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|vs|mr|mrs|ms|dr|etc|st|no|cf)|(?:^|\n)\W{0,3}\d{1,3})$")
LEAD = words.pattern("{lead}")


class Mention(NamedTuple):
    """A value that a plain text mentions; "" for one that contradicts itself. `text`: spelt out, no mere letter."""

    start: int
    end: int
    value: str
    text: bool = False


class Claim(NamedTuple):
    """A claim on one value, or on several at once (value ""): sign 1 affirmed, -1 denied, 0 neither.

    tier: 4 the last words of an answer, by themselves; 3 by itself or leading the answer; 2 committed to; 1 asserted;
    0 mentioned; -1 mentioned in doubt, a question, a condition; -2 as what was thought before, or tempts.
    """

    start: int
    end: int
    value: str
    sign: int
    tier: int


S = TypeVar("S", Mention, Claim)


def masked(low: str, mentions: Sequence[Mention]) -> str:
    """A text with each mention as one FIRST and as many REST as it is long, but for the first."""
    pieces, at = [], 0
    for mention in mentions:
        pieces += [low[at : mention.start], FIRST, REST * (mention.end - mention.start - 1)]
        at = mention.end
    return "".join((*pieces, low[at:]))


def within(mentions: Sequence[Mention], start: int, end: int) -> list[Mention]:
    """The mentions that begin in a span, up to its end; `mentions` are in order."""
    inside = mentions[bisect.bisect_left(mentions, (start,)) : bisect.bisect_left(mentions, (end,))]
    return [one._replace(end=min(one.end, end)) for one in inside]


def moved(spans: Iterable[S], by: int) -> list[S]:
    """Mentions or claims, so many characters further on."""
    return [one._replace(start=one.start + by, end=one.end + by) for one in spans]


def sentences(text: str) -> list[Span]:
    """Spans of the sentences of a masked text. "A." before more on its line is the lead of its sentence."""
    ends = [0]
    for match in _SENTENCE.finditer(text):
        start = ends[-1]
        if match[0][0] == ".":
            ticked = text.startswith((" ✓", " ✗"), match.end())  # "A. ✗ B. ✓": said of what stands before
            abbreviated = _ABBREVIATED.search(text[max(start, match.start() - 8) : match.start()])
            if abbreviated and abbreviated[0] == "no":  # "no. 3"
                abbreviated = re.compile(r"\s\d").match(text, match.end())
            goes_on = text[match.end() : match.end() + 1] not in ("", "\n") and match.end() - start < 80
            if ticked or abbreviated or (goes_on and LEAD.match(text[start : match.end()])):
                continue
        ends.append(match.end())
    spans = [span for span in itertools.pairwise([*ends, len(text)]) if text[slice(*span)].strip()]
    return [(at, min(at + LONGEST, end)) for start, end in spans for at in range(start, end, LONGEST)]


class Judgement(NamedTuple):
    sign: int
    best: bool = False
    hedged: bool = False


def judgement(text: str) -> Judgement:
    """What a predicate says of its subject: of clauses joined by "but" the last that judges counts."""
    verdict = Judgement(0)
    sign, best, denying = 0, False, False
    for match in words.JUDGED.finditer(text):
        kind = match.lastgroup
        if kind == "but":
            if sign or denying:
                verdict = Judgement(sign or -1, best, True)
            sign, best, denying = 0, False, False
        elif kind == "though" and (sign or denying):
            break
        elif sign or kind == "though":
            continue
        elif kind == "neg":
            denying = not denying
        else:
            good = kind != "bad"
            sign, best = (1 if good != denying else -1), kind == "best" and not denying
    if sign or denying:
        verdict = Judgement(sign or -1, best)
    return verdict._replace(hedged=verdict.hedged or words.HEDGED.search(text) is not None)
