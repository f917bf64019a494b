"""Words of commitment, judgement, denial and doubt, as patterns over text in lower case: those of words.yaml."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

_LISTS = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, str])


def listed(name: str) -> tuple[str, ...]:
    """The words of a list that holds no patterns, in its order."""
    return tuple(_LISTS[name].split(" | "))


def any_of(name: str) -> str:
    """A pattern for any of the words of a list, and of the lists that it names; no group of it captures."""
    return spelt(_LISTS[name])


def spelt(words: str) -> str:
    """A pattern for any of some words, as words.yaml writes them."""
    words = words.strip().replace(" | ", "|")
    words = re.sub(r"\{([a-z_]+)\}", lambda match: any_of(match[1]), words)
    return "(?:" + re.sub(r"(?<!\\)\((?!\?)", "(?:", words) + ")"


def _words(name: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    return re.compile(before + any_of(name) + after)


def blanked(pattern: re.Pattern[str], text: str, most: int = 0) -> str:
    """The text with blanks in place of a pattern's matches (the first `most`; 0: all), as long as before."""
    return pattern.sub(lambda match: " " * len(match[0]), text, count=most)


NEGATION, EXCLUSION, JUDGED, COMMITMENT, CORRECTION = (
    re.compile(any_of(name)) for name in ("denies", "excludes", "judged", "commits", "corrects")
)
# FREE is blanked before anything is looked at.
FREE, PAST, UNSURE, NONE_FITS, STOP, NOT_APPLICABLE = (
    re.compile(any_of(name)) for name in ("free", "past", "unsure", "none_fits", "stop", "not_applicable")
)
LURE, CONDITION, HYPOTHETICAL, HEDGED = map(_words, ("lure", "condition", "hypothetical", "hedged"))
ON_PICTURE = re.compile(any_of("on_picture"))
THOUGHT_BETTER = re.compile(r"\b(?:but|settled|now|then|before|until)\b")
DEPENDS = re.compile(r"\b(?:it|that|this|(?:answer|choice)) depends\b")
ONLY_IF = re.compile(r"\bif\b[^,]{0,40}\b(?:only|just|merely|alone)\b")
CONCESSION = re.compile(r",? \(?(?:even though|although|though|albeit|even if)\b[^,.;]*(?:,|[.!]?[)\"'”’\]]*$)")
SUBJECT = _words("subject", r"\W*")  # a new subject: what follows is said of something else
TAG_QUESTION = _words("tag_question", ", ", r"\?[\"') ]*$")
FILLERS = re.compile(rf"\b{any_of('filler')}\b|[^\w✗]|_")
LOST = re.compile(rf"\b{any_of('lost')}\b|n't\b")


def only_beside(sentence: str, at: int) -> bool:
    """Return True if a value at a place of a sentence is only mentioned: behind a negation, or as what a sign says."""
    clause = max(map(sentence.rfind, ",;:", (0, 0, 0), (at, at, at))) + 1
    return NEGATION.search(sentence, clause, at) is not None or ON_PICTURE.search(sentence) is not None
