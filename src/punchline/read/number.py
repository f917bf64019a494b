"""The one panel that an answer names by its number."""

from __future__ import annotations

import re
from collections.abc import Collection

from punchline.read import normalize, words
from punchline.read.resolve import decider, highest, resolve
from punchline.read.result import Read, reader
from punchline.read.sentences import Mention
from punchline.read.words import preceding

NOT_APPLICABLE = "NA"

_NUMBERS = {word: n for name in ("ordinal", "cardinal") for n, word in enumerate(words.listed(name), 1)}
_PANEL = rf"{words.any_of('panel')}[ _]?#?"
_NAMED, _BARE = words.pattern("{number_named}"), words.pattern("{number_bare}")
_BEFORE = words.pattern(r"{before_number}[ \"'(]{0,3}$")
_AFTER = words.pattern(r"[)\]\"']{0,3} ?{after_number}")
_JOINED = re.compile(r"(?: ?(?:[,/&]|or|and|nor) ?){1,2}(?:panel )?\d")
_RANGE = words.pattern(r"\b{panel}s? \d{1,3} ?(?:-|to|through) ?\d{1,3}\b")  # of no single one
_TOTAL = words.pattern("{total_before_number}")
_WORD = words.pattern(r"\W*{number_alone}\W*")


_SHORTEST = 40  # characters of an answer that is little but a number
_SHORT = re.compile(r"(?P<before>(?:[^\W\d]+[ .:#-]{0,3}){1,4}?)(?P<n>\d{1,2})\W*")
_NOT_SHORT = words.pattern(
    r"{denies}|{no_link}|\b(?:page|question|at|about|only|all|than|age|step|level|chapter|part|there)\b"
)


def number_of(word: str) -> int:
    """The number of a cardinal or an ordinal, in words or digits; 0 for another word."""
    return _NUMBERS.get(word) or int(re.sub(r"\D", "", word) or 0)


def _value(match: re.Match[str]) -> str:
    return str(number_of(next(filter(None, match.groups()))))


def _mentions(text: normalize.Plain, marked: bool) -> list[Mention]:
    low = _RANGE.sub(lambda several: "." * len(several[0]), text.low)
    last = _WORD.fullmatch(low, low.rstrip().rfind("\n") + 1)  # a last line by itself
    mentions = [Mention(*last.span(last.lastindex or 0), _value(last))] if last else []
    if last and not last.start():
        return mentions
    mentions += [Mention(*match.span(), _value(match)) for match in _NAMED.finditer(low) if match[0].isascii()]
    covered = {place for one in mentions for place in range(one.start, one.end)}
    for match in _BARE.finditer(low):
        before = preceding(low, match.start(), 30)
        if (
            match.start() not in covered
            and match[0].isascii()
            and not _TOTAL.search(before)
            and (_BEFORE.search(before) or _JOINED.match(low, match.end()))
            and (_AFTER.match(low, match.end()) or re.search(r"\d\)? ?(?:through|to|and|or|&|,) ?$", before))
        ):
            mentions.append(Mention(*match.span(), _value(match)))
    return sorted(mentions)


def _alone(answer: str, given: Collection[str]) -> Read[str] | None:
    """The one number of a short answer, led by a word or two of any language ("La viñeta 3"); None for others."""
    text = normalize.plain(answer)
    match = _SHORT.fullmatch(text.low) if len(text.low) <= _SHORTEST else None
    if match is None or _TOTAL.search(match["before"]) or _NOT_SHORT.search(text.low):
        return None
    value = str(int(match["n"]))
    return Read(value, *text.span(*match.span("n"))) if value in given else None


@reader
def number(answer: str, labels: Collection[str]) -> Read[str]:
    """The label of the panel that an answer commits itself to.

    How many panels the comic has is no answer, nor is "the last one": its label is not given.

    Args:
        answer: The whole answer of a model.
        labels: The panels' labels ("1", "2", …).

    Returns:
        The label and its span; "NA" where the answer says that none applies; no value for a panel that is not there and
        for several.

    >>> number("The third panel.", ("1", "2", "3")).value
    '3'
    """
    if len(answer) < 100 and words.NOT_APPLICABLE.fullmatch(normalize.plain(answer).low):
        return Read(NOT_APPLICABLE, 0, len(answer))
    given = [str(label) for label in labels]
    reading = resolve(answer, decider(_mentions, given))
    if reading.value is None and not reading.decided and (alone := _alone(answer, given)):
        return alone
    return reading if reading.value is not None else highest(answer, _PANEL, r"\d{1,3}", given)
