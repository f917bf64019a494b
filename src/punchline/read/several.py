"""Several of given labels: those that an answer affirms."""

from __future__ import annotations

import re

from punchline.read import marked, normalize, words
from punchline.read.label import Forms, Labels, forms_of, mentions_of, pattern_of
from punchline.read.number import NOT_APPLICABLE
from punchline.read.refusal import refuses
from punchline.read.resolve import BACK, by_sentence, without_questions
from punchline.read.result import NOTHING, Read, reader
from punchline.read.sentences import Mention, moved
from punchline.read.words import Texts

_PAIR_ENDS = re.compile(r"(?<=: yes)[,;]|(?<=: no)[,;]")  # "Pun: yes, Dark: no" is two lines
_LIST_REST = words.pattern(r"\b{in_list}\b|[\W\d_]")


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
    for start, end, mentions, positive in by_sentence(low, mentions_of(low, forms)):
        sentence = low[start:end]
        rest = pattern_of(forms).sub(" ", sentence)
        if not _LIST_REST.sub("", re.sub(r"\([^()]{0,80}\)", " ", rest)):
            listed += positive
        elif {one.value for one in mentions} < every and not _DOUBT.search(sentence):  # no menu
            other += positive
    guidelines = {one.value for one in other} == every
    return listed or ([] if guidelines else other)


_NO_BEHIND = re.compile(r"(?:[ ,:]{0,2}no\b(?=[,:.!]))?[ ,:.!]{0,3}")
_ADDS = re.compile(r"\b(?:also|too|as well|in addition|add|still|stays?|remains?|keep)\b")


_DOUBT = words.pattern(r"\b{condition}\b|{unsure}")
_BLOCK = re.compile(r"(?:\s*\n[ \t]*(?:[-*•]|\d{1,2}[.)])[^\n]{0,300}){1,12}")  # a list behind "Answer:"


@reader
def several(answer: str, labels: Labels) -> Read[Texts]:
    """The labels that an answer affirms, each once, in its order.

    Labels in a marked answer; else those that stand as a list of their own; else all that are affirmed. What is denied
    ("no sarcasm", "rather than a pun") is left out, as is a sentence of the prompt with all of them.

    Args:
        answer: The whole answer of a model.
        labels: {label: further forms of it}, or labels alone.

    Returns:
        The labels and the span from the first to the last; ("NA",) where the answer says that none applies.

    >>> several("Pun and sarcasm, no exaggeration", ("Pun", "Sarcasm", "Exaggeration")).value
    ('Pun', 'Sarcasm')
    """
    forms = forms_of(labels)
    text = normalize.plain(answer)
    if words.NOT_APPLICABLE.fullmatch(text.low):
        return Read((NOT_APPLICABLE,), 0, len(answer))
    for zone in sorted(marked.zones(answer, text), key=lambda one: (one.rank, one.start, one.end), reverse=True):
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
    return _together(gold_labels, text) if gold_labels else NOTHING


def _together(mentions: list[Mention], text: normalize.Plain) -> Read[Texts]:
    span = text.span(min(one.start for one in mentions), max(one.end for one in mentions))
    return Read(tuple(dict.fromkeys(one.value for one in mentions)), *span)
