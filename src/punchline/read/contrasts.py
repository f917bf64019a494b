"""Rules of contrasts: what "C rather than A", "not A but C", "all but C" say of the values after their word.

Each is named as its list in words.yaml, and takes a match of it, the words before and those behind it.
"""

from __future__ import annotations

import re

from punchline.read import words
from punchline.read.sentences import judgement
from punchline.read.words import pattern

Weight = tuple[int, int] | None  # the sign and tier of a claim; None: the rule says nothing
_LESS = pattern(r"\b{less}\b")
_ALL = pattern(r"\b{all_options}\b[^,;:]{0,60}$|^\W*(?:all )?$")


def without(match: re.Match[str], before: str, after: str) -> Weight:
    """Affirm the value without which a joke is lost: "Without B the joke is lost"."""
    return (1, 1) if words.LOST.search(match["rest"]) else (0, -1)


def less_than(match: re.Match[str], before: str, after: str) -> Weight:
    """Affirm B and deny A of "less A than B"."""
    return -1, 1


def all_but(match: re.Match[str], before: str, after: str) -> Weight:
    """Take an exception as the opposite of the others: "All but C are wrong"."""
    if not _ALL.search(before) or (match[0].startswith("but") and not before.strip()):
        return None
    bad = judgement(after).sign < 0 or (judgement(before).sign < 0 and not after.strip(" .!"))
    none = re.search(r"\b(?:none|nothing|no|nobody)\b", before) or words.EXCLUSION.search(before)
    return 1 if bad or none else -1, 2


def not_these(match: re.Match[str], before: str, after: str) -> Weight:
    """Deny the values after "not": "It is not A but C"."""
    return -1, 1


def rather_these(match: re.Match[str], before: str, after: str) -> Weight:
    """Deny the value that another one is preferred to: "C rather than A"."""
    return -1, 1


def than_these(match: re.Match[str], before: str, after: str) -> Weight:
    """Deny the value that another one is better than; affirm one that no other is better than."""
    denied = _LESS.search(before) or words.NEGATION.search(before)
    compares = re.search(r"\b(?:more|less|\w{2,}er|worse|rather|sooner|as)\b[^,;]{0,80}$", before)
    if not compares or (match[0].startswith("as") and not denied):
        return None
    return 1 if denied else -1, 1


CONTRASTS = (without, less_than, all_but, not_these, rather_these, than_these)
CONTRASTED = {rule: pattern(f"{{{rule.__name__}}}") for rule in CONTRASTS}
