"""Hummus's baselines."""

from __future__ import annotations

import random

from punchline.benchmarks.hummus import POSITIVE
from punchline.schema import Gold, Request, Rule

YES_NO = ("Yes", "No")


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """Answers of a baseline. `random` draws one of the two answers of a classification; nothing else is attempted."""
    if name != "random" or not request.task.startswith("classification"):
        return None
    return draw.choice(("A", "B") if request.task == "classification_a_b" else YES_NO)


def closed_answers(gold: Gold, rule: Rule) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The label of a pair that has one under the rule, as an answer to the classification."""
    label = gold.values["labels"][rule]
    return {} if label is None else {"classification": ("Yes" if label in POSITIVE else "No", YES_NO)}
