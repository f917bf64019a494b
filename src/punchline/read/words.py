"""Words of commitment, judgement, denial and doubt, as patterns over text in lower case: those of words.yaml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

import msgspec

Span = tuple[int, int]  # start and end
Texts = tuple[str, ...]
T = TypeVar("T")


def load(name: str, kind: type[T]) -> T:
    """The data of a YAML file of this folder."""
    return msgspec.yaml.decode(Path(__file__).with_name(name).read_bytes(), type=kind)


def preceding(text: str, at: int, length: int = 40) -> str:
    """The characters before a place of a text."""
    return text[max(0, at - length) : at]


_LISTS = load("words.yaml", dict[str, str])


def listed(name: str) -> Texts:
    """The words of a list that holds no patterns, in its order."""
    return tuple(_LISTS[name].split(" | "))


def any_of(name: str) -> str:
    """The words of a list, and of the lists that it names, as a regular expression; no group of it captures."""
    return spelt(_LISTS[name])


def spelt(words: str) -> str:
    """Some words, as words.yaml writes them, as a regular expression."""
    words = _filled(words.strip().replace(" | ", "|"))
    return "(?:" + re.sub(r"(?<!\\)\((?!\?)", "(?:", words) + ")"


def _filled(text: str) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda match: any_of(match[1]), text)


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    r"""A compiled regular expression in which {name} stands for any word of a list of words.yaml.

    >>> bool(pattern(r"\b{ordinal} panel").search("the third panel"))
    True
    """
    return re.compile(_filled(text), flags)


def blanked(pattern: re.Pattern[str], text: str, most: int = 0) -> str:
    """The text with blanks in place of a pattern's matches (the first `most`; 0: all), as long as before."""
    return pattern.sub(lambda match: " " * len(match[0]), text, count=most)


NEGATION = pattern("{denies}")
EXCLUSION = pattern("{excludes}")
JUDGED = pattern("{judged}")
COMMITMENT = pattern("{commits}")
CORRECTION = pattern("{corrects}")
FREE = pattern("{free}")  # is blanked before anything is looked at
PAST = pattern("{past}")
UNSURE = pattern("{unsure}")
NONE_FITS = pattern("{none_fits}")
STOP = pattern("{stop}")
NOT_APPLICABLE = pattern("{not_applicable}")
LURE = pattern(r"\b{lure}\b")
CONDITION = pattern(r"\b{condition}\b")
HYPOTHETICAL = pattern(r"\b{hypothetical}\b")
HEDGED = pattern(r"\b{hedged}\b")
ON_PICTURE = pattern("{on_picture}")
THOUGHT_BETTER = re.compile(r"\b(?:but|settled|now|then|before|until)\b")
DEPENDS = re.compile(r"\b(?:it|that|this|(?:answer|choice)) depends\b")
ONLY_IF = re.compile(r"\bif\b[^,]{0,40}\b(?:only|just|merely|alone)\b")
CONCESSION = re.compile(r",? \(?(?:even though|although|though|albeit|even if)\b[^,.;]*(?:,|[.!]?[)\"'”’\]]*$)")
SUBJECT = pattern(r"\W*{subject}\b")  # a new subject: what follows is said of something else
TAG_QUESTION = pattern(r", {tag_question}\?[\"') ]*$")
FILLERS = pattern(r"\b{filler}\b|[^\w✗]|_")
LOST = pattern(r"\b{lost}\b|n't\b")


def only_beside(sentence: str, at: int) -> bool:
    """Return True if a value at a place of a sentence is only mentioned: behind a negation, or as what a sign says."""
    clause = max(map(sentence.rfind, ",;:", (0, 0, 0), (at, at, at))) + 1
    return NEGATION.search(sentence, clause, at) is not None or ON_PICTURE.search(sentence) is not None
