"""Yes or no: the word, an option that stands for it, or the question's own statement affirmed or denied."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from punchline.read import choice, normalize, sentences, words
from punchline.read.refusal import refuses
from punchline.read.resolve import decider, resolve
from punchline.read.result import Read, reader
from punchline.read.sentences import Mention

_WORD = re.compile(
    r"(?<![\w-])(?:(?P<yes>yes|yeah|yep|yup|yea|(?<![^\n])affirmative(?= ?[.,:!])|(?:in the |is )affirmative)"
    r"|(?P<no>nope|nah|(?:in the |is )negative|(?<=yes or )no\b|(?<![^\n])negative(?= ?[.,:!])"
    r"|no(?!\. ?\d)(?= ?[(\])\"']{0,2} ?(?:[.,;:!?/|&()\]\"'-]|$|\n|(?:or|and|nor|but|is|was|would|because|since|as"
    r"|this|there|it|i|the|that|in|here|given|for|than|rather|instead|not|seems|to|from)\b))))(?![\w'])(?!-\w)"
)
_TRUTH = re.compile(r"(?<![^\n])[^\w\n]*(?:(?P<yes>true)|(?P<no>false))[^\w\n]*(?![^\n])")  # a line by itself
_IT_DOES = (
    r"(?:it|they|there|this|i|he|she) (?:certainly |definitely |really |indeed |sure )?(?:does|do|is|are|am|can|has)"
)
_SHORT = re.compile(
    rf"\W*(?:(?:well|so|ok(?:ay)?|i think|i believe|i would say),? )?(?:(?P<yes>(?:indeed,? )?{_IT_DOES}(?: indeed)?"
    r"|absolutely|definitely|certainly|of course|indeed|sure|totally|(?:i )?(?:think|believe) so|correct|affirmative"
    rf"|without (?:a )?doubt)|(?P<no>{_IT_DOES}(?: ?n't| ?not)|(?:absolutely|definitely|certainly|of course|probably"
    r"|clearly) not|(?:unfortunately|sadly|i'm afraid|regrettably|afraid),? not|not (?:really|at all|in the slightest)"
    r"|(?:i )?(?:don't|do not) (?:think|believe) (?:so|(?:that )?(?:it|there) (?:does|is))|negative|incorrect))\W*"
)
_ALONE = {  # an answer that is one letter, or in another language than the question
    **dict.fromkeys(("y", "oui", "sí", "si", "ja", "да", "是", "是的", "はい", "예", "네"), "Yes"),
    **dict.fromkeys(("n", "non", "nein", "нет", "否", "不是", "いいえ", "아니요", "아니오"), "No"),
}
_LEADING = re.compile(rf"({'|'.join(word for word in _ALONE if len(word) > 1 or not word.isascii())})[,.:;!](?!\d)")
_FIRST = re.compile(r"(?<![^\n])[^.!?\n]{1,60}[.!]+(?=\s|$)")  # a line's first sentence
_OPEN = re.compile(
    r"\b(?:(?:hard|difficult|impossible|tough) to (?:say|tell|judge)|debatable|it depends on (?:how|whether|what|who"
    r"|the)[^.]*|an open question|a matter of taste)\W*$"
)
_DENIAL = re.compile(
    rf"{words.NEGATION.pattern}|\b(?:rather than|instead of|as opposed to|absence of|devoid of|free of|unlike|\bnon[- ]"
    rf"|fails? to|lack of|absent|deny|denies|(?:a stretch|too much|hard|difficult|wrong|a mistake) to)\b"
)
_CLAUSE = re.compile(
    r"[,;:()]| - |\b(?:but|so|because(?! of)|since|while|whereas|although|though|therefore|thus|hence|which|however"
    r"|yet)\b"
)
_OF_WHAT = re.compile(
    r"\b(?:for|that|which|who|whose|where|about|of|rather|instead|as opposed|unlike)\b"
)  # what follows is not said of the matter
_NONE_OF_IT = re.compile(
    r"\W*(?:but|yet|however)?,? ?(?:there|it|this|that)(?: is|'s)?(?: none|n't(?: one)?| is not(?: one)?"
    r"| not(?: one)?)\W*$|\W*(?:none|no|nil|absent|not (?:present|used))\W*$"
)
_WITHOUT = re.compile(r"\W*(?:without|take away|remove|but for|(?:if|were it) not for) (?:the|this|that|its)\b")
_QUESTION = re.compile(
    r"\w+s are (?:common|often|usually|frequent|typical|figures)\b|\b(?:whether(?! or not\b)|the question|asks?|asked"
    r"|determine|maps? one|figure of speech|refers to|defined|definition|would (?:be(?! (?:a stretch|hard|difficult"
    r"|wrong|too much|a mistake))|require|need|involve|mean))\b"
)


_SPEAKS = re.compile(  # somebody in the picture does
    r"\b(?!i )\w+ (?:says|said|saying|shouts?|shouted|replies|replied|yells?|screams?|exclaims?|responds|responded"
    r"|reads|reading|states|asks|answers|captioned)[,:]? [\"']$"
)


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


def _stated(low: str, stems: Sequence[str], against: Sequence[str]) -> tuple[str | None, int, int]:
    """The claim of the sentences about the question: of one that concludes, else of all alike."""
    stated: list[tuple[str, int, int]] = []
    concluded: list[tuple[str, int, int]] = []
    after_question = False
    about, opposite = (
        re.compile(rf"\b(?:{'|'.join(map(re.escape, of)).lower() or '(?!)'})") for of in (stems, against)
    )
    for start, end in sentences.sentences(low):
        sentence = words.blanked(words.FREE, low[start:end])
        if after_question and (short := _SHORT.fullmatch(sentence)):
            concluded.append((_value_of(short), start, end))
        after_question = sentence.rstrip(" \"')").endswith("?")
        if after_question or words.CONDITION.search(sentence) or _QUESTION.search(sentence):
            continue
        if words.UNSURE.search(sentence) or _OPEN.search(sentence):
            return None, 0, 0
        cuts = [0, *(match.start() for match in _CLAUSE.finditer(sentence)), len(sentence)]
        for left, right in itertools.pairwise(cuts):
            clause = sentence[left:right]
            turned = opposite.search(clause) is not None
            if _WITHOUT.match(clause) and (matter := about.search(clause)):
                stated += [("Yes", start, end)] if words.LOST.search(sentence, left + matter.end()) else []
            elif _NONE_OF_IT.match(clause) and about.search(sentence):
                stated = [one for one in stated if one[1] != start]
                stated.append(("No", start, end))
            elif re.search(r"\b(?:might|may|could|possibly|perhaps|maybe|arguably)\b", clause):
                stated += [("Yes", start, end), ("No", start, end)] if len(cuts) == 2 else []
            elif (matter := about.search(clause)) or turned:
                beyond = _OF_WHAT.search(clause, matter.end()) if matter else None
                denied = len(_DENIAL.findall(clause[: beyond.start()] if beyond else clause)) % 2 == 1
                denied ^= re.search(r"\b(?:is|would be) (?:false|wrong|incorrect|untrue)\W*$", sentence) is not None
                # "It is literal, not metaphorical": both say the same.
                no = denied != turned if not (turned and about.search(clause)) else True
                stated.append(("No" if no else "Yes", start, end))
    pool = concluded[-1:] or stated
    values = {value for value, _, _ in pool}
    return pool[-1] if len(values) == 1 else (None, 0, 0)


@reader
def yes_no(
    answer: str,
    stems: Sequence[str] = (),
    letters: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    against: Sequence[str] = (),
) -> Read[str]:
    """ "Yes" or "No".

    `stems`: beginnings of the words that the question is about ("metaphor"), so that an answer that repeats its
    statement, affirmed or denied, is read; `against`: of those that deny it ("literal"). `letters`: {"A": "Yes", "B":
    "No"} where the question has options, `options` their texts. Nothing for a refusal, both, neither.
    """
    if letters:
        if (chosen := choice.choice(answer, tuple(letters), options)).value is not None:
            return Read(letters[chosen.value], chosen.start, chosen.end)
        if choice.mentions(normalize.plain(answer), options or {}, False, tuple(letters)):
            return Read(None)
    text = normalize.plain(answer)
    if alone := _ALONE.get(text.low.strip(" .!\n")) if len(text.low) < 20 else None:
        return Read(alone, *text.span(0, len(text.low)))
    if crossed := re.match(r"✗\s+(no)\b[^✓✗]*$", text.low.strip()):
        return Read("No", *text.span(text.low.index("no"), text.low.index("no") + len(crossed[1])))
    if foreign := _LEADING.match(text.low):
        return Read(_ALONE[foreign[1]], *text.span(*foreign.span(1)))
    for stem in stems:  # "Metaphor: yes. Pun: no."
        named = re.search(
            rf"(?<![^\n])[^\w\n]*{re.escape(stem.lower())}\w*(?: \w+)?\"? ?[:=] ?\"?(yes|no|true|false)\b(?! ?(?:/"
            rf"|or\b))",
            text.low,
        )
        if named:
            return Read("Yes" if named[1] in ("yes", "true") else "No", *text.span(*named.span(1)))
    if (reading := resolve(answer, decider(_mentions, ("Yes", "No"), judged=False))).value is not None:
        return reading
    last = text.low.rstrip().rfind("\n") + 1
    if short := _SHORT.fullmatch(text.low, last):
        return Read(_value_of(short), *text.span(*short.span(_value_of(short).lower())))
    if refuses(text.low) or _mentions(text, False):
        return Read(None)
    value, start, end = _stated(text.low, stems, against) if stems else (None, 0, 0)
    shorts = [short for first in _FIRST.finditer(text.low) if (short := _SHORT.fullmatch(text.low, *first.span()))]
    kinds = {_value_of(short) for short in shorts}
    if len(kinds) == 1 and value in (None, kind := kinds.pop()):
        return Read(kind, *text.span(*shorts[0].span(kind.lower())))
    return Read(None) if value is None else Read(value, *text.span(start, end))
