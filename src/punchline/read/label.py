"""One of given labels, each with the forms that stand for it, or the label of two of them together."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from punchline.read import normalize, words
from punchline.read.number import NOT_APPLICABLE
from punchline.read.resolve import decider, highest, resolve
from punchline.read.result import Read, reader
from punchline.read.sentences import Mention
from punchline.read.words import Texts, preceding

Labels = Mapping[str, Sequence[str]] | Collection[str]  # {label: further forms of it}, or labels alone
Forms = tuple[tuple[str, Texts], ...]


@lru_cache(maxsize=256)
def pattern_of(forms: Forms) -> re.Pattern[str]:
    """A pattern with a group a label."""
    spelt = ("|".join(sorted(map(re.escape, of_label), key=len, reverse=True)) for _, of_label in forms)
    groups = "|".join(f"({one})" for one in spelt).lower().replace(r"\ ", "[ -]")
    return re.compile(rf"(?<![\w-])(?:{groups})(?![\w])(?!-\w)")


def forms_of(labels: Labels) -> Forms:
    forms = labels if isinstance(labels, Mapping) else dict.fromkeys(labels, ())
    return tuple((label, (label, *others)) for label, others in forms.items())


_IDIOM = re.compile(r"\bin other words\b|\bword for word\b|\bin a word\b")  # speak of no words


def mentions_of(low: str, forms: Forms) -> list[Mention]:
    masked = _IDIOM.sub(lambda idiom: "." * len(idiom[0]), low)
    return [
        Mention(*match.span(), forms[(match.lastindex or 1) - 1][0]) for match in pattern_of(forms).finditer(masked)
    ]


_WITH = words.pattern(r"\b{together}\b|[&+]")
_AND = words.pattern(r"[\"')]{0,2}(?: ?(?:,|&|\+) ?(?:and )?| {together} )(?:the |its |their |both )?[\"'(]{0,2}")
_OF_BOTH = re.compile(" (?:of )?(?:the )?|" + _AND.pattern)
_INTERPLAY = words.pattern(r"\b{interplay} (?:of|between) (?:both )?(?:the )?[\"'(]{0,2}$")
_NOT_JUST = words.pattern("{not_just_one}")
_NOT_ONLY = re.compile(r"\b(?:not|n't) (?:only|just|merely|solely|simply)\b[^.;,]{0,30}\Z")
_BUT_ALSO = re.compile(r"[^.;]{0,40}?[,;]? ?\b(?:but|it is|it's)\b(?! (?:mainly|mostly|primarily))[^.;]{0,40}?")
_AS_MUCH = re.compile(r" (?:just )?as (?:much|heavily|strongly) as (?:\w+ ){0,3}")
_OF_THE_TWO = words.pattern(r"\b{of_the_two}\b")
_BOTH_WORD = words.pattern(r"(?= ?[)\"']{0,2} ?(?:[.,;:!)\"'-]|$|\n|{behind_both}))")


# Two labels become both. The words before the first, between them, and behind the second; yields how many characters
# before the first belong to it, None where they are not joined.


def not_only(before: str, between: str, after: str) -> int | None:
    """Not only one but also the other is both: "not only in the text but also in the visuals"."""
    opens = _NOT_ONLY.search(before)
    return len(opens[0]) if opens and _BUT_ALSO.fullmatch(between) else None


def as_much_as(before: str, between: str, after: str) -> int | None:
    """One as much as the other is both."""
    return 0 if _AS_MUCH.fullmatch(between) else None


def together(before: str, between: str, after: str) -> int | None:
    """One and the other is both: "the interplay of text and image"; "text, visual" only at the end of a line."""
    if not _AND.fullmatch(between) or not (_WITH.search(between) or re.match(r"[\"')]{0,2}(?:$|[.\n])", after)):
        return None
    tie = _INTERPLAY.search(before)
    return len(tie[0]) if tie else 0


JOINS = (not_only, as_much_as, together)


def _with_both(mentions: list[Mention], low: str, pair: frozenset[str], both: str) -> list[Mention]:
    """Mentions with "X and Y" as one of both; "X, Y or both" stays a list."""
    merged: list[Mention] = []
    for mention in mentions:
        if mention.value == both and not _BOTH_WORD.match(low, mention.end):
            continue
        last = merged[-1] if merged else Mention(0, 0, "")
        between = low[last.end : mention.start]
        joined = None
        if {last.value, mention.value} == pair:
            around = preceding(low, last.start, 60), between, low[mention.end : mention.end + 4]
            joined = next((length for rule in JOINS if (length := rule(*around)) is not None), None)
        elif last.value == both and (len(between) < 8 if mention.value == both else _OF_BOTH.fullmatch(between)):
            joined = 0
        if joined is None:
            merged.append(mention)
        else:
            merged[-1] = Mention(last.start - joined, mention.end, both)
    return merged


@reader
def label(answer: str, labels: Labels, both: tuple[str, str, str] | None = None, none: bool = False) -> Read[str]:
    """The one label that an answer commits itself to.

    Args:
        answer: The whole answer of a model.
        labels: {label: further forms of it}, or labels alone.
        both: (X, Y, the label that stands for X and Y).
        none: True if "not applicable" is an answer, read as "NA".

    Returns:
        The label and its span; no value for a hedge, a refusal, several labels.

    >>> label("The text and the image together.", ("Text", "Image", "Both"), ("Text", "Image", "Both")).value
    'Both'
    """
    forms = forms_of(labels)

    def lex(text: normalize.Plain, marked: bool) -> list[Mention]:
        if both is None:
            return mentions_of(text.low, forms)
        mentions = mentions_of(words.blanked(_NOT_JUST, text.low), forms)
        if not mentions and (tie := _OF_THE_TWO.search(text.low)):
            return [Mention(*tie.span(), both[2])]
        return _with_both(mentions, text.low, frozenset(both[:2]), both[2])

    if none and words.NOT_APPLICABLE.fullmatch(normalize.plain(answer).low):
        return Read(NOT_APPLICABLE, 0, len(answer))
    names = {name.upper(): name for name, _ in forms}
    scored = highest(answer, "", "|".join(names).lower(), names)
    if scored.value is not None and not (both and both[2].lower() in answer.lower()):
        return scored._replace(value=names[scored.value])
    return resolve(answer, decider(lex, names.values(), eliminates=both is None))
