"""Which value an answer commits itself to, when all that it marks and claims is weighed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from punchline.read import marked, normalize, words
from punchline.read.claims import claims
from punchline.read.languages import english
from punchline.read.refusal import asks_back, refuses
from punchline.read.result import NOTHING, Read
from punchline.read.sentences import Claim, Mention, moved, sentences, within
from punchline.read.words import preceding

# Mentions in a plain text; the flag says that it is a marked answer, where a small letter is an option too.
Lexer = Callable[[normalize.Plain, bool], Sequence[Mention]]


def _agreed(pool: Iterable[Claim]) -> Read[Any] | None:
    """The one value of all claims of a pool; None for an empty pool."""
    live = list(pool)
    if len({claim.value for claim in live}) == 1:
        return Read(live[-1].value, live[-1].start, live[-1].end, True)
    return Read(None, decided=True) if live else None


def weigh(claims: Sequence[Claim], given: frozenset[str], eliminates: bool = True) -> Read[Any]:
    """Take the firmest claims, if they agree; else the one value that is not denied; else the only mention."""
    denied: dict[str, Claim] = {}
    live: list[Claim] = []
    for claim in reversed(claims):  # of one value what is said last counts, and what is marked
        if claim.sign < 0 and not any(one.value == claim.value for one in live[-1:]):
            denied.setdefault(claim.value, claim)
        elif claim.sign > 0 and (claim.tier > 2 or claim.value not in denied):
            live.append(claim)
    live.reverse()
    for tiers in ((4,), (2, 3)):
        if verdict := _agreed(claim for claim in live if claim.tier in tiers):
            return verdict
    left = given - denied.keys()
    asserted = [claim for claim in live if claim.tier == 1]
    eliminated = eliminates and denied and len(left) == 1 and denied.keys() <= given
    if eliminated and {claim.value for claim in asserted} <= left:
        last = asserted[-1] if asserted else max(denied.values())
        return Read(next(iter(left)), last.start, last.end, True)
    if verdict := _agreed(asserted):
        return verdict
    mentioned = [claim for claim in claims if claim.tier == 0 and claim.value not in denied]
    only = _agreed(mentioned) if not any(claim.tier == -1 for claim in claims) else None
    return only._replace(decided=False) if only and only.value else NOTHING


def corrected(low: str, claims: Sequence[Claim]) -> list[Claim]:
    """After an answer's last correction of itself only what follows counts, if anything is affirmed there."""
    affirmed = max((claim.start for claim in claims if claim.sign > 0 and claim.tier >= 1), default=-1)
    turns = [match.start() for match in words.CORRECTION.finditer(low)]
    turn = max((at for at in turns if at <= affirmed and claims[0].start < at), default=0)
    return [claim for claim in claims if claim.start >= turn or claim.sign < 0]


def by_sentence(low: str, mentions: Sequence[Mention]) -> Iterator[tuple[int, int, list[Mention], list[Mention]]]:
    """(start, end, mentions, those that are not denied) of each sentence that has mentions."""
    for start, end in sentences(low):
        if inside := within(mentions, start, end):
            claimed = claims(low[start:end], moved(inside, -start), frozenset(), single=False)
            # None of what "without X, …" takes along.
            affirmed_starts = {one.start + start for one in claimed if one.sign > 0 or (one.sign, one.tier) == (0, 0)}
            yield start, end, inside, [one for one in inside if one.start in affirmed_starts]


