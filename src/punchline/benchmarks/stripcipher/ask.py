"""Requests about a strip: instructions, and options as lines."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.stripcipher import CONDITIONS, MEANING, REVIEWED
from punchline.benchmarks.stripcipher.options import options
from punchline.benchmarks.stripcipher.questions import pictures_by_task
from punchline.core.benchmark import filled
from punchline.schema import Item, Request

PROMPTS = prompts(__package__)


def _listed(item: Item, task: str, condition: str) -> str:
    """Options as lines `A. …`, and what is to be answered."""
    lines = [f"{letter}. {option}" for letter, option in options(item, task, condition).items()]
    return "\n".join((*lines, PROMPTS["choose"]))


def requests(item: Item) -> Iterator[Request]:
    """Requests about a strip in every condition; prediction and comprehension of reviewed strips only.

    The reordering instruction speaks of strips "provided below", and so stands above them.
    """
    for task, pictures in (pair for condition in CONDITIONS for pair in pictures_by_task(item, condition).items()):
        instruction = PROMPTS[task.file]
        if task.condition == MEANING:
            instruction = filled(instruction, item.fields)
        if task.name in REVIEWED:
            parts = instruction, item.fields.get(f"{task.name}_question"), _listed(item, task.name, task.condition)
            yield question(item, task, "\n".join(str(part) for part in parts if part), pictures=pictures)
        else:
            below = _listed(item, task.name, task.condition) if task.name == "reordering_choice" else ""
            yield question(item, task, below, above=instruction, pictures=pictures)
