"""StripCipher's own baselines."""

from __future__ import annotations

import random
import re

from punchline.benchmarks.stripcipher import CHOICES, FEWEST
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.schema import Image, Request, Text


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """`random`: an option, or a sequence of as many frames as there are images. `label-order`: the sequence as shown.

    A row of frames is one image: how many frames it holds cannot be told from the request, nor can its sequence.
    """
    content = [part for message in request.messages for part in message.content]
    if request.task == "reordering_generation":
        n = sum(isinstance(part, Image) for part in content)
        if n < FEWEST or name not in ("random", "label-order"):
            return None
        places = draw.sample(range(n), n) if name == "random" else range(n)
        return sequence_text(places)
    if name != "random" or request.task not in CHOICES:
        return None
    offered = re.findall(r"^([A-D])\. ", "\n".join(part.text for part in content if isinstance(part, Text)), re.M)
    return draw.choice(sorted(set(offered))) if offered else None
