"""Requests about Hummus's pairs: the image, then the text, without a system prompt."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.hummus import ASKED, METAPHOR_TASKS
from punchline.benchmarks.hummus.instructions import OPTIONS, PROMPTS, involves_is_a
from punchline.benchmarks.request import question
from punchline.core.benchmark import filled
from punchline.schema import Item, Request


def requests(item: Item) -> Iterator[Request]:
    """Requests about a pair in every condition. Neither paper nor scripts set a temperature: 0 is ours."""
    fields = item.fields
    caption = f"Caption: {fields['caption']}"
    options = OPTIONS if involves_is_a(item.item_id) else OPTIONS[::-1]
    for task in ASKED:
        if not fields["asked"] or (task.name in METAPHOR_TASKS and fields["asked"] != "all"):
            continue
        text = PROMPTS[task.file]
        if task.name == "classification_a_b":
            text = filled(text, dict(zip("ab", options, strict=True)))
        if task.picture:
            yield question(item, task, f"{caption}\n\n{text}")
        elif fields["description"]:
            yield question(item, task, f"{text}\n\nImage: {fields['description']}\n{caption}")
