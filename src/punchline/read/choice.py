"""One of lettered options."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from punchline.read import normalize, words
from punchline.read.number import number_of
from punchline.read.resolve import decider, highest, resolve
from punchline.read.result import Read, reader
from punchline.read.sentences import Mention
from punchline.read.words import preceding

_ARTICLE = words.pattern(r"[ \t](?!{verb_of_option}\b)[\"']{0,2}[a-z]")  # an A before it is none
_NAMED = words.pattern(r"\b{named_by_letter} [\"'(]{0,2}$")  # "Plan B", "vitamin A"; not "option B"
_SCORED = re.compile(r"\)?: ?(?:\d*\.\d|\d+ ?%|\d{1,3}(?:[,;\n]\s*\(?[A-Z]\)?: ?\d|\W*$))")  # "A: 0.5", "A: 5, B: 3"
_SHARE = r" ?\(\d{1,3}(?:\.\d+)? ?%\)"  # "A (10%), B (90%)"; one alone tells how sure an answer is
_SHARES = re.compile(rf"{_SHARE}\W+[A-Z]{_SHARE}"), re.compile(rf"[A-Z]{_SHARE}\W+$"), re.compile(_SHARE)
_CHOSEN = words.pattern(r"\b{chosen}[:,]? ?[(\"']{0,2}$|[(\"':]$|(?:->|=>|→|=|:) ?$")
_STANDING = re.compile(r"(?<![\w'’.@&])(?<![\w'’]{2}[-/])[A-Za-z](?![\w@&])(?!['’]\w|[-/][A-Za-z]{2}|\.[A-Za-z])")


def _is_option(text: str, start: int, end: int, marked: bool) -> bool:
    """True if a letter that stands by itself is an option's, no article and no name."""
    letter = text[start]
    before, after = preceding(text, start), text[end : end + 40]
    is_name = _NAMED.search(before.lower()) or re.search(r"\b(?:an?|An) $", before)  # a plan B
    is_share = _SHARES[0].match(after) or (_SHARES[1].search(before) and _SHARES[2].match(after))
    if is_name or is_share or _SCORED.match(after):
        return False
    if before.endswith("(") and after.startswith(")"):
        return True
    if letter.isupper():
        return letter != "I" and (letter != "A" or _ARTICLE.match(text, end) is None)
    at_start = not before.strip(" \n(\"'") or before.rstrip(" (\"'").endswith("\n")
    # A small letter: by itself, leading a line like "b)" or "b.", or called an option.
    closed = re.match(r"[)\]\"']{0,2}(?:[.,;:!?)\n]|$| -|\s*$)", after) is not None
    if letter in "ai":
        called = re.search(r"\b(?:option|choice|letter|ans|answer(?: is)?) ?:? ?[(\"']{0,2}$", before.lower())
        return closed and bool(called or (at_start and (marked or not after.startswith(","))))
    followed = closed or re.match(r" (?:or|and|is|because|as|since)\b", after) is not None
    return (at_start and (closed or marked)) or (followed and _CHOSEN.search(before.lower()) is not None)


@lru_cache(maxsize=4096)
def _spelt(option: str) -> str:
    """A pattern for an option's text in plain lower case; "" for one without a word."""
    pieces = re.findall(r"\w+(?:['-]\w+)*|[^\w\s]", normalize.plain(option).low)
    places = [place for place, piece in enumerate(pieces) if re.match(r"\w", piece)]
    if not places:
        return ""
    said, ends = pieces[places[0] : places[-1] + 1], "".join(pieces[places[-1] + 1 :])
    mark = rf"(?:\s?{re.escape(ends)})?" if "?" in ends else ""  # of an option that is a question; its answer is none
    return r"(?<!\w)" + r"\s{0,2}".join(map(re.escape, said[:200])) + r"(?!\w)" + mark


def _texts(text: normalize.Plain, options: Mapping[str, str]) -> list[Mention]:
    """Options spelt out; of two at one place the longer; one text of two options is neither's."""
    by_text: dict[str, list[str]] = {}
    for letter in sorted(options):
        by_text.setdefault(_spelt(options[letter]), []).append(letter)
    patterns = sorted(filter(None, by_text), key=lambda one: (-len(one), one))
    matches = itertools.islice(re.finditer("|".join(f"({one})" for one in patterns) or "(?!)", text.low), 400)
    return [Mention(*match.span(), "|".join(by_text[patterns[(match.lastindex or 1) - 1]]), True) for match in matches]


