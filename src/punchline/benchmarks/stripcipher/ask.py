"""Requests about a strip: instructions, and options as lines."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.stripcipher import CONDITIONS, LETTERS, MEANING, REVIEWED
from punchline.benchmarks.stripcipher.questions import asked
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.comics import frames
from punchline.core.benchmark import filled
from punchline.schema import Item, Request

PROMPTS = prompts(__package__)


def _listed(options: Sequence[str]) -> str:
    """Options as lines `A. …`, and what is to be answered."""
    lines = [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=True)]
    return "\n".join((*lines, PROMPTS["choose"]))


def _reviewed(item: Item, task: str, instruction: str) -> str:
    """Instruction, question if there is one, options."""
    told = item.fields.get(f"{task}_question")
    options = [str(item.fields[f"{task}_{letter}"]) for letter in LETTERS]
    return "\n".join((instruction, *([str(told)] if told else []), _listed(options)))


def requests(item: Item) -> list[Request]:
    """Requests about a strip in every condition; prediction and comprehension of reviewed strips only.

    The reordering instruction speaks of strips "provided below", and so stands above them.
    """
    n = int(str(item.fields["frames"]))
    sequences = _listed([sequence_text(places) for places in frames.sequences(n, item.item_id)])
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
