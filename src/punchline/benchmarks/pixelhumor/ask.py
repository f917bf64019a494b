"""The eight questions of PixelHumor."""

from __future__ import annotations

from punchline.benchmarks.pixelhumor import ASKED
from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.schema import Item, Request

PROMPTS = prompts(__package__)


def requests(item: Item) -> list[Request]:
    """The eight questions on a comic, as eight independent requests: system prompt; image, then question."""
    return [question(item, task, PROMPTS[task.file], system=PROMPTS["system"]) for task in ASKED]
