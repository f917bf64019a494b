"""Hummus's instructions, one a task: what is asked, and what readers of answers take for an echo of the prompt."""

from __future__ import annotations

from punchline.benchmarks.hummus import JOINT, NAME
from punchline.benchmarks.prompts import prompts
from punchline.schema import sha256

PROMPTS = prompts(__package__)
OPTIONS = tuple(PROMPTS["options"].split("\n"))  # of classification_a_b; the first is positive
INSTRUCTIONS = {task: text for task, text in PROMPTS.items() if task not in ("options", JOINT)}


def involves_is_a(item_id: str) -> bool:
    """True if option A of classification_a_b says that metaphor use is involved: the released script draws this for
    each item without a seed; here the item's id decides."""
    return int(sha256(f"{NAME}|a_b|{item_id}".encode())[:8], 16) % 2 == 0
