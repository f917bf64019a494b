"""What the sentences of an answer claim of the values that they mention: which is affirmed, which is denied.

Sentence by sentence: comparisons and contrasts first ("C rather than A"), then what stands before a value in its clause
(a commitment, a negation, doubt) and what is said of it behind (a judgement). resolve.py weighs the claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from punchline.read import words
from punchline.read.contrasts import CONTRASTED, CONTRASTS, less_than, rather_these
from punchline.read.predicates import STANDS, WEIGHTS, Group, Place
from punchline.read.reasoning import blanked
from punchline.read.sentences import (
    FIRST,
    LONGEST,
    MENTION,
    NEAR,
    Claim,
    Mention,
    judgement,
    masked,
    moved,
    sentences,
    within,
)
from punchline.read.words import Span, pattern, preceding

_GROUP = pattern(r"{mention}(?:{between_mentions}{mention}){0,11}")
_BOUNDARY = pattern(r"[,;:()]| -+ |\b{clause_begins}\b")
_AND_NOT = re.compile(r"[)\"']{0,2}, (?:and )?not\b")  # behind words of an option: what it is told apart from
_FRONTED = re.compile(r"[ \"'(]*(?:rather than|instead of|unlike|far from)\b[^.;]{1,200}?, (?=(?:the|it|this|i|we)\b)")
_AS_WELL = pattern("{as_well}")
_ALSO = re.compile(r"[)\]\"']{0,2},? (?:n?or|and) [\w' -]{0,40}[(\"]?|\),? [\w' -]{0,40}\(")
_NOT_OF_NEXT, _NO_OF_NEXT = pattern("{of_next_value}"), pattern("{no_of_next_value}")
_ROW = pattern(r"({judged_mention}) (?=[(\[\"']?\ufffc)")  # "(A) no (B) yes"
_TICK = re.compile(r"([✓✗]) ")
_OR_MAYBE = re.compile(r"\W*or (?:maybe|perhaps|possibly)\b(?! not)")
_SINGULAR = pattern(r"[)\]\"'.,]{0,3} ?{singular_verb}\b")


def _parted(text: str) -> str:
    """A sentence with its ticks and crosses parted from the values that they are not said of."""
    text = _ROW.sub(r"\1;", text)
    if (tick := _TICK.search(text)) is None:
        return text
    return _TICK.sub(r"\1;" if FIRST in text[: tick.start()] else r";\1", text)


@dataclass
class Sentence:
    """One sentence of a masked text; its claims."""

    text: str
    mentions: dict[int, Mention]  # by where they begin
    given: frozenset[str]
    first: bool
    judged: bool
    single: bool
    question: bool = False

    def __post_init__(self) -> None:
        tag = words.TAG_QUESTION.search(self.text)
        self.question = self.text.rstrip(" \"')").endswith("?") and not tag
        statement = self.text[: tag.start()].ljust(len(self.text)) if tag else self.text
        self.text = _parted(words.blanked(words.FREE, statement))

    def groups(self, start: int = 0, end: int = LONGEST) -> Iterator[Group]:  # no sentence is longer
        for match in _GROUP.finditer(self.text, start, end):
            yield tuple(self.mentions[at] for at in range(*match.span()) if self.text[at] == FIRST)

    def claim(self, group: Group, sign: int, tier: int) -> list[Claim]:
        """Claims of a group. All values that there are: a menu, no claim; several affirmed: no single one is."""
        start, end = group[0].start, group[-1].end
        values = {mention.value for mention in group}
        if self.single and len(values) > 1:
            if values >= self.given:  # a menu, or none of them
                return [Claim(start, end, "", 0, -1) if sign >= 0 else Claim(start, end, "", 1, 2)]
            if sign > 0:
                return [Claim(start, end, "", sign, tier)]
        return [Claim(m.start, m.end, m.value, sign, tier) for m in group]

    def contrasts(self) -> list[Claim]:
        """Claims of what is contrasted; blanks it, so that what is left reads without it."""
        claims: list[Claim] = []
        if fronted := _FRONTED.match(self.text):
            claims += [one for group in self.groups(0, fronted.end()) for one in self.claim(group, -1, 1)]
            self.text = blanked(self.text, [fronted.span()])
        for rule in CONTRASTS:
            text = self.text
            for match in list(CONTRASTED[rule].finditer(text)):
                before = preceding(text, match.start(), NEAR)
                weight = rule(match, before, text[match.end() : match.end() + NEAR])
                if weight is None:
                    continue
                if rule is less_than:
                    claims += self.claim(next(self.groups(*match.span("more"))), 1, 2)
                end = match.end()
                for group in self.groups(*match.span("g")):
                    listed = len(group) == 1 or re.search(r"\b(?:and|n?or)\b", text[group[-2].end : group[-1].start])
                    if rule is rather_these and not before.strip(" (\"'") and not listed:  # "rather than B, D …": D is
                        group = group[:-1]
                        end = group[-1].end
                    claims += self.claim(group, *weight)
                self.text = blanked(self.text, [(match.start(), end)])
        return claims

    def left(self, start: int, floor: int) -> str:
        """The words before a value in its clause; if it begins the clause, those of the clause before too."""
        before = self.text[max(floor, start - NEAR) : start]
        for cut in reversed(list(_BOUNDARY.finditer(before))):
            clause = before[cut.start() :]
            if clause.strip(" ,;:()-\"'[") or cut[0] in ",;":
                return clause
        return before

    def right(self, end: int, ceiling: int) -> str:
        """The words behind a value in its clause; "" if they belong to the next one."""
        after = self.text[end : min(ceiling, end + NEAR)]
        if ceiling < len(self.text):
            after = (_NOT_OF_NEXT if self.single else _NO_OF_NEXT).sub("", after)
        if not self.judged and re.match(r"[)\]\"']{0,3} ?(?:[.,:;!-]|and\b)", after):
            return ""
        after = words.CONCESSION.sub(" ", re.sub(r"^[(){}\]\"'.:,| -]{0,8}+", " ", after))
        if words.SUBJECT.match(after):
            return ""
        return after[: stop.start()] if (stop := words.STOP.search(after)) else after

    def weigh(self, group: Group, floor: int, ceiling: int, alone: bool) -> Span:
        """(sign, tier) of a group that is not contrasted with any: that of the first rule which knows it."""
        left, right = self.left(group[0].start, floor), self.right(group[-1].end, ceiling)
        if group[-1].text and _AND_NOT.match(self.text, group[-1].end):
            right = ""
        place = Place(self.text, group, left, right, alone, self.first, self.single, self.question)
        return next(filter(None, (rule(place) for rule in WEIGHTS)), (0, 0))

    def claims(self) -> list[Claim]:
        claims = self.contrasts()
        groups = list(self.split(self.groups()))
        alone = len(groups) == 1 and not words.FILLERS.sub("", re.sub(MENTION, " ", self.text))
        floors = [0, *(group[-1].end for group in groups)]
        ceilings = [*(group[0].start for group in groups[1:]), len(self.text)]
        for number, (group, floor, ceiling) in enumerate(zip(groups, floors, ceilings, strict=False)):
            start, end = group[0].start, group[-1].end
            sign, tier = self.weigh(group, floor, ceiling, alone)
            before = claims[-1].sign if claims else -1
            also = number and before < 0 and _ALSO.fullmatch(self.text, floor, start)
            if also and (sign, tier) in ((1, 1), (0, 0)):
                sign = -1  # "not about phones (A) or effort (D)"
            gap = self.text[floor:start] if number else ""
            around = f"{preceding(self.text, start, 20)}|{self.text[end:]}"
            either = min(sign, before, tier) >= 0 and re.search(r"\bor\b(?! rather)(?!.*[;])", gap)
            either = either or (not number and _OR_MAYBE.match(self.text))
            both = _AS_WELL.search(around) if claims else None
            claims += self.claim(group, sign, tier)
            if either or both:  # "it is A or it is B", "so is C"
                claims.append(Claim(floor, end, "", 1, 2))
        return self.last_of(self.without_bare(claims))

    def without_bare(self, claims: list[Claim]) -> list[Claim]:
        """Without letters that only stand there, in a sentence that denies something else or tells of a sign."""
        if any(claim.sign < 0 for claim in claims) and not words.ON_PICTURE.search(self.text):
            return claims
        left = list(claims)
        for place, claim in enumerate(claims):
            letter = self.single and claim.end - claim.start == 1 and (claim.sign, claim.tier) == (1, 1)
            if letter and STANDS.match(self.text, claim.end) and words.only_beside(self.text, claim.start):
                left[place] = claim._replace(sign=0, tier=0)
        return left

    def last_of(self, claims: list[Claim]) -> list[Claim]:
        """Of "I'd lean towards A, but … so B" the last commitment stands, unless it is hedged."""
        committed = [claim for claim in claims if claim.sign > 0 and claim.tier == 2]
        if len(committed) < 2 or committed[-1].value == committed[-2].value:
            return claims
        first, last = committed[-2:]
        turn = re.compile(r"[,;]? (?:but|however|yet)\b").search(self.text, first.end, last.start)
        if turn is None or words.HEDGED.search(self.text, turn.end(), last.start):
            return claims
        return [claim._replace(sign=0, tier=-2) if claim.value == first.value else claim for claim in claims]

    def split(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Of "B, C is wrong" and "B, and C is wrong" only the last is the subject; "between A and B, B" is two."""
        for group in groups:
            start, end = group[0].start, group[-1].end
            between = preceding(self.text, start, 12).rstrip("([\"' ").endswith("between")
            repeats = between and group[-1].value in {one.value for one in group[:-1]}
            several = len(group) > 1 and not re.search(r"\b(?:n?or|both|either)\b", self.text[start:end])
            judged = _SINGULAR.match(self.text, end) and judgement(self.text[end : end + NEAR]).sign
            if repeats or (several and judged):
                yield group[:-1]
                group = group[-1:]
            yield group