def affirmed(low: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions that a text does not deny, take back, or tell another one apart from."""
    positive = [one for *_, of_sentence in by_sentence(low, mentions) for one in of_sentence]
    for turn in words.CORRECTION.finditer(low):
        positive = [one for one in positive if one.start >= turn.start()] or positive
    return positive


_HEDGE = re.compile(r"\b(?:might|may|could|possibly|perhaps|maybe|arguably|often|usually)\b[^,;]*$")


def statements(sentence: str, matter: re.Pattern[str], judged: bool = False) -> list[tuple[bool, int, int]]:
    """Statements of a sentence about a matter, without those in doubt, with their spans: True where it affirms
    words of the pattern's group `yes` or denies those of its group `no`."""
    matches = [match for match in matter.finditer(sentence) if not _HEDGE.search(sentence, 0, match.start())]
    mentions = [Mention(*match.span(), "yes" if match["yes"] else "no") for match in matches]
    found = claims(sentence, mentions, frozenset(("yes", "no")), judged, single=False)
    stated = (claim for claim in found if claim.tier >= 0 and claim.value)
    return [((claim.sign >= 0) == (claim.value == "yes"), claim.start, claim.end) for claim in stated]


_TWO = re.compile(r"[)\]\"']{0,2} and (?:option )?[(\[\"']{0,2}")
_ELIMINATING = words.pattern(r"\b{eliminating} (?:options? )?[(\[\"']{0,2}$")


def _listed(low: str, claims: Sequence[Claim]) -> list[Claim]:
    """ "Both A and B would fit" says it of A too; "eliminating A, B …" denies A."""
    listed = list(claims)
    for place, (first, second) in enumerate(itertools.zip_longest(claims, claims[1:])):
        before = preceding(low, first.start).rstrip("([\"'") if not first.sign else ""
        if second and second.sign > 0 and before.endswith("both ") and _TWO.fullmatch(low, first.end, second.start):
            listed[place] = first._replace(sign=second.sign, tier=second.tier)
        elif _ELIMINATING.search(before):
            listed[place] = first._replace(sign=-1, tier=1)
    return listed


_ASKED = re.compile(r"(?:(?<=^.)|(?<=\W.)|(?<=[\w\"')]))\? (?=(?:- )?(?:yes|no|correct|right|wrong)\b)")  # "A? Yes."


def without_questions(low: str) -> str:
    """A text in which questions that are answered at once are statements: "A: Yes"."""
    return _ASKED.sub(": ", low)


_RANKS = words.pattern(r"\b{ranks}\b")
_ASCENDING = re.compile(r"\b(?:worst|weakest|least(?: \w+)?|lowest) (?:to|first)\b")
_RANKED = words.pattern("{ranked}")


def first_ranked(low: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Choose only the first of "from best to worst: C, B, A", in a row or as a numbered list."""
    remaining = list(mentions)
    if not (rank := _RANKS.search(low)) or _ASCENDING.search(low):
        return remaining
    for block in _RANKED.finditer(low):
        if block[0].startswith(":") and not (rank.start() < block.start() <= rank.end() + 40):
            continue
        ranked = [one for one in remaining if block.start() <= one.start < block.end()]
        ranked = [one for one in ranked if not re.match(r"\d[.)] .*\w", low[one.start : one.start + 40])]
        remaining = [one for one in remaining if one in ranked[:1] or not block.start() <= one.start < block.end()]
    return remaining


def highest(answer: str, before: str, value: str, given: Iterable[str]) -> Read[str]:
    """Choose the highest of scores, or shares, that an answer gives to most values."""
    given = set(given)
    text = normalize.plain(answer)
    pattern = rf"(?<![\w'.]){before}[(\"']{{0,2}}(?P<value>{value}){words.any_of('scored')}"
    every = {match["value"].upper(): match for match in re.finditer(pattern, text.low)}
    scores = {one: match for one, match in every.items() if match["noun"] or match["unit"] or "." in match["score"]}
    scores = every if not scores and every.keys() == given and value == "[a-z]" else scores
    few = 2 * len(scores) <= len(given) and not all(match["unit"] == "%" for match in scores.values())
    if len(scores) < 2 or few or not scores.keys() <= given:
        return NOTHING
    *_, second, best = sorted(scores, key=lambda one: float(scores[one]["score"]))
    ahead = float(scores[best]["score"]) > float(scores[second]["score"])
    return Read(best, *text.span(*scores[best].span())) if ahead else NOTHING


# Between two rows of a menu, and behind its last one: no word, no tick, no question.
_NEXT_ROW = re.compile(r"(?:[^\w✓✗?=>→]|_|\b\d{1,2}(?=[.)])|\b(?:option|panel|frame|image|picture)\b)*")
_ROW_ENDS = re.compile(r"[)\]\"'.;,]{0,3} ?(?:\n|$)|[)\]\"']{0,2}[.;!](?=[ )\"'])(?! (?:this|that|it|which|is)\b)")
_BEGINS_LINE = re.compile(r"(?:^|(?<=\n))[^\w\n]*(?:\d{1,2}[.)] )?(?:option |panel )?[^\w\n]*\Z")


def _menus(low: str, mentions: Sequence[Mention]) -> Iterator[list[Mention]]:
    """Runs of different values, one a line, or spelt out one behind the other, of which nothing is said."""
    block: list[Mention] = []
    for mention in mentions:
        gap = low[block[-1].end : mention.start] if block else ""
        in_row = "\n" in gap or (mention.text and block and block[-1].text)
        again = mention.value in {one.value for one in block}
        if block and (again or not in_row or len(gap) > 40 or not _NEXT_ROW.fullmatch(gap)):
            yield block
            block = []
        begins = mention.text or _BEGINS_LINE.search(preceding(low, mention.start))
        if block or begins:
            block.append(mention)
    yield block


def without_menu(low: str, mentions: Sequence[Mention], given: Sequence[str]) -> tuple[str, list[Mention]]:
    """Lines that restate all options, or all but one, in their order are a menu and claim nothing.

    Lines without more than values stay where none is mentioned elsewhere: they may be a list that answers.
    """
    kept = list(mentions)
    for block in _menus(low, mentions):
        if block and not _ROW_ENDS.match(low, block[-1].end):
            block.pop()
        values = [one.value for one in block]
        others = [one for one in kept if one not in block]
        restated = len(values) >= max(2, len(given) - 1) and values == [one for one in given if one in values]
        begins = block and block[0].text and _BEGINS_LINE.search(preceding(low, block[0].start))
        alone = begins and len(values) == len(given)
        if restated and (alone or any(one.value for one in others)):
            start, end = block[0].start, block[-1].end
            low = low[:start] + re.sub(r"[^\n]", " ", low[start:end]) + low[end:]
            kept = others
    return low, kept


MOST = 300  # mentions at each end of a text that are weighed


ReadText = Callable[[normalize.Plain, bool], Read[Any]]  # of one text; the flag says that it is a marked answer


def is_no_answer(low: str, mention: Read[Any]) -> bool:
    """The only value mentioned is none beside a negation, on a sign, and in a refusal."""
    for start, end in sentences(low):
        sentence = words.blanked(words.FREE, low[start:end])
        if start <= mention.start < end and words.only_beside(sentence, mention.start - start):
            return True
    return refuses(low) is not None


def decider(lex: Lexer, given: Iterable[str], judged: bool = True, eliminates: bool = True) -> ReadText:
    """Returns what finds the value that a text commits itself to by what it says of its mentions.

    `eliminates`: what is left when all others are denied is meant.
    """
    every = tuple(given)
    values = frozenset(every)

    def decide(text: normalize.Plain, marked: bool) -> Read[Any]:
        text = english(text)
        mentions = list(lex(text, marked))
        mentions = mentions if len(mentions) <= 2 * MOST else [*mentions[:MOST], *mentions[-MOST:]]
        low, mentions = without_menu(text.low, mentions, every)
        asked = without_questions(low) if judged else low
        stated = _listed(asked, claims(asked, first_ranked(low, mentions), values, judged))
        verdict = weigh(corrected(low, stated), values, eliminates)
        value = verdict.value if verdict.value in values else None
        if value is not None and not verdict.decided and len(str(value)) == 1 and is_no_answer(asked, verdict):
            value = None
        return Read(value, *text.span(verdict.start, verdict.end), verdict.decided)

    return decide


def of_zones(answer: str, text: normalize.Plain, read_text: ReadText) -> Read[Any]:
    """The verdict of the firmest marked answers that decide, as a span of the answer. `text`: it in plain."""
    zones = marked.zones(answer, text)
    for rank in (marked.FIRM, marked.SAID):
        verdicts = [read_text(normalize.plain(answer, *zone[:2]), True) for zone in zones if zone.rank == rank]
        verdicts = [one for one in verdicts if one.decided or one.value is not None]
        if not verdicts:
            continue
        if len({str(verdict.value).lower() for verdict in verdicts}) == 1:
            return verdicts[-1]._replace(decided=True)
        between = normalize.lower(answer[verdicts[-2].end : verdicts[-1].start][:4000])
        turned = BACK.search(between) or between.lstrip(" .\n").startswith("no")
        verdict = verdicts[-1] if verdicts[-1].value is not None and turned else Read[Any](None, decided=True)
        if verdict.decided:
            return verdict
    return NOTHING


def resolve(answer: str, read_text: ReadText) -> Read[Any]:
    """The one value that an answer commits itself to, marked or in its words; nothing for none and for several."""
    text = normalize.plain(answer)
    if asks_back(text.low):
        return NOTHING
    verdict = of_zones(answer, text, read_text)
    if verdict.decided:
        return _taken_back(answer, verdict, read_text)
    verdict = read_text(text, False)
    return verdict if verdict.decided or not refuses(text.low) else NOTHING


BACK = words.pattern(r"{corrects}|(?<![\w\"'])wait\b")  # "<answer>A</answer> wait, B"


def _taken_back(answer: str, marked_verdict: Read[Any], read_text: ReadText) -> Read[Any]:
    """The value after an answer's correction of what it had marked; without a correction, the marked value."""
    turns = list(BACK.finditer(normalize.lower(answer[marked_verdict.end : marked_verdict.end + 4000])))
    turned = read_text(normalize.plain(answer, marked_verdict.end + turns[-1].start()), False) if turns else NOTHING
    return turned if turned.decided and turned.value is not None else marked_verdict