_PLACE = words.pattern("{option_by_place}")
_OTHER_PLACE = words.pattern(r"\b{ordinal} (?:n?or|and|to) $")  # "the second or third option"


def _places(low: str, letters: Iterable[str]) -> Iterator[Mention]:
    """Options that are called by their place."""
    letters = sorted(letters)
    for match in _PLACE.finditer(low):
        word, start = match[match.lastindex or 1], match.start(match.lastindex or 1)
        place = len(letters) if word == "last" else number_of(word)
        if 0 < place <= len(letters) and not _OTHER_PLACE.search(low, max(0, match.start() - 20), match.start()):
            yield Mention(start, match.end(), letters[place - 1], True)


_BETWEEN = re.compile(r"[)\]\"']{0,2}[.:,]?[)\]\"']{0,2}\s?(?:-|=|is)?\s?[(\"'\[]{0,2}")


def _merged(letters: list[Mention], texts: list[Mention], low: str) -> list[Mention]:
    """Letters and texts in order; a letter and its text are one mention, with another's one without a value."""
    merged: list[Mention] = []
    joined = False  # the last one has its letter and its text
    for mention in sorted([*letters, *texts]):
        last = merged[-1] if merged else Mention(0, 0, "")
        if mention.start < last.end:
            continue
        apart = joined or last.text == mention.text or not _BETWEEN.fullmatch(low, last.end, mention.start)
        letter, text = (mention.value, last.value) if last.text else (last.value, mention.value)
        if not merged or apart or (last.text and low[mention.start - 1] != "(" and letter != text):
            merged.append(mention)
            joined = False
        else:
            joined = True
            merged[-1] = Mention(last.start, mention.end, letter if letter in text.split("|") else "", True)
    return [mention if "|" not in mention.value else mention._replace(value="") for mention in merged]


def mentions(text: normalize.Plain, options: Mapping[str, str], marked: bool, given: Iterable[str]) -> list[Mention]:
    """The options that a plain text mentions: by letter, spelt out, by place among those given.

    Letters that are no option's too.
    """
    texts = sorted([*_texts(text, options), *_places(text.low, given)])
    covered = {place for one in texts for place in range(one.start, one.end)}
    letters = [
        Mention(*match.span(), match[0].upper())
        for match in _STANDING.finditer(text.text)
        if match.start() not in covered and _is_option(text.text, *match.span(), marked)
    ]
    return _merged(letters, texts, text.low)


def _alone(answer: str, options: Mapping[str, str]) -> str | None:
    """The letter of the one option that the whole answer is, with or without its letter, whatever the option says."""
    tokens = re.findall(r"\w+", normalize.plain(answer).low)
    if len("".join(tokens)) < 2:  # a letter, whatever options say
        return None
    spelt = {letter: re.findall(r"\w+", normalize.plain(option).low) for letter, option in options.items()}
    alike = [letter for letter, said in spelt.items() if said and tokens in (said, [letter.lower(), *said])]
    return alike[0] if len(alike) == 1 else None


def _is_letter(option: str, given: Collection[str]) -> bool:
    """True for an option whose text is a letter of the list: it counts behind its own letter only."""
    letter = re.fullmatch(r"\W*([a-z])\W*", normalize.plain(option).low)
    return letter is not None and letter[1].upper() in given


@reader
def choice(answer: str, letters: Collection[str], options: Mapping[str, str] | None = None) -> Read[str]:
    """The letter of the option that an answer commits itself to.

    By elimination, the only letter left counts.

    Args:
        answer: The whole answer of a model.
        letters: The letters of the options, capitals.
        options: {letter: text}. An option spelt out counts as its letter, but for one that is itself a letter.

    Returns:
        The letter and its span; no value for a hedge, a refusal, none of them, two commitments, a letter that is not
        there, a repeated list.

    >>> choice("I thought A. Wait, no: B.", "ABCD").value
    'B'
    """
    given = tuple(letters)
    texts = {letter: text for letter, text in (options or {}).items() if letter in given}
    if (alone := _alone(answer, texts)) is not None:
        return Read(alone, len(answer) - len(answer.lstrip()), len(answer.rstrip()))
    spelt = {letter: f"{letter}. {text}" if _is_letter(text, given) else text for letter, text in texts.items()}
    reading = resolve(answer, decider(lambda text, marked: mentions(text, spelt, marked, given), given))
    return reading if reading.value is not None else highest(answer, r"(?:option )?", "[a-z]", given)
