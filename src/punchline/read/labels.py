"""One or several of given labels, each with the forms that stand for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from punchline.read import choice, final, normalize, sentences, words
from punchline.read.number import NOT_APPLICABLE
from punchline.read.refusal import refuses
from punchline.read.resolve import BACK, NOTHING, by_sentence, decider, highest, resolve, statements, without_questions
from punchline.read.result import Read, reader
from punchline.read.sentences import Mention, moved

Labels = Mapping[str, Sequence[str]] | Collection[str]  # {label: further forms of it}, or labels alone
Forms = tuple[tuple[str, tuple[str, ...]], ...]


@lru_cache(maxsize=256)
def _pattern(forms: Forms) -> re.Pattern[str]:
    """A pattern with a group a label."""
    spelt = ("|".join(sorted(map(re.escape, of_label), key=len, reverse=True)) for _, of_label in forms)
    groups = "|".join(f"({one})" for one in spelt).lower().replace(r"\ ", "[ -]")
    return re.compile(rf"(?<![\w-])(?:{groups})(?![\w])(?!-\w)")


def _forms(labels: Labels) -> Forms:
    forms = labels if isinstance(labels, Mapping) else dict.fromkeys(labels, ())
    return tuple((label, (label, *others)) for label, others in forms.items())


_IDIOM = re.compile(r"\bin other words\b|\bword for word\b|\bin a word\b")  # speak of no words


def _mentions(low: str, forms: Forms) -> list[Mention]:
    masked = _IDIOM.sub(lambda idiom: "." * len(idiom[0]), low)
    return [Mention(*match.span(), forms[(match.lastindex or 1) - 1][0]) for match in _pattern(forms).finditer(masked)]


_TOGETHER = words.any_of("together")
_WITH = re.compile(rf"\b{_TOGETHER}\b|[&+]")
_AND = re.compile(rf"[\"')]{{0,2}}(?: ?(?:,|&|\+) ?(?:and )?| {_TOGETHER} )(?:the |its |their |both )?[\"'(]{{0,2}}")
_OF_BOTH = re.compile(rf" (?:of )?(?:the )?|{_AND.pattern}")
_INTERPLAY = re.compile(rf"\b{words.any_of('interplay')} (?:of|between) (?:both )?(?:the )?[\"'(]{{0,2}}$")
_NOT_JUST = re.compile(words.any_of("not_just_one"))
_NOT_ONLY = re.compile(r"\b(?:not|n't) (?:only|just|merely|solely|simply)\b[^.;,]{0,30}\Z")
_BUT_ALSO = re.compile(r"[^.;]{0,40}?[,;]? ?\b(?:but|it is|it's)\b(?! (?:mainly|mostly|primarily))[^.;]{0,40}?")
_AS_MUCH = re.compile(r" (?:just )?as (?:much|heavily|strongly) as (?:\w+ ){0,3}")
_OF_THE_TWO = re.compile(rf"\b{words.any_of('of_the_two')}\b")
_BOTH_WORD = re.compile(rf"(?= ?[)\"']{{0,2}} ?(?:[.,;:!)\"'-]|$|\n|{words.any_of('behind_both')}))")


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
    forms = _forms(labels)

    def lex(text: normalize.Plain, marked: bool) -> list[Mention]:
        if both is None:
            return _mentions(text.low, forms)
        mentions = _mentions(words.blanked(_NOT_JUST, text.low), forms)
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


# --------------------------------------------------------------------------------------------------- several of them

_PAIR_ENDS = re.compile(r"(?<=: yes)[,;]|(?<=: no)[,;]")  # "Pun: yes, Dark: no" is two lines
_LIST_REST = re.compile(rf"\b{words.any_of('in_list')}\b|[\W\d_]")


def _several(low: str, forms: Forms) -> list[Mention]:
    """The labels that a plain text affirms, of its last correction where that names some and does not say "also"."""
    for turn in reversed(list(words.CORRECTION.finditer(low))):
        behind = _NO_BEHIND.match(low, turn.end())
        start = behind.end() if behind else turn.end()
        if not _ADDS.search(low[start : start + 60]) and (corrected := _affirmed(low[start:], forms)):
            return moved(corrected, start)
    return _affirmed(words.blanked(words.CORRECTION, low), forms)


def _affirmed(low: str, forms: Forms) -> list[Mention]:
    """The labels that a text without corrections affirms: those that make up a sentence, else all that it uses."""
    low = _PAIR_ENDS.sub("\n", without_questions(low))
    listed, other = list[Mention](), list[Mention]()
    every = frozenset(name for name, _ in forms)
    for start, end, mentions, positive in by_sentence(low, _mentions(low, forms)):
        sentence = low[start:end]
        rest = _pattern(forms).sub(" ", sentence)
        if not _LIST_REST.sub("", re.sub(r"\([^()]{0,80}\)", " ", rest)):
            listed += positive
        elif {one.value for one in mentions} < every and not _DOUBT.search(sentence):  # no menu
            other += positive
    guidelines = {one.value for one in other} == every
    return listed or ([] if guidelines else other)


_NO_BEHIND = re.compile(r"(?:[ ,:]{0,2}no\b(?=[,:.!]))?[ ,:.!]{0,3}")
_ADDS = re.compile(r"\b(?:also|too|as well|in addition|add|still|stays?|remains?|keep)\b")


_DOUBT = re.compile(rf"{words.CONDITION.pattern}|{words.UNSURE.pattern}")
_BLOCK = re.compile(r"(?:\s*\n[ \t]*(?:[-*•]|\d{1,2}[.)])[^\n]{0,300}){1,12}")  # a list behind "Answer:"


@reader
def several(answer: str, labels: Labels) -> Read[tuple[str, ...]]:
    """The labels that an answer affirms, each once, in its order; ("NA",) where it says that none applies.

    Labels in a marked answer; else those that stand as a list of their own; else all that are affirmed.
    What is denied ("no sarcasm", "rather than a pun") is left out, as is a sentence of the prompt with all of them.
    """
    forms = _forms(labels)
    text = normalize.plain(answer)
    if words.NOT_APPLICABLE.fullmatch(text.low):
        return Read((NOT_APPLICABLE,), 0, len(answer))
    for zone in sorted(final.zones(answer, text), key=lambda one: (one.rank, one.start, one.end), reverse=True):
        block = _BLOCK.match(answer, zone.end)
        part = normalize.plain(answer, zone.start, block.end() if block else zone.end)
        if gold_labels := _several(part.low, forms):
            turn = BACK.search(normalize.lower(answer), part.span(0, len(part.low))[1])
            later = normalize.plain(answer, turn.start()) if turn else None
            if later and not _ADDS.search(later.low) and (corrected := _several(later.low, forms)):
                return _together(corrected, later)
            return _together(gold_labels, part)
        if words.NOT_APPLICABLE.fullmatch(part.low):
            return Read((NOT_APPLICABLE,), zone.start, zone.end)
    gold_labels = [] if refuses(text.low) else _several(text.low, forms)
    return _together(gold_labels, text) if gold_labels else Read(None)


def _together(mentions: list[Mention], text: normalize.Plain) -> Read[tuple[str, ...]]:
    span = text.span(min(one.start for one in mentions), max(one.end for one in mentions))
    return Read(tuple(dict.fromkeys(one.value for one in mentions)), *span)


# ------------------------------------------------------------------------------------ there or not, contributing or not

_ABSENT = re.compile(words.any_of("absent"))
_CONTRIBUTING = re.compile(rf"(?P<no>{words.any_of('not_contributing')})|(?P<yes>{words.any_of('contributing')})")
_IDLE = re.compile(rf"\b{words.any_of('idle')}\b")
_ASKED = re.compile(r"\bcontribut[^?.\n]{0,60}\? ?(?:(?P<yes>yes)|no)\b")  # "Do they contribute? No."
_ABOUT_EFFECTS = re.compile(r"sound|effect|onomatop|\b(?:sfx|they|these|answer|option|none|not absent|is there)\b")


def _presence(text: normalize.Plain) -> tuple[int, int, int] | None:
    """(0 absent, 1 contributing, 2 idle; start, end) of a plain text; None where it does not say."""
    low = re.sub(r"\bnot absent\b", lambda match: "present".rjust(len(match[0])), text.low)
    absent = _ABSENT.search(low)
    if (asked := _ASKED.search(low)) and not absent:
        return 1 if asked["yes"] else 2, *asked.span()
    masked = words.blanked(_ABSENT, low, 1)
    stated = {
        (1 if contributes else 2): (start + at, start + to)
        for start, end in sentences.sentences(masked)
        if not words.UNSURE.search(masked, start, end)
        for contributes, at, to in statements(masked[start:end], _CONTRIBUTING, judged=True)
    }
    if (idle := _IDLE.search(masked)) and 1 not in stated:
        stated.setdefault(2, idle.span())
    if absent:
        after = re.match(r" ?(?:(?:are|is|were|was) )?(?:present|visible|used)\b", masked[absent.end() :])
        masked = masked[absent.end() + after.end() :] if after else masked
        return None if re.search(r"\bpresent\b|\bor\b", masked) or 1 in stated else (0, *absent.span())
    there = re.search(r"\b(?:present|presence|there|is|are|was|were|has|does|effects?|they|it|contribut\w+)\b", masked)
    if len(stated) != 1 or not (1 in stated or there):
        return None
    [(kind, span)] = stated.items()
    return kind, *span


@reader
def presence(answer: str, labels: tuple[str, str, str]) -> Read[str]:
    """One of three labels: it is absent; it is there and contributes; it is there and does not.

    Their letters in the question are A, B, C. Nothing for two of them, and for "present" alone.
    """
    text = normalize.plain(answer)
    last = sentences.sentences(text.low)[-1] if text.low.strip() else (0, 0)
    alone = re.findall(r"\w+", text.low[slice(*last)]) in [re.findall(r"\w+", label.lower()) for label in labels]
    elsewhere = len(text.low) > 40 and "absent" in text.low[8:] and not _ABOUT_EFFECTS.search(text.low)
    if elsewhere and not alone:
        return Read(None)  # somebody else is absent
    by_letter = dict(zip("ABC", labels, strict=True))
    chosen = choice.choice(answer, "ABC", by_letter)
    if chosen.value is not None:
        return Read(by_letter[chosen.value], chosen.start, chosen.end)

    def read_text(part: normalize.Plain, _: bool) -> Read[str]:
        reading = _presence(part)
        return Read(labels[reading[0]], *part.span(*reading[1:])) if reading else NOTHING

    return resolve(answer, read_text)
