"""Parsers of answers and verdicts of HumorBench."""

from __future__ import annotations

import re
from typing import Any

from punchline.benchmarks.humorbench import JUDGED
from punchline.metrics.length import last_tokens
from punchline.read import verdict
from punchline.read.explanation import explanation as read_explanation
from punchline.schema import Rule

# Section 3.5. The main runs were not cut: 500 tokens are the default of truncate_and_regrade.py, a script of its own.
LAST_TOKENS: dict[Rule, int | None] = {"released": None, "paper": 1000}


def _inside(text: str, tag: str) -> str | None:
    """Content of the first <tag>…</tag>; None without one."""
    content, closing, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return content if closing else None


def explanation(answer: str) -> str:
    """Text to judge under rule `released`: the first <explanation>…</explanation>, if any, outside <reasoning>."""
    *before, after = answer.rpartition("</reasoning>")  # no tag after the last end can match: linear time
    answer = re.sub("(?s)<reasoning>.*?</reasoning>", "", "".join(before)) + after
    inside = _inside(answer, "explanation")
    return (answer if inside is None else inside).strip()


def explained(answer: str, rule: Rule) -> str | None:
    """Explanation to judge; None where rule `paper` finds only reasoning or the prompt's own placeholder.

    An empty answer is an empty explanation.
    """
    if rule == "released" or not answer.strip():
        return explanation(answer)
    return read_explanation(answer).value


def judged_text(answer: str, rule: Rule) -> str:
    """The explanation, under rule `paper` its last 1000 tokens."""
    text, limit = explained(answer, rule) or "", LAST_TOKENS[rule]
    return text if limit is None else last_tokens(text, limit)


def parse_verdict(answer: str, rule: Rule = "released") -> str | None:
    """PASS or FAIL; None for anything else.

    Rule `released`: the first <judgement>…</judgement>, stripped. Rule `paper`: its content in any formatting; without
    the tag, the judge's final statement.
    """
    if rule == "paper":
        return verdict.verdict(answer).value
    word = (_inside(answer, "judgement") or "").strip()
    return word if word in ("PASS", "FAIL") else None


NEEDS = {JUDGED.name: ""}


def parse(task: str, text: str, rule: Rule, **_: Any) -> str | None:
    """The explanation or, for task `judge`, the verdict of an answer (punchline.parse)."""
    return parse_verdict(text, rule) if task == JUDGED.name else explained(text, rule)
