"""What answers to PixelHumor's questions say, under either rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES
from punchline.benchmarks.pixelhumor.released_text import RELEASED_PANEL
from punchline.core.records import Rule

# Rule `paper`: `N:` at the start of a word, tolerating "Panel N:", {N}:, **N:**, "N":; not the 2: of 2:30.
_PAPER_KEY = re.compile(
    r"""(?<!\S)[\[({*_"'#]{0,4}+(?:panel\s{0,3}+)?[\[({*_"'#]{0,4}+([0-9]{1,3}+)[\])}*_"']{0,4}+\s{0,3}+:(?!\d)[*_]{0,2}""",
    re.IGNORECASE,
)

_NOT_APPLICABLE = re.compile(r"[\W_]*+(?:n\s?/?\s?a|none|not applicable)[\W_]*+", re.IGNORECASE)
_LEAD = re.compile(r"[\W_]*+(?:(?:the\s)?(?:final\s|correct\s)?answer(?:\sis)?\b[\W_]*+)?", re.IGNORECASE)
_SINGLE: dict[str, dict[str, re.Pattern[str]]] = {
    "Q1": {"Yes": re.compile(r"\byes\b", re.IGNORECASE), "No": re.compile(r"\bno\b", re.IGNORECASE)},
    "Q2": {
        "Present, do not contribute": re.compile(
            r"\bpresent\b[\s\"',;:.–-]*+(?:but\s++)?(?:(?:do|does|did)(?:\s++not|n['’]t)|not)\s++contribut",
            re.IGNORECASE,
        ),
        "Present, contribute": re.compile(
            r"\bpresent\b[\s\"',;:.–-]*+(?:and\s++)?(?:(?:do|does)\s++)?contribut", re.IGNORECASE
        ),
        "Absent": re.compile(r"\babsent\b", re.IGNORECASE),
    },
    "Q4": {
        "Both": re.compile(
            r"\bboth\b|\btext(?:ual|s)?\s*(?:,|and|&|\+|/)\s*visuals?\b|\bvisuals?\s*(?:,|and|&|\+|/)\s*text(?:ual|s)?\b",
            re.IGNORECASE,
        ),
        "Text": re.compile(r"\btext(?:ual|s)?\b", re.IGNORECASE),
        "Visual": re.compile(r"\bvisual(?:s|ly)?\b", re.IGNORECASE),
    },
}
_BOTH = re.compile(r"\bboth\s++(?:the\s++)?(?:text|visual)", re.IGNORECASE)
_OPTION_LETTER = re.compile(r"[\W_]*+([abc])[\W_]*+", re.IGNORECASE)
_STYLE = re.compile(rf"\b({'|'.join(STYLES)})\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,4}+(?![0-9])")
_LEADING_NUMBER = re.compile(
    r"[\W_]*+(?:panel\b[\W_]*+)?(?:number\b[\W_]*+)?([0-9]{1,4}+)(?![0-9])"
    r"(?!\s*+(?:[,&/–-]|and\b|or\b|to\b)\s*+(?:panel\s*+)?[0-9])",
    re.IGNORECASE,
)
_PANEL_NUMBER = re.compile(r"\bpanel\s*+(?:number\s*+)?#?\s*+([0-9]{1,4}+)(?![0-9])", re.IGNORECASE)
_RUN = re.compile(
    r"(?<![0-9])[0-9]{1,4}+(?![0-9])"
    r"(?:(?:[\s,;|/>→⇒–\-\[\](){}*_\"'#]|then\b|and\b|finally\b|panels?\b)++[0-9]{1,4}+(?![0-9]))*+",
    re.IGNORECASE,
)


def plain_number(digits: str) -> str:
    """A number without leading zeros and in ASCII digits."""
    return str(int(digits))


def _choose(answer: str, options: Mapping[str, re.Pattern[str]]) -> str | None:
    """The option that an answer begins with, else the only one that it names."""
    start = _LEAD.match(answer)
    at = start.end() if start else 0
    for label, pattern in options.items():
        if pattern.match(answer, at):
            return label
    named = [label for label, pattern in options.items() if pattern.search(answer)]
    return named[0] if len(named) == 1 else None


def _read_panel(answer: str) -> str | None:
    """One panel number."""
    numbers = {plain_number(digits) for digits in _NUMBER.findall(answer)}
    if len(numbers) == 1:
        return numbers.pop()
    leading = _LEADING_NUMBER.match(answer)
    if leading:
        return plain_number(leading.group(1))
    named = {plain_number(digits) for digits in _PANEL_NUMBER.findall(answer)}
    return named.pop() if len(named) == 1 else None


def _read_sequence(answer: str) -> tuple[str, ...] | None:
    """The first run of two or more numbers, else the first number."""
    first = None
    for run in _RUN.finditer(answer):
        numbers = tuple(plain_number(digits) for digits in re.findall("[0-9]+", run.group()))
        if len(numbers) > 1:
            return numbers
        first = first or numbers
    return first


def _parse_paper(task: str, answer: str) -> tuple[str, ...] | None:
    if task in ("Q3", "Q4", "Q5") and _NOT_APPLICABLE.fullmatch(answer):
        return ("NA",)
    label: str | None
    if task == "Q3":
        label = _read_panel(answer)
    elif task == "Q5":
        return tuple(dict.fromkeys(found.capitalize() for found in _STYLE.findall(answer))) or None
    elif task == "Q7":
        return _read_sequence(answer)
    else:
        label = _choose(answer, _SINGLE[task])
        if label is None and task == "Q4" and _BOTH.search(answer):
            label = "Both"
        letter = _OPTION_LETTER.fullmatch(answer) if task == "Q2" else None
        if letter:
            label = {"a": SOUND_EFFECTS[0], "b": SOUND_EFFECTS[1], "c": SOUND_EFFECTS[2]}[letter.group(1).lower()]
    return None if label is None else (label,)


def _parse_released(task: str, answer: str) -> tuple[str, ...] | None:
    if task in ("Q1", "Q2"):
        return (answer.lower(),) if answer.strip() else None
    if task == "Q3":
        return tuple(re.findall(r"\d+", answer)) or None
    if task == "Q4":
        return (answer,) if answer in MODALITIES else None
    if task == "Q5":
        pieces = answer.split(", ") if "," in answer else answer.split(" ")
        return tuple(piece for piece in pieces if piece in STYLES) or None
    numbers = []
    for piece in answer.replace(" ", "").split(","):
        if piece.isdecimal():  # isdigit in the released code, which then fails on digits such as a superscript two
            numbers.append(plain_number(piece) if len(piece) <= 4000 else piece)  # int() refuses longer ones
    return tuple(numbers) or None


def parse(task: str, answer: str, rule: Rule) -> tuple[str, ...] | None:
    """What an answer to Q1 … Q5 or Q7 says; None when nothing can be read out of it. Never raises.

    Q1, Q2 and Q4: one label; Q3: a panel number (`released`: every number); Q5: styles; Q7: panel numbers in order.
    Under `released`, Q1 and Q2 give the whole answer lower-cased, as the released code compares it.
    """
    return _parse_released(task, answer) if rule == "released" else _parse_paper(task, answer)


def _unquote_released(value: str) -> str:
    """What the released code makes of the text of one panel."""
    value = value.strip()
    if value and value[0] == value[-1] == '"':
        value = value[1:-1]
    if value and value[0] == "{" and value[-1] == "}":
        value = value[1:-1]
    if value and value[0].isdigit():
        if len(value.strip()) <= 2:
            return ""
        if value[1] in ")\n":
            value = value[2:]
    return value


def _unquote_paper(value: str) -> str:
    value = value.strip()
    for opening, closing in ('""', "{}"):
        inner = value.removesuffix(",")
        if len(inner) > 1 and inner[0] == opening and inner[-1] == closing:
            value = inner[1:-1].strip()
    return value


def panel_texts(answer: str, rule: Rule, labels: Iterable[str] = ()) -> dict[str, str]:
    """{label: text} of an answer to Q8 or of a gold text, in its order; a repeated label's texts joined with a space.

    `labels`: those printed on the comic's panels; rule `paper` takes no other number for a key.
    """
    texts: dict[str, list[str]] = {}
    if rule == "released":
        for key, value in RELEASED_PANEL.findall(answer):
            texts.setdefault(key, []).append(_unquote_released(value))
    else:
        known = frozenset(labels)
        keys = [(match, plain_number(match.group(1))) for match in _PAPER_KEY.finditer(answer)]
        keys = [(match, key) for match, key in keys if key in known]
        starts = [match.start() for match, _ in keys]
        for (match, key), end in zip(keys, [*starts[1:], len(answer)], strict=False):
            texts.setdefault(key, []).append(_unquote_paper(answer[match.end() : end]))
    return {key: " ".join(values) for key, values in texts.items()}
