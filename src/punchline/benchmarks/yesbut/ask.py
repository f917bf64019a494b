"""Requests about a comic, with and without a description of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.task import Task
from punchline.benchmarks.yesbut import ASKED, CHAINED, LENT, PROMPTS
from punchline.core.benchmark import DEFAULT, filled
from punchline.read import reasoning
from punchline.schema import Item, Request, Response

TEXTS = prompts(__package__)


def _request(item: Item, task: Task, description: object = None) -> Request:
    """Image first, as all released scripts but GPT-4's."""
    values = {"options": item.fields.get(task.name.rpartition("_")[0], ""), "caption": description}
    return question(item, task, filled(TEXTS[task.file], values))


def requests(item: Item) -> Iterator[Request]:
    """Requests about a comic: 12 on the image, 9 with each description."""
    for task in ASKED:
        description = item.fields.get(task.condition if task.condition in LENT else "caption")
        if task.condition == DEFAULT or (task.condition not in CHAINED and description is not None):
            yield _request(item, task, description)


def chained_requests(item: Item, responses: Mapping[str, Mapping[str, Response]]) -> Iterator[Request]:
    """Image and the model's own description, in answer to prompt k, for prompt k of the three other tasks.

    The paper does not say which description goes where; the released scripts load one author's prompts, description and
    questions alike, for a run. Thoughts are no part of a
    description, and an empty one is none.
    """
    for k in PROMPTS:
        answer = responses.get(DEFAULT, {}).get(f"description_{k}")
        description = reasoning.remove(answer.text or "").text if answer is not None and answer.state == "ok" else ""
        tasks = (task for task in ASKED if task.condition in CHAINED and task.name.endswith(f"_{k}"))
        yield from (_request(item, task, description) for task in tasks if description)
