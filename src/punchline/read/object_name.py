"""The name of an object, of a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from punchline.read import normalize, words
from punchline.read.resolve import resolve
from punchline.read.result import NOTHING, Read, reader

MOST_WORDS = 10  # of a name that stands by itself
_OF_SENTENCE = 4  # of a name that a sentence gives

_MARK = words.pattern(r"^\W{0,8}(?:{before_name}|(?:\d{1,2}[.)]|[-*•])\s)\s{0,3}", re.IGNORECASE)
_REMARK = re.compile(r"\W{0,8}(?:reasoning|explanation|analysis|rationale|thoughts?|note) ?:", re.IGNORECASE)
_NOT_BUT = re.compile(r"^not (?:the |an? )?[\w' -]{2,40}?,? but (?:rather )?", re.IGNORECASE)
_NO_NAME = words.pattern("{no_name}", re.IGNORECASE)
_SENTENCE = words.pattern("{sentence_with_name}")
_VERB = words.pattern(r"\b{sentence_verb}\b", re.IGNORECASE)
# "the hole he is in"
_RELATIVE = re.compile(r"\b(?:is|are|was|were) (?:in|on|at|under|over|from|behind)$", re.IGNORECASE)


def _name(line: str, context: frozenset[str]) -> str | None:
    """A line as a name; None for a sentence, for nothing, for a piece of the prompt."""
    name = _NOT_BUT.sub("", _MARK.sub("", _MARK.sub("", line, count=1), count=1))
    aside = re.match(r"([\w' -]{2,40}?)(?:: | [-–—] |, (?=because|since|as|which|not\b|rather\b|instead\b)| \()", name)
    name = aside[1] if aside and len(aside[1].split()) <= _OF_SENTENCE else name
    name = " ".join(re.sub(r"[\"“”]", "", name).split()).strip(" .,;:!?'()[]*_`")
    name = re.sub(r"^(?:an?|the) (?=\S+$)", "", name, flags=re.IGNORECASE)  # of one word, as was asked for
    parts = name.split()
    sentence = len(parts) > 2 and _VERB.search(name) and not _RELATIVE.search(name)
    if sentence or not re.search(r"\w", name) or len(parts) > MOST_WORDS or _NO_NAME.fullmatch(name):
        return None
    return None if len(parts) > 1 and any(name.lower() in text for text in context) else name


@reader
def object_name(answer: str, context: Sequence[str] = ()) -> Read[str]:
    """The object that an answer names: marked, else its first line, else the predicate of a sentence.

    Args:
        answer: The whole answer of a model.
        context: Instructions and texts of the prompt, which repeated are no answer.

    Returns:
        The name and its span; no value for a refusal, "none", a sentence that names none.

    >>> object_name("The object is a clock.").value
    'clock'
    """
    prompts = frozenset(" ".join(text.lower().split()) for text in context)

    def read_text(text: normalize.Plain, marked: bool) -> Read[str]:
        for line in normalize.LINE.finditer(text.text):
            repeated = " ".join(line[0].lower().split()).strip(" .,;:!?")
            if _REMARK.match(line[0]):
                continue
            if re.search(r"\w", line[0]) and not any(repeated in prompt for prompt in prompts if " " in repeated):
                start = line[0][:500] if not marked else re.split(r"(?<=\w{3})[.!?] ", line[0], maxsplit=1)[0]
                if name := _name(start, prompts):
                    place = line.start() + max(line[0].find(name), 0)
                    return Read(name, *text.span(place, place + len(name)), marked)
                break
        sentence = None if words.UNSURE.search(text.low) else _SENTENCE.search(text.low)
        if sentence is None:
            return NOTHING
        kind = sentence.lastgroup or "name"
        name = text.text[slice(*sentence.span(kind))].strip(" '\"")
        return Read(name or None, *text.span(*sentence.span(kind)), marked)

    return resolve(answer, read_text)
