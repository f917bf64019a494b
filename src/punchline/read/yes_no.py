"""Yes or no: the word, an option that stands for it, or the question's own statement affirmed or denied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from punchline.read import choice, normalize, sentences, words
from punchline.read.refusal import refuses
from punchline.read.resolve import decider, resolve, statements
from punchline.read.result import NOTHING, Read, reader
from punchline.read.sentences import Mention

_WORD = words.pattern(r"(?<![\w-])(?:(?P<yes>{word_yes})|(?P<no>{word_no}))(?![\w'])(?!-\w)")
_TRUTH = re.compile(r"(?<![^\n])[^\w\n]*(?:(?P<yes>true)|(?P<no>false))[^\w\n]*(?![^\n])")  # a line by itself
_SHORT = words.pattern(r"\W*{short_answer}\W*")
# An answer that is one letter, or in another language than the question.
_ALONE = dict.fromkeys(words.listed("alone_yes"), "Yes") | dict.fromkeys(words.listed("alone_no"), "No")
_LEADING = re.compile(rf"({'|'.join(word for word in _ALONE if len(word) > 1 or not word.isascii())})[,.:;!।](?!\d)")
_FIRST = re.compile(r"(?<![^\n])[^.!?;\n]{1,60}[.!;]+(?=\s|$)")  # a line's first sentence
_GENERAL = words.pattern(r"\b{condition}\b|{general}")  # says nothing of this answer's case
_OPEN = words.pattern(r"{unsure}|\b{open_question}\b")


_SPEAKS = words.pattern(r"\b(?!i )\w+ {speaks}[,:]? [\"']$")  # somebody in the picture does


def _value_of(match: re.Match[str]) -> str:
    return "Yes" if match["yes"] else "No"


def _mentions(text: normalize.Plain, marked: bool) -> list[Mention]:
    mentions = [
        Mention(*match.span(), _value_of(match))
        for match in _WORD.finditer(text.low)
        if not _SPEAKS.search(text.low, max(0, match.start() - 40), match.start())
    ]
    return mentions or [
        Mention(*match.span(_value_of(match).lower()), _value_of(match)) for match in _TRUTH.finditer(text.low)
    ]


def _stated(text: normalize.Plain, stems: Sequence[str], against: Sequence[str]) -> Read[str]:
    """The answer that sentences in the words of the question give, if they agree; None in doubt."""
    words_for, words_against = ("|".join(map(re.escape, of)).lower() for of in (stems, against))
    matter = re.compile(  # with what it is said to be for
        rf"\b(?:(?P<no>(?:non[- ]?|without (?:an? |any )?)(?:{words_for})|(?:{words_against or '(?!)'})"
        rf"|(?:{words_for})\w*: (?:none|absent)\b|(?:is|'s) none\b)"
        rf"|(?P<yes>{words_for}))\w*(?: (?:for|that|which|who|whose|where)\b[^,.;:()\n]*)?"
    )
    stated: list[Read[str]] = []
    asked, concluded = False, NOTHING
    for start, end in sentences.sentences(text.low):
        sentence = words.blanked(words.FREE, text.low[start:end])
        if asked and (short := _SHORT.fullmatch(sentence)):
            concluded = Read(_value_of(short), *text.span(start, end))
        asked = sentence.rstrip(" \"')").endswith("?")
        if _GENERAL.search(sentence):
            continue
        if _OPEN.search(sentence):
            return NOTHING
        for affirmed, *_ in statements(sentence, matter):
            stated.append(Read("Yes" if affirmed else "No", *text.span(start, end)))
    return concluded if concluded.value or len({one.value for one in stated}) != 1 else stated[-1]


def _option(
    answer: str, stems: Sequence[str], letters: Mapping[str, str], options: Mapping[str, str], against: Sequence[str]
) -> Read[str] | None:
    """Yes or No, as the option means that an answer chooses; None where it mentions no option."""
    chosen = choice.choice(answer, tuple(letters), options)
    gloss = re.match(r"\W*([A-Z])\b ?[:(.,-]+ ?", answer)  # "B (no metaphor is used)"
    glossed = _stated(normalize.plain(answer, gloss.end()), stems, against).value if gloss and stems else None
    if gloss and glossed and glossed == letters.get(gloss[1]) != letters.get(chosen.value or ""):
        return Read(glossed, *gloss.span(1))
    if chosen.value is not None:
        return Read(letters[chosen.value], chosen.start, chosen.end)
    return NOTHING if choice.mentions(normalize.plain(answer), options, False, tuple(letters)) else None


@reader
def yes_no(
    answer: str,
    stems: Sequence[str] = (),
    letters: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    against: Sequence[str] = (),
) -> Read[str]:
    """ "Yes" or "No", or the statement of the question affirmed or denied.

    Args:
        answer: The whole answer of a model.
        stems: Beginnings of the words that the question is about, so that an answer that repeats its statement is read.
        letters: {"A": "Yes", "B": "No"} where the question has options.
        options: Their texts, by letter.
        against: Beginnings of words that deny the subject of the question.

    Returns:
        "Yes" or "No" and its span; no value for a refusal, both, neither.

    >>> yes_no("No metaphor is used.", stems=("metaphor",)).value
    'No'
    """
    if letters and (option := _option(answer, stems, letters, options or {}, against)):
        return option
    text = normalize.plain(answer)
    if alone := _ALONE.get(text.low.strip(" .!()।\n")) if len(text.low) < 20 else None:
        return Read(alone, *text.span(0, len(text.low)))
    if crossed := re.match(r"✗\s+(no)\b[^✓✗]*$", text.low.strip()):
        return Read("No", *text.span(text.low.index("no"), text.low.index("no") + len(crossed[1])))
    if foreign := _LEADING.match(text.low):
        return Read(_ALONE[foreign[1]], *text.span(*foreign.span(1)))
    stem = "|".join(map(re.escape, stems)).lower() or "(?!)"
    named = re.search(rf"(?<![^\n])[^\w\n]*(?:{stem}){words.any_of('verdict_on_stem')}", text.low)
    if named:  # "Metaphor: yes. Pun: no."
        return Read("Yes" if named["yes"] else "No", *text.span(*named.span(named.lastgroup or 0)))
    if (reading := resolve(answer, decider(_mentions, ("Yes", "No"), judged=False))).value is not None:
        return reading
    last = text.low.rstrip().rfind("\n") + 1
    if short := _SHORT.fullmatch(text.low, last):
        return Read(_value_of(short), *text.span(*short.span(_value_of(short).lower())))
    if refuses(text.low) or _mentions(text, False):
        return NOTHING
    stated = _stated(text, stems, against) if stems else NOTHING
    shorts = [short for first in _FIRST.finditer(text.low) if (short := _SHORT.fullmatch(text.low, *first.span()))]
    kinds = {_value_of(short) for short in shorts}
    if len(kinds) == 1 and stated.value in (None, kind := kinds.pop()):
        return Read(kind, *text.span(*shorts[0].span(kind.lower())))
    return stated
