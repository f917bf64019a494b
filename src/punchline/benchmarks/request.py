"""Build requests from questions: message order, pictures, sampling."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.benchmarks.task import Task
from punchline.schema import Image, Item, Message, Request, Sampling, Text


def question(
    item: Item, task: Task, text: str, *, above: str = "", pictures: Sequence[str] | None = None, system: str = ""
) -> Request:
    """Messages about an item: the text above, pictures, text; what is empty is left out.

    `pictures`: names of the item's pictures; by default its first, where the task shows one. `system`: the system
    prompt.
    """
    digests = {ref.name: ref.sha256 for ref in item.images}
    if pictures is None:
        pictures = [next(iter(digests), "")] if task.picture else []
    images = (Image(sha256=digests.get(name)) for name in pictures)
    parts: tuple[Text | Image, ...] = (Text(text=above), *images, Text(text=text))
    content = tuple(part for part in parts if isinstance(part, Image) or part.text)
    first = (Message(role="system", content=(Text(text=system),)),) if system else ()
    return Request(
        benchmark=item.benchmark,
        item_id=item.item_id,
        task=task.name,
        condition=task.condition,
        messages=(*first, Message(role="user", content=content)),
        sampling=Sampling(temperature=task.temperature, max_tokens=task.max_tokens),
    )
