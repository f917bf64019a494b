"""Marked answers: boxes, tags, JSON, "Final answer:", "Answer:", a last line by itself."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from punchline.read import normalize
from punchline.read.words import pattern

FIRM, SAID = 2, 1  # marked as the final answer; marked as an answer


class Zone(NamedTuple):
    """A span of the answer that it marks as what it answers."""

    start: int
    end: int
    rank: int


LONGEST = 1_000  # characters of a zone
MOST = 8  # zones of one kind, the last ones
EDGE = 20_000  # characters at the beginning and at the end of an answer in which zones are looked for

_BOXED = re.compile(r"\\(?:f?boxed|fbox|framebox)\s{0,3}\{")
_TAG = pattern("{answer_tag}", re.IGNORECASE)
_KEY = pattern(r"[\"']{answer_key}[\"']\s{0,9}:\s{0,9}", re.IGNORECASE)  # of a JSON object's member
_VALUE = re.compile(
    r"\"(?:[^\"\\\n]|\\.){0,2000}+\"|'(?:[^'\\\n]|\\.){0,2000}+'|\[[^\[\]]{0,2000}+\]|[^,}\]\n]{0,400}+", re.DOTALL
)
_CUE = pattern(r"(?:(?<=\n)|^|(?<=[.!?>] )|(?<=[-(] )){answer_cue} ?(?:[:=]|->|→|-(?= )|(?=\n))\s{0,3}")
_COURTESY = pattern("{polite_end}", re.IGNORECASE)


def boxed(text: str, at: int) -> Iterator[Zone]:
    """Mark the content of \\boxed{}; a box never closed ends with its line."""
    for match in list(_BOXED.finditer(text))[-MOST:]:
        start, limit = match.end(), min(len(text), match.end() + LONGEST)
        depths = itertools.accumulate(({"{": 1, "}": -1}.get(mark, 0) for mark in text[start:limit]), initial=1)
        closed = next((length - 1 for length, depth in enumerate(depths) if not depth), None)
        line = text.find("\n", start, limit)
        end = start + closed if closed is not None else line if line >= 0 else limit
        yield Zone(at + start, at + end, FIRM)


def tagged(text: str, at: int) -> Iterator[Zone]:
    """Mark the content of <answer> and similar tags."""
    low = normalize.lower(text)
    for match in list(_TAG.finditer(text))[-MOST:]:
        closing = {"tag": "</{}>", "token": "<|end_of_{}|>", "bracket": "[/{}]"}[match.lastgroup or "tag"]
        limit = min(len(text), match.end() + LONGEST)
        end = low.find(closing.format(match[match.lastgroup or 0].lower()), match.end(), limit)
        yield Zone(at + match.end(), at + (end if end >= 0 else limit), FIRM)


def members(text: str, at: int) -> Iterator[Zone]:
    """A JSON object's member "answer" is marked."""
    for match in list(_KEY.finditer(text))[-MOST:]:
        if (value := _VALUE.match(text, match.end())) and value[0].strip():
            yield Zone(at + value.start(), at + value.end(), FIRM)


def cued(text: normalize.Plain) -> Iterator[Zone]:
    """Mark the rest of the line after "Answer:", or the next line where that is empty."""
    for match in list(_CUE.finditer(text.low))[-MOST:]:
        end = (text.low + "\n").index("\n", match.end())
        if match.end() < end:
            span = text.span(match.end(), min(end, match.end() + LONGEST))
            yield Zone(*span, FIRM if "final" in match[0] else SAID)


KINDS = (boxed, tagged, members)


def without_courtesy(answer: str) -> str:
    """A polite sentence at the end, of which there may be two, is no answer."""
    for _ in range(2):
        match = _COURTESY.search(answer, max(0, len(answer) - 300))
        if match is None or not answer[: match.start()].strip():
            break
        answer = answer[: match.start()]
    return answer


def zones(answer: str, text: normalize.Plain) -> list[Zone]:
    """The marked answers of an answer, in its order. `text`: it in plain."""
    marked = set(cued(text))
    for at, piece in normalize.ends(answer, EDGE, EDGE):
        for rule in KINDS:
            marked.update(rule(piece, at))
    return sorted(marked)
