"""The name of an object, of a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from punchline.read import normalize, words
from punchline.read.resolve import NOTHING, resolve
from punchline.read.result import Read, reader

MOST_WORDS = 10  # of a name that stands by itself
_OF_SENTENCE = 4  # of a name that a sentence gives

_MARK = re.compile(
    r"^\W{0,8}(?:(?:the |my )?(?:final |correct |single[- ]word )?(?:label|object|answer|item|element|word|name"
    r"|response)(?: name)?\s?(?:is\s?)?(?::|=|->|→)|(?:\d{1,2}[.)]|[-*•])\s)\s{0,3}",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\W{0,8}(?:reasoning|explanation|analysis|rationale|thoughts?|note) ?:", re.IGNORECASE)
_NOT_BUT = re.compile(r"^not (?:the |an? )?[\w' -]{2,40}?,? but (?:rather )?", re.IGNORECASE)
_NO_NAME = re.compile(words.any_of("no_name"), re.IGNORECASE)
_ABOUT = r"(?:object|item|element|thing|label|answer|word|part|figure|image element)"
_NO_FIRST = r"not|no|the|an?|that|to|in|on|unclear|related|used|shown|what|it|one|n't|never"  # words of no name
_MORE = (
    r"(?: (?!(?:which|that|who|because|since|as|and|in|on|at|with|is|are|of|representing|symboli[sz]ing|used|here|being"
    r"|for|,)\b)[\w'-]+)"
)
_SENTENCE = re.compile(
    rf"\b{_ABOUT}(?: [^.:;\n]{{1,120}}?)?(?:,? (?:is|would be|must be|seems to be|has to be)(?: likely| probably"
    rf"| clearly)?|:) (?:the |an? )?[\"'(]{{0,2}}(?P<name>(?!(?:{_NO_FIRST})\b)[\w'-]+{_MORE}{{0,{_OF_SENTENCE - 1}}})"
    rf"|(?:^|(?<=\n)|(?<=[.!?] ))[\"'(]{{0,2}}(?:the |an? )?(?P<subject>[\w'-]+(?: (?!(?:is|are|of)\b)[\w'-]+){{0,2}})"
    rf"[\"')]{{0,2}} (?:is|would be) (?:the )?(?:main |key |metaphorical |related )?{_ABOUT}\b"
    rf"|\b(?:i would say|i'd say|i choose|i would choose|it is|it's|that would be|it would be|it must be|therefore,?"
    rf"|so,?|definitely|metaphor (?:is )?(?:involves|relates to|related to|centers on|centres on)) (?:the |an? )?"
    rf"[\"'(]{{0,2}}(?P<said>(?!(?:{_NO_FIRST}|possible|impossible|hard|difficult|which|this|there|clear|likely|probably"
    rf"|all|about|because|just|like)\b)[\w'-]+{_MORE}{{0,2}})(?=[\"')]{{0,2}}(?:[.,;!\n]|$| (?:in|on|which|that|because"
    rf"|since|as|at|with)\b))"
)
_VERB = re.compile(rf"\b{words.any_of('sentence_verb')}\b", re.IGNORECASE)
_RELATIVE = re.compile(  # "the hole he is in"
    r"\b(?:is|are|was|were) (?:in|on|at|under|over|from|behind)$", re.IGNORECASE
)


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
    """The object that an answer names: marked as its answer, else its first line, else what a sentence says that it is.

    `context`: instructions and texts of the prompt, which repeated are no answer. Nothing for a refusal, "none", a
    sentence that names none.
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
