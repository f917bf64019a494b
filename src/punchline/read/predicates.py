"""Rules of predicates: claims about a value by the words before and behind it in its clause."""

from __future__ import annotations

import re
from dataclasses import dataclass

from punchline.read import words
from punchline.read.contrasts import Weight
from punchline.read.sentences import LEAD, NEAR, Mention, judgement
from punchline.read.words import pattern

Group = tuple[Mention, ...]  # values mentioned together: "A, B and D"
_REJECTED = pattern(r"\b{rejected}(?: \w+)?\W{0,3}$")
_PROVIDED = pattern("{provided_that}")  # "B if the man is sad", "B would be right if"
_PICTURED = re.compile(r"[)\]\"']{0,3} (?:is|are) (?:shown|seen|depicted|visible|drawn)\b")  # in lower case: seen
_MARKED = pattern(r"[)\]\"']{0,3} ?{behind_marked}")
STANDS = re.compile(r"[)\]\"']{0,2} ?(?:[.,;:!]|$|\n)")  # behind a value of which nothing is said


@dataclass
class Place:
    """Values mentioned together in a sentence, and the words before and behind them in their clause."""

    text: str  # of the sentence
    group: Group
    left: str
    right: str
    alone: bool  # the sentence says nothing else
    first: bool  # the sentence begins the answer
    single: bool  # one value is right
    question: bool

    def __post_init__(self) -> None:
        self.start, self.end = self.group[0].start, self.group[-1].end
        self.said = judgement(self.right)
        head, _, clause = self.left.rpartition(":")
        letter = self.single and self.end - self.start == 1  # "no B"; but "no words"
        said_no = r"\bno(?:pe)?\b ?(?=[,:;-]|$)" if letter else r"\bno(?:pe)?\b ?(?=[,:;-])"
        denials = words.NEGATION.findall(re.sub(said_no, " ", clause)) + words.EXCLUSION.findall(clause)
        self.denied = len(denials) % 2 == 1 or _REJECTED.search(head) is not None
        begins = self.start < 40 and not self.text[: self.start].strip(" (\"'[")
        self.leads = begins or (self.end < 80 and LEAD.match(self.text[: self.end]) is not None)


# Rules in the order in which they apply.


def conditional(place: Place) -> Weight:
    """Take a value under a condition, or seen in the picture, as a mention: "B if he is sad"."""
    pictured = place.group[-1].text and _PICTURED.match(place.text, place.end)
    condition = words.ONLY_IF.search(place.text, 0, place.start) or _PROVIDED.match(place.text, place.end)
    return (0, -1) if condition or pictured else None


def tempting(place: Place) -> Weight:
    """Take a tempting value as not chosen: "A is a close second"."""
    if place.said.best or not words.LURE.search(place.right):
        return None
    return (-1, 1) if place.said.sign < 0 else (0, -2)


def supposed(place: Place) -> Weight:
    """Take a value in a question, a condition or a doubt as a mention."""
    left, right, text = place.left, place.right, place.text
    doubted = words.UNSURE.search(left) or words.CONDITION.search(left) or words.HYPOTHETICAL.search(right)
    may = re.match(r" ?(?:would|might|could|may)\b", right) or re.search(r"\b(?:would|might|could) be\b", left)
    conditional = may and words.CONDITION.search(text, max(0, place.start - NEAR), place.start)
    return (0, -1) if place.question or doubted or words.DEPENDS.search(text) or conditional else None


def thought_before(place: Place) -> Weight:
    """Take an earlier or somebody else's choice as not chosen: "At first I thought A"."""
    past = words.PAST.search(place.left)
    if not past or words.THOUGHT_BETTER.search(place.left, past.end()):
        return None
    return (0, -2) if place.said.sign >= 0 or place.denied else None


def conceded(place: Place) -> Weight:
    """Take a conceded value as not chosen: "While A is true, …"."""
    may_be = not place.said.best or re.match(r" ?(?:would|might|could) ", place.right)
    granted = re.search(r"\b(?:while|(?:even )?though|although|granted)\b", place.left)
    return (0, -2) if place.said.sign > 0 and may_be and granted else None


def denied(place: Place) -> Weight:
    """Deny a value behind a negation: "I rule out A"; "I do not think A is wrong" says nothing."""
    if not place.denied:
        return None
    return (-1, 1) if place.said.sign >= 0 or place.alone else (0, 0)


def judged(place: Place) -> Weight:
    """Affirm or deny a value that is called right or wrong: "C fits best"."""
    sign = place.said.sign
    if place.alone or not sign:
        return None
    committed = sign > 0 and ((place.said.best and not place.said.hedged) or (place.first and place.leads))
    return sign, 2 if committed else 1


def alone(place: Place) -> Weight:
    """A sentence that is a value and nothing else commits: "C."."""
    return (1, 3) if place.alone else None


def leading(place: Place) -> Weight:
    """A value that an answer begins with is chosen, if a reason or nothing follows: "C. The mug …"."""
    if not place.leads:
        return None
    tier = 2 if place.first else 1
    return (1, tier) if _MARKED.match(place.text, place.end) else (0, 0)


def committed(place: Place) -> Weight:
    """Words of commitment before a value choose it: "I would go with C"."""
    return (1, 2) if words.COMMITMENT.search(place.left) else None


def standing(place: Place) -> Weight:
    """A value of which nothing is said is asserted: "In the end, C."."""
    return (1, 1) if STANDS.match(place.text, place.end) else None


WEIGHTS = (
    *(conditional, tempting, supposed, thought_before, conceded, denied),
    *(judged, alone, leading, committed, standing),
)
