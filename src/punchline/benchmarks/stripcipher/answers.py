"""Reading of answers: options, and sequences of frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from punchline.benchmarks.stripcipher import LETTERS
from punchline.benchmarks.stripcipher.words import plain, sequence_text
from punchline.comics import frames
from punchline.core.records import Item

_OPEN, _CLOSE = r"[\s*_\"'`:(\[{]{0,8}+", r"[*_\"'`)\]}>.]{0,6}+"
_LETTER = r"(?P<letter>[A-Za-z])\b(?!['’]|-[A-Za-z]{2})(?P<on>\s{1,3}(?-i:[a-z]))?"
_CUE = re.compile(
    r"\b(?<!</)(?P<word>answer|option|choice)\b(?P<id>\s{0,3}id\b)?[\s*_\"'`]{0,6}+(?P<is>:|=|>|is\b)?"
    rf"{_OPEN}(?P<named>option\s{{1,3}})?[*_\"'`(\[{{]{{0,4}}+{_LETTER}",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s{0,3}\{\s{0,3}(?:\\[a-z]{1,10}\s{0,3}\{)?[\s(*]{0,3}+" + _LETTER, re.IGNORECASE)
_SAID = re.compile(  # "It's B", "Therefore, B", "I would choose D"
    r"\b(?:it(?:['’]s|\s{1,3}(?:is|(?:must|should|would|has\s{1,3}to)\s{1,3}be))|therefore|thus|hence|so"
    r"|choose|chose|pick|select|go\s{1,3}(?:with|for)|opt\s{1,3}for)\b,?"
    rf"{_OPEN}(?:the\s{{1,3}})?(?P<named>(?:option|letter)\s{{1,3}})?[*_\"'`(\[{{]{{0,4}}+{_LETTER}",
    re.IGNORECASE,
)
_BARE = re.compile(r"[\W_]*+([A-Za-z])[\W_]*+")
_LEAD = re.compile(r"^[\s*_\"'`(\[{<#-]{0,8}+([A-Z])[*_\"'`]{0,4}+(?:[.):\]}>]|\s{0,3}$)", re.MULTILINE)
_ENDS = re.compile(rf"{_CLOSE}[ \t]{{0,3}}+$", re.MULTILINE)  # after a letter: nothing more on its line
# After a letter, one more: joined to it, or standing alone too. An "A" or "a" before a word is an article.
_MORE = re.compile(
    rf"{_CLOSE}[ \t]{{0,3}}+(?P<join>(?:(?:[,;/|&+–-]|(?:or|and)\b)[ \t]{{0,3}}+){{0,2}})"
    r"(?:(?:maybe|perhaps|possibly|rather|also|either|(?:the[ \t]{1,3})?(?:option|choice|answer))[ \t]{1,3}){0,2}+"
    r"(?:\\boxed\{)?[*_\"'`(\[{]{0,6}+(?P<letter>[B-Hb-h]|[Aa](?![ \t]{1,3}(?!(?:or|and|is|are)\b)[a-z]))\b(?!['’])"
    r"(?P<alone>[*_\"'`]{0,4}+(?:[.):\]}]|[ \t]{0,3}$|[ \t]{1,3}[(\[]{0,2}+[A-Ha-h]\b))?",
    re.MULTILINE,
)
_DENIED_BEFORE = re.compile(  # at most two words stand between it and what is denied, and no punctuation
    r"(?:\b(?:not|never|neither|nor|cannot|rather[ \t]than|instead[ \t]of)|n['’ ]t)"
    r"(?:[ \t]{1,3}(?!but\b)\w{1,20}){0,2}[ \t*_\"'`(\[{]{0,8}\Z",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[*_\"'`)\]}>]{0,6}+[ \t]{0,3}+(?:(?:is|are|was|were|seems|looks)[ \t]{1,3}"
    r"(?!not[ \t]{1,3}(?:only|just|wrong|incorrect|false)\b)(?:\w{1,12}[ \t]{1,3})?"
    r"(?:not|wrong|incorrect|false|impossible|unlikely)\b|(?:isn|aren|wasn|can|doesn|couldn)['’]t\b|cannot\b"
    r"|(?:can|does|could)[ \t]{1,3}not\b)",
    re.IGNORECASE,
)


def _denied(text: str, start: int, end: int) -> bool:
    """Whether what stands at text[start:end] is said not to be so: "not B", "B is wrong"."""
    return (
        _DENIED_BEFORE.search(text[max(0, start - 60) : start]) is not None
        or _DENIED_AFTER.match(text, end) is not None
    )


def _listed_after(answer: str, end: int) -> tuple[int, str, bool]:
    """The letters listed after the one that ends there, as in "B or C", "A B C D".

    (where they end, what joins the first of them, whether the last is said to be wrong); (end, "", False) for none.
    """
    first, last = "", end
    for _ in range(len(LETTERS)):
        more = _MORE.match(answer, last)
        if more is None or not (more["join"] or more["alone"] is not None):
            break
        first = first or (more["join"] or " ").lower()
        last = more.end("letter")
    return last, first, last > end and _DENIED_AFTER.match(answer, last) is not None


def _says(text: str, option: str) -> bool:
    """Whether a plain text has a plain option in it that is not denied."""
    at = text.find(f" {option} ")
    while at >= 0:
        if not _denied(text, at + 1, at + 1 + len(option)):
            return True
        at = text.find(f" {option} ", at + 1)
    return False


def parse_option(answer: str, options: Sequence[str]) -> str | None:
    """The letter of the option that an answer names; None for none, for several, and for a letter that is not there.

    Read in this order: a letter alone, or an option's text alone; the last "answer: B", "answer is B", "option ID: B",
    `\\boxed{B}`; one letter that stands like `B.`, `B)`, `(B)` at the start of lines; one "option B", "it's B",
    "therefore, B", "choose B" in the text; the text of one option. "Not B" and "B is wrong" are passed over. An option
    that is "" has no text to be named by.
    """
    there = LETTERS[: len(options)]

    def valid(letters: Iterable[str | None]) -> str | None:
        named = set(letters)
        return next(iter(named)) if len(named) == 1 and named <= set(there) else None

    bare = _BARE.fullmatch(answer)
    if bare is not None:
        return valid([bare[1].upper()])
    said, texts = plain(answer), {letter: plain(option) for letter, option in zip(there, options, strict=True)}
    alone = [letter for letter, text in texts.items() if text and said in (text, f"{letter.lower()} {text}")]
    if alone:
        return valid(alone)
    firm: list[tuple[int, int, str | None]] = []  # (start, end of all its letters, letter or None for several)
    weak: list[str | None] = []
    for pattern in (_CUE, _BOXED, _SAID):
        for cue in pattern.finditer(answer):
            found, end = cue.groupdict(), cue.end("letter")
            letter, stated = cue["letter"], found.get("is") or ("{" if pattern is _BOXED else None)
            if not (letter.isupper() or stated) or _denied(answer, cue.start(), end):
                continue
            last, join, wrong = _listed_after(answer, end)
            if wrong and (join[0] not in ",; " or (pattern is _CUE and not stated)):
                continue  # "option A and option B are wrong"; but not "Answer: B, C is wrong"
            several = last > end and not wrong
            # "a" where a sentence goes on is an article: "the answer is a cat", "Answer: A cat", "It's A cat".
            written = stated in (":", ">", "{") or pattern is _SAID
            article = cue["on"] and not found.get("named") and (letter.islower() or (letter == "A" and written))
            if article and not several:
                continue
            said_so = None if several else letter.upper()
            if stated or found.get("id") or (found.get("word", "").lower() == "answer" and _ENDS.match(answer, end)):
                firm.append((cue.start(), last, said_so))
            else:
                weak.append(said_so)
    if firm:
        start, _, letter_said = max(firm, key=lambda one: one[0])
        within = any(said_so is None and start < last for _, last, said_so in firm)  # "\boxed{B} or \boxed{C}"
        return None if within else valid([letter_said])
    lead: set[str | None] = set()
    for match in _LEAD.finditer(answer):
        last, join, wrong = _listed_after(answer, match.end(1))
        if not _denied(answer, match.end(1), match.end(1)) and not (wrong and join[0] not in ",; "):
            lead.add(None if last > match.end(1) and not wrong else match[1])
    if lead:
        return valid(lead)
    if weak:
        return valid(weak)
    return valid(letter for letter, text in texts.items() if text and _says(f" {said} ", text))


_TOKEN = re.compile(r"\n|[0-9]{1,40}+|[^\W\d_]{1,40}+|\S")
_PICTURE = ("frame", "frames", "panel", "panels", "image", "images", "picture", "pictures", "comic", "strip", "strips")
_LINKS = frozenset((*_PICTURE, "then", "and", "next", "finally", "followed", "by", "to", "number", "no", "the"))
_JOINS = frozenset(",;|/>→⇒➔=-–—[](){}*_\"'`#&<")
_ORDER_CUE = re.compile(r"\b(?:answer|correct\s{1,3}order|order\s{1,3}is|sequence\s{1,3}is|final)\b", re.IGNORECASE)
_NOUN = r"(?:frame|panel|image|picture|comic\s{1,3}strip|strip)\s{0,3}#?\s{0,3}"
_RANK = re.compile(
    rf"\b{_NOUN}([0-9]{{1,2}})[\])*_\"']{{0,3}}\s{{0,3}}(?::|=|->|→|is\b|should\s{{1,3}}be\b)\s{{0,3}}"
    r"[\[(*_\"']{0,3}(?:position|number|place)?\s{0,3}#?([0-9]{1,2})\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(  # "1. Frame 3", "1) 3"
    rf"(?:^|(?<=[\s,;]))[*_-]{{0,3}}([0-9]{{1,2}})(?:[.):]\s{{0,3}}[*_]{{0,3}}{_NOUN}|[.)]\s{{1,3}})([0-9]{{1,2}})\b(?![.):])",
    re.IGNORECASE | re.MULTILINE,
)


def _runs(text: str, *, across_lines: bool) -> list[tuple[int, int, list[int]]]:
    """(start, end, numbers) of every run of numbers with nothing but links between them."""
    runs: list[tuple[int, int, list[int]]] = []
    start = end = 0
    run: list[int] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] in "0123456789":
            if not run:
                start = token.start()
            run.append(int(word))
            end = token.end()
        elif not ((across_lines if word == "\n" else word in _JOINS) or word.lower() in _LINKS):
            if run:
                runs.append((start, end, run))
            run = []
    return [*runs, (start, end, run)] if run else runs


def parse_sequence(answer: str, n: int) -> tuple[int, ...] | None:
    """The sequence that an answer gives: the numbers of the frames as shown, from 1, in the order of the story.

    Read as that: `3, 1, 2`, `[3,1,2]`, `Frame 3 -> Frame 1 -> Frame 2`, `312`, a numbered list `1. Frame 3`; and
    `Frame 1: 2`, which for every frame gives its place. None where there is no permutation of 1 … n, or where there are
    several and no "answer", "correct order", … to tell which. "Not 3, 1, 2" and "3, 1, 2 is wrong" are passed over.
    """
    whole = set(range(1, n + 1))

    def complete(numbers: Sequence[int]) -> bool:
        return len(numbers) == n and set(numbers) == whole

    pairs = [(int(left), int(right)) for left, right in _RANK.findall(answer)]
    if len(pairs) == n and complete([left for left, _ in pairs]) and complete([right for _, right in pairs]):
        return tuple(left for left, _ in sorted(pairs, key=lambda pair: pair[1]))
    numbered = [(int(left), int(right)) for left, right in _NUMBERED.findall(answer)]
    if [left for left, _ in numbered] == list(range(1, n + 1)) and complete([right for _, right in numbered]):
        return tuple(right for _, right in numbered)
    for across_lines in (False, True):
        found = [
            (start, tuple(run))
            for start, end, run in _runs(answer, across_lines=across_lines)
            if complete(run) and not _denied(answer, start, end)
        ]
        if len({run for _, run in found}) == 1:
            return found[0][1]
        if found:
            cue = max((match.start() for match in _ORDER_CUE.finditer(answer)), default=None)
            return next((run for at, run in found if cue is not None and at > cue), None)
    digits = re.fullmatch(r"[\W_]*+([1-8]{3,8})[\W_]*+", answer)
    together = [int(digit) for digit in digits[1]] if digits is not None else []
    return tuple(together) if complete(together) else None


def read(task: str, answer: str, item: Item) -> tuple[str, ...] | None:
    """What an answer says: a letter, or the numbers of a sequence."""
    n = int(str(item.fields["frames"]))
    if task == "reordering_generation":
        sequence = parse_sequence(answer, n)
        return None if sequence is None else tuple(map(str, sequence))
    if task != "reordering_choice":
        letter = parse_option(answer, [str(item.fields[f"{task}_{letter}"]) for letter in LETTERS])
        return None if letter is None else (letter,)
    letter = parse_option(answer, [""] * len(LETTERS))  # "1, 3, 1, 2" has the text of the option 3, 1, 2 in it
    if letter is None:  # the sequence itself in place of its letter
        options = [sequence_text(places) for places in frames.sequences(n, item.item_id)]
        sequence = parse_sequence(answer, n)
        written = sequence_text(number - 1 for number in sequence) if sequence is not None else None
        letter = LETTERS[options.index(written)] if written in options else None
    return None if letter is None else (letter,)
