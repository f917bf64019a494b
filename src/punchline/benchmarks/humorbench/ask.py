"""Requests about HumorBench's elements."""

from __future__ import annotations

from punchline.benchmarks.humorbench import EXPLAIN
from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.core.benchmark import filled
from punchline.schema import Item, Request

PROMPTS = prompts(__package__)


def requests(item: Item) -> list[Request]:
    """The one question on an element: explain the joke."""
    return [question(item, EXPLAIN, filled(PROMPTS[EXPLAIN.file], item.fields))]
