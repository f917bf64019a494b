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
    words = _LISTS[name].replace(" | ", "|")
    words = re.sub(r"\{([a-z_]+)\}", lambda match: any_of(match[1]), words)
    return "(?:" + re.sub(r"(?<!\\)\((?!\?)", "(?:", words) + ")"


def _words(name: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    return re.compile(before + any_of(name) + after)


def blanked(pattern: re.Pattern[str], text: str, most: int = 0) -> str:
    """The text with blanks in place of a pattern's matches (the first `most`; 0: all), as long as before."""
    return pattern.sub(lambda match: " " * len(match[0]), text, count=most)


FREE = _words("free", "", "")  # blanked before anything is looked at
NEGATION = re.compile(any_of("denies"))
EXCLUSION = re.compile(any_of("excludes"))
JUDGED = re.compile(any_of("judged"))
COMMITMENT = re.compile(any_of("commits"))
PAST = _words("past", "", "")
LURE = _words("lure")
THOUGHT_BETTER = re.compile(r"\b(?:but|settled|now|then|before|until)\b")
UNSURE = _words("unsure", "", "")
DEPENDS = re.compile(r"\b(?:it|that|this|(?:answer|choice)) depends\b")
ONLY_IF = re.compile(r"\bif\b[^,]{0,40}\b(?:only|just|merely|alone)\b")
CONDITION = _words("condition")
HYPOTHETICAL = _words("hypothetical")
HEDGED = _words("hedged")
CORRECTION = re.compile(any_of("corrects"))
NONE_FITS = _words("none_fits", "", "")
CONCESSION = re.compile(r",? \(?(?:even though|although|though|albeit|even if)\b[^,.;]*(?:,|[.!]?[)\"'”’\]]*$)")
SUBJECT = _words("subject", r"\W*")  # a new subject: what follows is said of something else
STOP = _words("stop", "", "")
TAG_QUESTION = _words("tag_question", ", ", r"\?[\"') ]*$")
FILLERS = re.compile(rf"\b{any_of('filler')}\b|[^\w✗]|_")
LOST = re.compile(rf"\b{any_of('lost')}\b|n't\b")
NOT_APPLICABLE = _words("not_applicable", "", "")
