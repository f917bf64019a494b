"""A judge's score on a scale."""

from __future__ import annotations

import itertools
import re

from punchline.read import normalize, words
from punchline.read.number import number_of
from punchline.read.resolve import of_zones
from punchline.read.result import NOTHING, Read, reader
from punchline.read.words import pattern, preceding

_BRACKETED = (  # the first of these counts
    pattern(r"\[\[\s?({score})(?: ?(?:/|out of) ?\d{1,2})?\s?\]\]", re.ASCII),
    pattern(r"\[({score})\]", re.ASCII),
    pattern(r"\\boxed ?\{\s?({score})\s?\}", re.ASCII),
)
_SAID = pattern("{says_score}", re.ASCII)
_ALONE = pattern(r"\W*(?:({score})|({number_word}))(?:{of_scale}| ?(?:/|out of) ?{number_word})?\W*", re.ASCII)
_LEADING = pattern(r"[^\w\n]*({score}){of_scale}?(?: - |: | \()(?=\D)", re.ASCII)  # "2 - misses the point"
_SCALE = re.compile(r"\b(?:scale|from|between|range|maximum|out of)\b[^.,;:\n]{0,40}$")
_TAKEN_BACK = re.compile(r"\b(?:was (?:going|about) to|would have|wanted to|at first|initially)\b[^.;\n]{0,30}$")
_OR = pattern(r" (?:or|or maybe|or perhaps|or even) (?:an? )?(?:\d|{number_word}\b)")
_EITHER = re.compile(r"\W*(?:or|or maybe|or perhaps)\W*(?:rating\W*)?")
_TURN = pattern(r"\b(?:so|instead|i (?:give|assign|settle on)|would be too \w+)\b|{corrects}")
_LABEL = re.compile(r"\b(?:rating|score|grade|verdict)\b\W{0,6}$")
_EDGE = 20_000
LEAST, MOST = 1, 5  # the scale


def _meant(matches: list[re.Match[str]]) -> re.Match[str] | None:
    """The first of bracketed scores, or the last, if the answer turns to it; None for "[[3]] or [[4]]"."""
    if len({float(match[1]) for match in matches}) < 2:
        return matches[0] if matches else None
    between = [one.string[one.end() : other.start()].lower() for one, other in itertools.pairwise(matches)]
    if any(_EITHER.fullmatch(text) for text in between):
        return None
    first, last = matches[0], matches[-1]
    labelled = _LABEL.search(between[-1]) and not _LABEL.search(first.string[: first.start()].lower())
    return last if labelled or _TURN.search(between[-1]) else first


def _by_itself(low: str) -> list[re.Match[str]]:
    """The first line that says anything, or the last, where that is a number and nothing else."""
    lines = [match for match in re.finditer(r"(?<![^\n])[^\n]{1,60}(?=\n|$)", low) if re.search(r"\w", match[0])]
    first = _LEADING.match(low)
    if first and not any(_LEADING.match(line[0]) for line in lines[1:]):
        return [first]
    ends = dict.fromkeys(match.span() for match in (lines[:1] + lines[-1:]))
    return [number for start, end in ends if (number := _ALONE.fullmatch(low, start, end))]


def _marked(text: normalize.Plain, _: bool) -> Read[float]:
    """The score that a marked answer is; decided where it is a number, on the scale or not."""
    score = _ALONE.fullmatch(text.low)
    if score is None:
        return NOTHING
    number = next(filter(None, score.groups()))
    value = float(number_of(number) if number.isalpha() else number)
    place = score.start(score.lastindex or 0)
    return (
        Read(value, *text.span(place, place + len(number)), True)
        if LEAST <= value <= MOST
        else Read(None, decided=True)
    )


@reader
def rating(answer: str) -> Read[float]:
    """The score that an answer gives, from LEAST to MOST.

    The first `[[n]]`, else the first `[n]`, else a marked one ("Answer: 4", <score>), else the one that its words give.

    Args:
        answer: The whole answer of a judge.

    Returns:
        The score and its span; no value for one off the scale, and for two different ones that are marked or in words.

    >>> rating("Rating: [[4]]").value
    4.0
    """
    for bracketed in _BRACKETED:
        for at, piece in normalize.ends(answer, _EDGE, _EDGE):
            if match := _meant([*bracketed.finditer(piece)]):
                value = float(match[1])
                return Read(value, at + match.start(1), at + match.end(1)) if LEAST <= value <= MOST else NOTHING
    text = normalize.plain(answer)
    reading = of_zones(answer, text, _marked)
    if reading.decided:
        return reading
    if "[[" in answer:  # a format that holds something else
        return NOTHING
    candidates = [
        match
        for match in [*_SAID.finditer(text.low)][-50:]
        if not _SCALE.search(before := preceding(text.low, match.start())) and not _TAKEN_BACK.search(before)
    ]
    for correction in words.CORRECTION.finditer(text.low):
        candidates = [match for match in candidates if match.start() >= correction.start()] or candidates
    candidates = candidates or _by_itself(text.low)
    if candidates and _OR.match(text.low, candidates[-1].end()):  # it does not decide
        return NOTHING
    given = [next(filter(None, match.groups())) for match in candidates]
    values = {float(number_of(number) if number.isalpha() else number) for number in given}
    if len(values) != 1 or not LEAST <= min(values) <= MOST:
        return NOTHING
    return Read(values.pop(), *text.span(candidates[-1].start(), candidates[-1].end()))
