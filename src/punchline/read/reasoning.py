"""Reasoning that an answer carries with it, taken off before anything is read, compared or judged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from punchline.read.turns import first_turn
from punchline.read.words import Span, Texts

# What models and their templates write around thoughts. A benchmark whose prompt asks for one of these as part of the
# answer (HumorBench: reasoning) passes the tags without it.
TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "reflection", "inner_monologue")

_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}(\w{1,20})[^<]{0,99}<\|message\|>")
_MESSAGE_ENDS = re.compile(r"<\|(?:end|return|start|call)\|>")
# The same with the special tokens lost on the way.
_BARE_CHANNEL = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]{0,20}analysis(?=\W|[A-Z])")
_AROUND = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*+")  # white space and what is as invisible
_BARE_FINAL = "assistantfinal"


class Answer(NamedTuple):
    """An answer without its thoughts, and where it begins in the whole."""

    text: str
    offset: int = 0


@lru_cache(maxsize=16)
def _pattern(tags: Texts, closing: bool) -> re.Pattern[str]:
    """Tags around thoughts, opening or closing."""
    names = "|".join(re.escape(tag) for tag in sorted(tags, key=len, reverse=True))
    slash, edge = ("/", "end") if closing else ("", "begin")
    return re.compile(
        rf"<{slash}(?:seed:)?(?:{names})(?:\s[^<>]{{0,99}})?>|◁{slash}(?:{names})▷|\[{slash}(?:{names})\]"
        rf"|<\|{edge}_of_(?:{names})\|>",
        re.IGNORECASE,
    )


def _harmony(answer: str) -> Answer | None:
    """The final channel of an answer in harmony's format; None for another format."""
    channels = list(_CHANNEL.finditer(answer)) if "<|channel|>" in answer else []
    if channels:
        start = max((match.end() for match in channels if match[1].lower() == "final"), default=-1)
        if start < 0:
            return Answer("", len(answer))
        end = _MESSAGE_ENDS.search(answer, start)
        return Answer(answer[start : end.start() if end else len(answer)], start)
    start = answer.rfind(_BARE_FINAL) + len(_BARE_FINAL)
    return Answer(answer[start:], start) if start >= len(_BARE_FINAL) and _BARE_CHANNEL.match(answer) else None


def blanked(text: str, spans: Iterable[Span], blank: str = " ") -> str:
    """A text with blanks in place of the spans, as long as before."""
    pieces, at = list[str](), 0
    for start, end in spans:
        pieces += [text[at:start], blank * (end - start)]
        at = end
    return "".join((*pieces, text[at:]))


def remove(answer: str, tags: Texts = TAGS) -> Answer:
    """Reasoning is no answer.

    A closing tag that nothing opened ends thoughts that began with the answer (the template opened them). Opened and
    never closed: nothing was answered, and the text is "".

    Args:
        answer: The whole answer of a model.
        tags: Names of the tags around thoughts.

    Returns:
        The answer without its thoughts and the turns behind it, stripped; what stands between two pieces of it is
        blanks, as long as before, so that `offset` plus a place in the text is a place in the answer.

    >>> remove("<think>A?</think>B").text
    'B'
    """
    text, offset = _harmony(answer) or Answer(answer)
    spans: list[Span] = []
    start_of_answer = at = 0  # where the answer can begin at the earliest, and where the next tag is looked for
    opening, closing = _pattern(tags, False), _pattern(tags, True)
    while True:
        match = opening.search(text, at)
        if unopened := list(closing.finditer(text, at, match.start() if match else len(text))):
            start_of_answer, spans = unopened[-1].end(), []
        if match is None:
            break
        end = closing.search(text, match.end())
        if end is None:
            return Answer("", len(answer))
        spans.append((match.start(), end.end()))
        at = end.end()
    whole = blanked(text, spans)[start_of_answer:]
    around = _AROUND.match(whole)
    begin = around.end() if around else 0
    return Answer(first_turn(whole[begin:].rstrip()), offset + start_of_answer + begin)


def without(answer: str, tags: Texts = TAGS) -> str:
    """The part of an answer that is compared or judged.

    Args:
        answer: The whole answer of a model.
        tags: Names of the tags around thoughts.

    Returns:
        The answer as it is where it holds no thoughts, else the rest without them, stripped; "" where nothing was
        answered.

    >>> without("<think>A?</think> B ")
    'B'
    """
    part = remove(answer, tags)
    whole = part.text == answer[part.offset :].rstrip() and _AROUND.fullmatch(answer, 0, part.offset) is not None
    return answer if whole else part.text
