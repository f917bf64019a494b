"""YesBut's own baseline."""

from __future__ import annotations

import random

from punchline.benchmarks.yesbut import CHOSEN
from punchline.benchmarks.yesbut.options import OPTION
from punchline.schema import Request, Text


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """`random`: one of the letters of the options that the request shows. All else: None."""
    if name != "random" or request.task.rpartition("_")[0] not in CHOSEN:
        return None
    shown = "\n".join(part.text for message in request.messages for part in message.content if isinstance(part, Text))
    letters = ""
    for line in shown.split("\n"):  # the last list from A on: a description before it may hold another
        match = OPTION.fullmatch(line)
        if match and match[1] in ("A", "ABCDE"[len(letters) : len(letters) + 1]):
            letters = match[1] if match[1] == "A" else letters + match[1]
    return draw.choice(letters) if letters else None
