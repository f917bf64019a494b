"""Reading of answers: options by either rule, and the judge's scores."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from punchline.benchmarks.yesbut import JUDGED, OPTIONS
from punchline.read import choice, rating, reasoning
from punchline.schema import Rule, sha256


def read_released(answer: str, letters: str = "ABCD") -> str | None:
    """The option as evaluation.py reads it: the first of the characters A-E anywhere in the answer.

    A conversation (`USER … ASSISTANT:`) is read from its first reply on. An E, which no question has, ends the search
    like any letter. None where there is none: the answer is wrong.
    """
    if "USER" in answer and "\nASSISTANT:" in answer:
        answer = answer.split("\nASSISTANT:")[1]
    first = re.search("[ABCDE]", answer)
    return first[0] if first and first[0] in letters else None


def drawn_option(item_id: str, task: str, letters: str) -> str:
    """The random option that rule `paper` gives an unparsable answer: always the same for an item and a task."""
    return letters[int(sha256(f"{item_id}\0{task}".encode())[:12], 16) % len(letters)]


_SCORE = re.compile(r"\[\[(\d+(?:\.\d*)?)\]\]", re.ASCII)
_BACKUP = re.compile(r"\[(\d+(?:\.\d*)?)\]", re.ASCII)


def read_score(answer: str, rule: Rule) -> float | None:
    """The judge's score; None where there is none.

    Rule `released` (gpt_eval.py): the first `[[n]]`, else the first `[n]`, any number up to 1e100. Rule `paper`: a
    score from 1 to 5, in that form or in words.
    """
    if rule == "paper":
        return rating.rating(answer).value
    match = _SCORE.search(answer) or _BACKUP.search(answer)
    score = float(match[1]) if match else math.inf
    return score if score <= 1e100 else None  # of larger ones no mean can be made


def written_text(answer: str, rule: Rule) -> str:
    """The text of a description or contradiction that is scored, under rule `paper` without reasoning."""
    return reasoning.without(answer) if rule == "paper" else answer


NEEDS = {**dict.fromkeys(OPTIONS, "options"), JUDGED.name: ""}


def parse(task: str, text: str, rule: Rule, *, options: Mapping[str, str], **_: Any) -> Any:
    """The letter, the written text or, for task `judge`, the score of an answer (punchline.parse)."""
    if task == JUDGED.name:
        return read_score(text, rule)
    if task not in OPTIONS:
        return written_text(text, rule)
    if rule == "released":
        return read_released(text, "".join(options))
    return choice.choice(text, options, options).value  # appendix B.2 does not print its hard rules