def claims(
    low: str, mentions: Sequence[Mention], given: frozenset[str], judged: bool = True, single: bool = True
) -> list[Claim]:
    """All claims of a text, in its order; `mentions` in order, none in another. `judged`: what follows a value and a
    comma or colon is said of it ("A: too broad"), not of the matter ("No, it is not"). `single`: one value is right, so
    that two affirmed at once are none."""
    text = masked(low, mentions)
    claims: list[Claim] = []
    spans = sentences(text)
    for number, (start, end) in enumerate(spans):
        sentence = text[start:end]
        if FIRST not in sentence:
            none = words.NONE_FITS.search(sentence)
            if none and not re.search(r"\bother\b", sentence[: none.end() + 12]):
                claims.append(Claim(start + none.start(), start + none.end(), "", 1, 2))
            continue
        places = {one.start: one for one in moved(within(mentions, start, end), -start)}
        of_sentence = moved(Sentence(sentence, places, given, number == 0, judged, single).claims(), start)
        alone = len(of_sentence) == 1 and of_sentence[0].tier == 3
        if alone and 0 < number == len(spans) - 1 and not _lists(claims, of_sentence):
            of_sentence = [of_sentence[0]._replace(tier=4)]
        claims += of_sentence
    return _without_first_of_list(text, spans, sorted(claims))


def _lists(claims: list[Claim], last: list[Claim]) -> bool:
    """True if a last line goes on with a list: "B\nC"."""
    values = [claim.value for claim in (*claims, *last)]
    firm = all(claim.tier >= 3 for claim in claims)
    return firm and (len(claims) == 1 or (len(values) > 1 and values == sorted(set(values))))


def _without_first_of_list(text: str, spans: list[Span], claims: list[Claim]) -> list[Claim]:
    """An answer that begins with an option is one of it, unless others head lines or sentences in the same way."""
    heads = {
        start + head[0].index(FIRST)
        for start, end in spans
        if (head := re.match(rf"\W*(?:option )?[(\"'\[]?{MENTION}(?=[)\]\"']{{0,3}} ?[.):,-])", text[start:end]))
    }
    leading = {claim.value for claim in claims if claim.start in heads and claim.sign > 0}
    if len(leading) < 2 or claims[0].tier != 2 or claims[0].start not in heads:
        return claims
    return [claims[0]._replace(tier=1), *claims[1:]]
