"""Requests to a scorer about answers to Hummus: similarity of named texts and annotations."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.hummus import NAME
from punchline.benchmarks.hummus.answers import graded_tasks, readings, text_pairs
from punchline.benchmarks.hummus.scope import in_scope
from punchline.core.benchmark import DEFAULT, comparison
from punchline.schema import RULES, Gold, Item, Request, Response


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> list[Request]:
    """Every text of the answers to Naming and ImageLabel with every one of gold: once, the same under both rules."""
    pairs: dict[tuple[str, str], None] = {}
    for task, asked in graded_tasks(condition).items():
        response = responses.get(asked)
        scored = task in ("naming", "image_label") and any(in_scope(task, gold, rule) for rule in RULES)
        if not scored or response is None or response.state != "ok":
            continue
        text = response.text or ""
        found = readings(asked, text, gold, item).get(task)
        pairs |= dict.fromkeys(pair for group in text_pairs(task, found or (), gold) for pair in group)
    return [comparison(NAME, item.item_id, "cosine", condition, *pair) for pair in pairs]
