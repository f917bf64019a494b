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

Labels = Mapping[str, Sequence[str]] | Collection[str]  # {label: further forms of it}, or labels alone
Forms = tuple[tuple[str, tuple[str, ...]], ...]


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


_TOGETHER = words.any_of("together")
_WITH = re.compile(rf"\b{_TOGETHER}\b|[&+]")
_AND = re.compile(rf"[\"')]{{0,2}}(?: ?(?:,|&|\+) ?(?:and )?| {_TOGETHER} )(?:the |its |their |both )?[\"'(]{{0,2}}")
_OF_BOTH = re.compile(rf" (?:of )?(?:the )?|{_AND.pattern}")
_INTERPLAY = words.pattern(r"\b{interplay} (?:of|between) (?:both )?(?:the )?[\"'(]{0,2}$")
_NOT_JUST = words.pattern("{not_just_one}")
_NOT_ONLY = re.compile(r"\b(?:not|n't) (?:only|just|merely|solely|simply)\b[^.;,]{0,30}\Z")
_BUT_ALSO = re.compile(r"[^.;]{0,40}?[,;]? ?\b(?:but|it is|it's)\b(?! (?:mainly|mostly|primarily))[^.;]{0,40}?")
_AS_MUCH = re.compile(r" (?:just )?as (?:much|heavily|strongly) as (?:\w+ ){0,3}")
_OF_THE_TWO = words.pattern(r"\b{of_the_two}\b")
_BOTH_WORD = words.pattern(r"(?= ?[)\"']{0,2} ?(?:[.,;:!)\"'-]|$|\n|{behind_both}))")


def _with_both(mentions: list[Mention], low: str, pair: frozenset[str], both: str) -> list[Mention]:
    """Mentions with "X and Y" as one of both; "X, Y or both" stays a list."""
    merged: list[Mention] = []
    for mention in mentions:
        if mention.value == both and not _BOTH_WORD.match(low, mention.end):
            continue
        last = merged[-1] if merged else Mention(0, 0, "")
        between = low[last.end : mention.start]
        opens = _NOT_ONLY.search(low[max(0, last.start - 60) : last.start]) if merged else None
        joins = opens and _BUT_ALSO.fullmatch(between)
        if {last.value, mention.value} == pair and (joins or _AS_MUCH.fullmatch(between)):
            merged[-1] = Mention(last.start - (len(opens[0]) if opens and joins else 0), mention.end, both)
            continue
        added = {last.value, mention.value} == pair and _AND.fullmatch(between) is not None
        if added and (_WITH.search(between) or re.match(r"[\"')]{0,2}(?:$|[.\n])", low[mention.end :])):
            tie = _INTERPLAY.search(low[max(0, last.start - 60) : last.start])
            merged[-1] = Mention(last.start - (len(tie[0]) if tie else 0), mention.end, both)
        elif last.value == both and (len(between) < 8 if mention.value == both else _OF_BOTH.fullmatch(between)):
            merged[-1] = Mention(last.start, mention.end, both)
        else:
            merged.append(mention)
    return merged


@reader
def label(answer: str, labels: Labels, both: tuple[str, str, str] | None = None, none: bool = False) -> Read[str]:
    """The one label that an answer commits itself to; nothing for a hedge, a refusal, several. `both`: (X, Y, label
    that stands for X and Y). `none`: an answer that says "not applicable" is "NA"."""
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
