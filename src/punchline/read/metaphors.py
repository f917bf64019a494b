"""Metaphors, "X is Y", and explanations, apart from what an answer repeats of its prompt."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from punchline.read import json_tables, marked, normalize
from punchline.read.refusal import refuses
from punchline.read.resolve import affirmed
from punchline.read.sentences import Mention
from punchline.read.words import Texts, listed, pattern

OPENING = 40  # characters in which an explanation refuses, if it does: "I cannot believe" is none
MARKUP = re.compile(r"[*_`#\"“”]")


@lru_cache(maxsize=8)
def _echoes(instructions: Texts) -> re.Pattern[str]:
    """The sentences of a prompt's instructions, however they are broken into lines."""
    parts = {one for text in instructions for one in re.split(r"(?<=[.?])\s+(?=[A-Z])", text)}
    sentences = sorted((one for one in parts if "{" not in one), key=lambda one: (-len(one), one))
    return re.compile("|".join(_spelt(one.rstrip(".")) for one in sentences) + r"\.?", re.IGNORECASE)


def _spelt(text: str) -> str:
    return r"\s{1,5}".join(re.escape(word) for word in text.split())


def without_prompt(answer: str, instructions: Texts, context: Sequence[str]) -> str:
    """The answer without the instructions' sentences, and without `Caption: …` and `Image: …` of `context`."""
    rest = _echoes(instructions).sub(" ", answer) if instructions else answer
    for text in filter(None, context):
        rest = re.sub(r"(?im)^\W{0,5}(?:caption|image):\s{0,5}" + _spelt(text), " ", rest)
    return rest


_QUOTED = re.compile(r"[\"“”]([^\"“”\n]{3,200})[\"“”]")
_LIST_MARK = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|[-•])\s+")
_INTRODUCTION = pattern("{metaphor_follows}", re.IGNORECASE)
_INLINE = re.compile(r"\((?![^()]*\b(?:is|are|has|have)\b)([^();\n]{1,60})\)(?=\s{1,5}\w)", re.IGNORECASE)
_ENDS = re.compile(r"(?<=[.!?])\s+")
PIECES = 8  # metaphors of one answer that are compared
CLAUSE_WORDS = 12  # of one metaphor; the annotations have up to 8
OTHER_WORDS = 12  # of the line that a metaphor without quotation marks and capitals stands in
EXAMPLES = ("love is a journey", "target domain is source domain", "x is y")
NO_DOMAIN = listed("no_domain")  # before "is": no domain is named
NO_PREDICATE = listed("no_predicate")  # after it, in the plain form: said about the cartoon, or where one is
NEGATIONS = listed("no_metaphor")
_ABOUT = pattern("{about_what_is_shown}", re.IGNORECASE)  # the plain form's subject is no domain
_ARTICLES = ("a", "an", "the")


_TAG = re.compile(r"</?[a-z_]{1,24}>|\\(?:f?boxed|text(?:bf|it|rm)?|math(?:bf|rm|it))(?=\{)|[{}](?![^{}]{0,400}[\":])")
Form = Literal["capitals", "quoted", "plain"]


def _clause(piece: str, form: Form) -> str | None:
    """A piece of an answer as a metaphor, "X is Y"; None where it is none.

    Refusals, negations, questions and clauses without a domain before "is" are none, nor is more than CLAUSE_WORDS. In
    lower case, what is said about the image or the caption is none either, nor "The man is holding" and "The man has".
    """
    words = " ".join(piece.split()).strip(" .,!:–—-[]()").split()
    places = [at for at, word in enumerate(words) if word.lower() in ("is", "are", "has", "have")]
    if len(places) != 1:
        return None
    at = places[0]
    first = next((place + 1 for place in range(at - 1, -1, -1) if words[place].endswith((",", ":"))), 0)
    last = next((place + 1 for place in range(at + 1, len(words)) if words[place].endswith((",", ":"))), len(words))
    words, at = words[first:last], at - first
    text = " ".join(words).strip(" .,!:。")
    if text.startswith(("'", "‘")):
        text = text[1:].removesuffix("'").removesuffix("’")
    plain = [word.lower().strip(".,;:!?'‘’()[]") for word in words]
    before, after = plain[:at], plain[at + 1 :]
    if not any(before) or not any(after) or len(words) > CLAUSE_WORDS or text.endswith("?"):
        return None
    no_domain = before[0] in NO_DOMAIN or before[-1] in NO_DOMAIN or all(word in _ARTICLES for word in before)
    negated = any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in plain)
    nothing = after[0] in ("no", "nothing", "none", "what") or all(word in _ARTICLES for word in after)
    if no_domain or negated or nothing:
        return None
    if form == "capitals" or not words[at].islower():
        return text
    of_cartoon = _ABOUT.fullmatch(" ".join(before)) or after[0] in NO_PREDICATE or after == ["unknown"]
    acts = before[0] in _ARTICLES and (plain[at] in ("has", "have") or after[0].endswith("ing"))
    return None if of_cartoon or acts else text


