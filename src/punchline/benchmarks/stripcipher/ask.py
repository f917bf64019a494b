"""Requests about a strip: instructions, and options as lines."""

from __future__ import annotations

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.stripcipher import CONDITIONS, MEANING, REVIEWED
from punchline.benchmarks.stripcipher.options import options
from punchline.benchmarks.stripcipher.questions import asked
from punchline.core.benchmark import filled
from punchline.schema import Item, Request

PROMPTS = prompts(__package__)


def _listed(item: Item, task: str) -> str:
    """Options as lines `A. …`, and what is to be answered."""
    lines = [f"{letter}. {option}" for letter, option in options(item, task).items()]
    return "\n".join((*lines, PROMPTS["choose"]))


def _reviewed(item: Item, task: str, instruction: str) -> str:
    """Instruction, question if there is one, options."""
    told = item.fields.get(f"{task}_question")
    return "\n".join((instruction, *([str(told)] if told else []), _listed(item, task)))


def requests(item: Item) -> list[Request]:
    """Requests about a strip in every condition; prediction and comprehension of reviewed strips only.

    The reordering instruction speaks of strips "provided below", and so stands above them.
    """
    sequences = _listed(item, "reordering_choice")
    made = []
    for task, pictures in (pair for condition in CONDITIONS for pair in asked(item, condition).items()):
        instruction = PROMPTS[task.file]
        if task.condition == MEANING:
            instruction = filled(instruction, item.fields)
        if task.name in REVIEWED:
            made.append(question(item, task, _reviewed(item, task.name, instruction), pictures=pictures))
        else:
            below = sequences if task.name == "reordering_choice" else ""
            made.append(question(item, task, below, above=instruction, pictures=pictures))
    return made
