"""Reading of answers: options by either rule, and the judge's scores."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from punchline.core.records import Rule, sha256

LEAST, MOST = 1.0, 5.0  # the judge's scale


def read_released(answer: str, letters: str = "ABCD") -> str | None:
    """The option as evaluation.py reads it: the first of the characters A-E anywhere in the answer.

    A conversation (`USER … ASSISTANT:`) is read from its first reply on. An E, which no question has, ends the search
    like any letter. None where there is none: the answer is wrong.
    """
    if "USER" in answer and "\nASSISTANT:" in answer:
        answer = answer.split("\nASSISTANT:")[1]
    first = next((character for character in answer if character in "ABCDE"), None)
    return first if first is not None and first in letters else None


_MARKUP = str.maketrans("", "", "*`")
_AROUND = " \t\r\n_.\"'“”"
_ALONE = re.compile(r"[(\[{]?([A-Ea-e])[)\]}]?[:,;!]?")
_LEADING = re.compile(r"[(\[{]?([A-Ea-e])(?:[)\]}][.:]?(?:\s|\Z)|[.:](?:\s|\Z)|[^\S\n]{0,3}\n)")
# One more letter right after a leading one: behind `or`, a comma and the like; or with a mark or a line of its own.
_JOINED = re.compile(r"\s{0,6}(?:(?:or|and|nor|[,;/&+|-])\s{0,3}){1,2}[(\[{]?([A-E])(?![\w'’-])")
_LISTED = re.compile(
    r"\s{0,6}(?:(?:or|and|nor|[,;/&+|-])\s{0,3}){0,2}"
    r"[(\[{]?([A-Ea-e])(?:[)\]}][.:,;]?|[.:,;]|(?=[^\S\n]{0,3}(?:\n|\Z)))(?=\s|\Z)"
)
_NAMED = re.compile(
    r"\b(?:answer|option|choice)\s{0,2}(?:is|would be)?:?\s{0,2}[(\[{\"']{0,2}([A-E])\b(?!['’])",
    re.IGNORECASE,
)
_STANDING = re.compile(r"(?<![\w'’-])([A-E])(?![\w'’-])(?!\.\w)")
_AFTER_A = re.compile(r"A[^\S\n]+([A-Za-z]+)")
_NO_NOUN = {
    *("and", "or", "nor", "but", "not", "is", "was", "are", "has", "would", "could", "should", "doesn", "isn"),
    *("as", "because", "since", "for", "if", "than", "when", "while", "with", "instead", "fits", "seems"),
}
_NEAR = 80  # characters before a letter in which its clause is looked for
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:but|so|because|since|thus|hence|therefore)\b", re.IGNORECASE)
_NOT = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|except|excluding|rul(?:e|es|ed|ing) out|"
    r"(?:eliminat|reject)(?:e|s|es|ed|ing)?)|n['’]t)\b",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"[)\]}\"'”]{0,2}\s{1,3}(?:(?:is|was|are|would|could|should|does|did|will|can|might|be|also|clearly|definitely|"
    r"obviously|probably|seems|looks)\s{1,3}){0,3}"
    r"(?:not|never|cannot|[a-z]{2,6}n['’]t|wrong|incorrect|false|unlikely)\b",
    re.IGNORECASE,
)


def read_paper(answer: str, choices: Mapping[str, str]) -> str | None:
    """The option by hard rules. Appendix B.2 does not print its own; of these of ours the first that applies:

    1. the answer is a letter, perhaps in brackets; 2. it begins with a letter and a mark or a line's end (`B. …`);
    3. it names a letter (`answer is B`, `option B`); 4. options' texts, or upper-case letters on their own, stand in it
    (an A before a word is an article). None, unparsable, where that is not just one option, or none of the question's:
    letters that follow the first (2; `B. C. D.`), stand beside the named one (3; `answer is A or B`), or are denied (3,
    4; `not A`, `B is wrong`).
    """
    text = answer.translate(_MARKUP).strip(_AROUND)
    alone = _ALONE.fullmatch(text)
    if alone:
        return _one({alone[1].upper()}, choices)
    first = _LEADING.match(text)
    if first:
        rest, _, _ = _without_options(text[first.end() - 1 :], choices)  # from its mark on
        return _one({first[1].upper()} | _further(rest), choices)
    rest, texts, denied = _without_options(text, choices)  # what stands in an option's text is no letter of its own
    named = [match for match in _NAMED.finditer(rest) if match[1].isupper() and not _article(rest, match)]
    standing = [match for match in _STANDING.finditer(rest) if not _article(rest, match)]
    letters = {match[1] for match in (*named, *standing)}
    one = _one(letters if named else letters | texts, choices)
    if denied or (one and any(_denied(rest, match.start(1), match.end(1)) for match in (*named, *standing))):
        return None
    return one


def _without_options(text: str, choices: Mapping[str, str]) -> tuple[str, set[str], bool]:
    """(text with a line's end for each option's text, letters of the options found, whether one of them is denied)."""
    found: set[str] = set()
    denied = False
    for option in sorted({_plain(option) for option in choices.values()} - {""}, key=lambda one: (-len(one), one)):
        pattern = re.compile(rf"(?<!\w){re.escape(option)}(?!\w)".replace(r"\ ", r"\s{1,3}"), re.IGNORECASE)
        matches = list(pattern.finditer(text))
        if matches:
            denied = denied or any(_denied(text, match.start(), match.end()) for match in matches)
            text = pattern.sub("\n", text)
            found |= {letter for letter, one in choices.items() if _plain(one) == option}
    return text, found, denied


def _further(rest: str) -> set[str]:
    """Letters that an answer offers right after its first one."""
    found: set[str] = set()
    at = re.match(r"[)\]}.:]{0,2}", rest)
    position = at.end() if at is not None else 0
    while match := (_JOINED.match(rest, position) or _LISTED.match(rest, position)):
        if _article(rest, match):
            break
        found.add(match[1].upper())
        position = match.end()
    return found


def _article(text: str, match: re.Match[str]) -> bool:
    """Whether the A that was found is an article: a word follows in its line that an option's letter does not have."""
    after = _AFTER_A.match(text, match.start(1))
    return after is not None and after[1] not in _NO_NOUN and _STANDING.match(text, after.start(1)) is None


