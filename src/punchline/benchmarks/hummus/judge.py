"""Requests to a scorer about answers to Hummus: similarity of named texts and annotations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from punchline.benchmarks.hummus import SIMILAR
from punchline.benchmarks.hummus.answers import comparisons, graded_tasks, readings
from punchline.benchmarks.hummus.scope import in_scope
from punchline.core.benchmark import DEFAULT
from punchline.schema import RULES, Gold, Item, Request, Response


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> Iterator[Request]:
    """Every text of the answers to Naming and ImageLabel with every one of gold, the same under both rules."""
    for task, source_task in graded_tasks(condition).items():
        response = responses.get(source_task)
        compared = task in SIMILAR and any(in_scope(task, gold, rule) for rule in RULES)
        if compared and response is not None and response.state == "ok":
            parsed = readings(source_task, response.text or "", gold, item).get(task) or ()
            yield from itertools.chain.from_iterable(comparisons(task, parsed, item, gold, condition))