def _clauses(text: str, form: Form) -> list[str]:
    pieces = re.split(r";|\s/\s|[()\n]", _INLINE.sub(r"\1", text))
    return [clause for piece in pieces if (clause := _clause(piece, form)) is not None]


def _shouted(text: str) -> list[str]:
    """Runs of words without a small letter, up to the end of a sentence or a comma."""
    runs: list[list[str]] = [[]]
    for line in text.splitlines():
        runs.append([])
        for token in line.split():
            loud = any(c.isupper() or c.isdecimal() for c in token) and not any(map(str.islower, token))
            if loud:
                runs[-1].append(token)
            if not loud or token[-1] in ",;:!?" or (token[-1] == "." and "." not in token.rstrip(".")):
                runs.append([])
    return [" ".join(run) for run in runs if len(run) > 2]


def metaphors(answer: str, instructions: Texts = (), context: Sequence[str] = ()) -> Texts | None:
    """The metaphors that an answer names, "X is Y"; None where it gives none.

    Those in capitals, else those in quotation marks, else those of the first line that has one and little else, if the
    answer does not refuse. `context`: texts that the prompt shows, quotations of which are none. What the answer
    repeats of the prompt is not read; the prompt's example is taken only where there is nothing else.
    """
    answer = normalize.visible(answer[:4000])
    zones = marked.zones(answer, normalize.plain(answer))
    firm = "\n".join(answer[zone.start : zone.end] for zone in zones if zone.rank == marked.FIRM)
    texts = [firm, answer] if firm.strip() and not firm.lstrip().startswith("[") else [answer]
    found = (
        _named(text if text.lstrip("` \njson").startswith('{"') else _TAG.sub(" ", text), instructions, context)
        for text in texts
    )
    return next(filter(None, found), None)


def _named(answer: str, instructions: Texts, context: Sequence[str]) -> Texts | None:
    """The metaphors of an answer, or of what it marks as its answer."""
    answer = without_prompt(answer, instructions, context)
    if answer.lstrip("` \njson").startswith("{"):
        answer = json_tables.lines(answer) or answer
    texts = [" ".join(text.split()) for text in context if text]

    def repeated(metaphor: str) -> bool:
        return any(metaphor in text or (not metaphor.istitle() and metaphor.lower() in text.lower()) for text in texts)

    unmarked = MARKUP.sub("", answer)
    capitals = [one for run in _shouted(unmarked) for one in _clauses(run, "capitals")]
    candidates = [[one for one in capitals if not any(one in text for text in texts)]]
    quoted = [one for text in _QUOTED.findall(answer) for one in _clauses(text, "quoted")]
    candidates.append([one for one in quoted if not repeated(one)])
    unquoted = _QUOTED.sub(lambda m: " " if m[1].count(" ") > 1 and repeated(m[1].strip(" .,")) else m[0], answer)
    for line in MARKUP.sub("", unquoted).splitlines() if not refuses(normalize.plain(answer).low) else ():
        line = _INTRODUCTION.sub("", _LIST_MARK.sub("", line))
        clauses = next(filter(None, (_clauses(sentence, "plain") for sentence in _ENDS.split(line))), [])
        others = len(line.split()) - sum(len(one.split()) for one in clauses)
        candidates.append([one for one in clauses if others <= OTHER_WORDS and not any(one in text for text in texts)])
    meant = [tuple(dict.fromkeys(found))[:PIECES] for found in candidates if found]
    meant = [found for found in meant if not repeats_example(found)] or meant or [()]
    return _affirmed(" ".join(unmarked.split()).lower(), meant[0]) or None


def _affirmed(low: str, values: Texts) -> Texts:
    """The metaphors that an answer does not take back or tell others apart from."""
    mentions = sorted(Mention(at, at + len(one), one) for one in values if (at := low.find(one.lower())) >= 0)
    overlap = any(one.end > other.start for one, other in itertools.pairwise(mentions))
    if overlap or not 1 < len(values) == len(mentions):
        return values
    positive = affirmed(low, mentions)
    return tuple(one for one in values if any(one == mention.value for mention in positive)) or values


def repeats_example(values: Sequence[str]) -> bool:
    """True if nothing is named but the prompt's own example or its placeholders (section 6.1: no meaningful answer)."""
    return all(one.lower() in EXAMPLES for one in values)


def explanation(answer: str, instructions: Texts, context: Sequence[str], question: str) -> str | None:
    """The answer, stripped, without what it repeats of the prompt, which shows `context`; None for one without
    a word of its own, for a piece of the `question`, and for a refusal."""
    text = without_prompt(answer, instructions, context).strip()
    repeated = " ".join(text.lower().split()).strip(" .,;:!?") in question.lower()
    return None if repeated or not re.search(r"\w", text) or refuses(normalize.plain(text[:OPENING]).low) else text