def _denied(text: str, start: int, end: int) -> bool:
    """Whether what stands there is denied: a negation before it in its clause, or right after it."""
    before = text[max(0, start - _NEAR) : start]
    if _NOT.search(before) is not None and _NOT.search(_CLAUSE.split(before)[-1]) is not None:
        return True
    return _NOT_AFTER.match(text, end) is not None


def _one(found: set[str], choices: Mapping[str, str]) -> str | None:
    """The one letter that was found, if there is just one and the question has it."""
    return next(iter(found)) if len(found) == 1 and found <= set(choices) else None


def _plain(option: str) -> str:
    return " ".join(option.split()).strip(_AROUND)


def drawn_option(item_id: str, task: str, letters: str) -> str:
    """The random option that rule `paper` gives an unparsable answer: always the same for an item and a task."""
    return letters[int(sha256(f"{item_id}\0{task}".encode())[:12], 16) % len(letters)]


_SCORE = re.compile(r"\[\[(\d+(?:\.\d*)?)\]\]", re.ASCII)
_BACKUP = re.compile(r"\[(\d+(?:\.\d*)?)\]", re.ASCII)
_LARGEST = 1e100  # of a score that means can be made of


def read_score(answer: str, rule: Rule) -> float | None:
    """The judge's score: the first `[[n]]`, else the first `[n]` (gpt_eval.py); None where there is none.

    Rule `paper` takes a score from 1 to 5 only, `released` any number (up to 1e100).
    """
    match = _SCORE.search(answer) or _BACKUP.search(answer)
    score = float(match[1]) if match else math.inf
    if score > _LARGEST:
        return None
    if rule == "paper" and not LEAST <= score <= MOST:
        return None
    return score
