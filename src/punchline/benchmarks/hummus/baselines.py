"""Hummus's baselines."""

from __future__ import annotations

import random

from punchline.schema import Request


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """What a baseline answers. `random` draws one of the two answers of a classification; nothing else is attempted."""
    if name != "random" or not request.task.startswith("classification"):
        return None
    return draw.choice(("A", "B") if request.task == "classification_a_b" else ("Yes", "No"))
