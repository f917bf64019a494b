"""Overlap of the words that two texts put between <i> and </i>."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(r"<(/?)[iI]>")
_OTHER_TAG = re.compile(r"</?[a-zA-Z]{1,10}>")
_WORD = re.compile(r"\w+(?:['’]\w+)*")


class Overlap(NamedTuple):
    """Shares of words in 0..1."""

    jaccard: float
    precision: float  # of the candidate's words, what the reference has
    recall: float  # of the reference's words, what the candidate has


def balanced(text: str) -> bool:
    """Whether every <i> is closed, none is closed twice, and none lies in another."""
    return [tag[1] for tag in _TAG.finditer(text)] == ["", "/"] * (len(_TAG.findall(text)) // 2)


def words(text: str) -> tuple[str, ...]:
    """Words, lower-cased, in order: runs of letters and digits with the apostrophes inside; other tags are left out."""
    return tuple(word.replace("’", "'") for word in _WORD.findall(_OTHER_TAG.sub("", text).lower()))


def highlighted(text: str) -> tuple[str, ...]:
    """Words between <i> and </i>, in order. What is opened and never closed is not highlighted."""
    return tuple(word for passage in passages(text) for word in words(passage))


def passages(text: str) -> tuple[str, ...]:
    """What stands between <i> and </i>, in order and as it is."""
    found, opened = list[str](), list[int]()
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened.append(tag.end())
        elif opened:
            start = opened.pop()
            found += [] if opened else [text[start : tag.start()]]
    return tuple(found)


def overlap(candidate: tuple[str, ...], reference: tuple[str, ...]) -> Overlap | None:
    """Overlap of two sets of words; None where either is empty."""
    ours, theirs = set(candidate), set(reference)
    if not ours or not theirs:
        return None
    both = len(ours & theirs)
    return Overlap(both / len(ours | theirs), both / len(ours), both / len(theirs))
