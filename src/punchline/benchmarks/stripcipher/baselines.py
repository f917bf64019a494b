"""StripCipher's own baselines."""

from __future__ import annotations

import random

from punchline.benchmarks.stripcipher import CHOICES, FEWEST
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.schema import Gold, Image, Request, Rule


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """`random`: a sequence of as many frames as there are images. `label-order`: the sequence as shown.

    A row of frames is one image: how many frames it holds cannot be told from the request, nor can its sequence.
    """
    n = sum(isinstance(part, Image) for message in request.messages for part in message.content)
    if request.task != "reordering_generation" or n < FEWEST or name not in ("random", "label-order"):
        return None
    return sequence_text(draw.sample(range(n), n) if name == "random" else range(n))


def closed_answers(gold: Gold, rule: Rule) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The letters of the right options."""
    return {task: (gold.values[task], ()) for task in CHOICES if task in gold.values}
