"""How HumorBench asks: one message, a text, at one temperature. Explainers and judges alike."""

from __future__ import annotations

from punchline.benchmarks.humorbench import CONDITION, NAME
from punchline.core.records import Item, Message, Request, Sampling, Text

TEMPERATURE = 1.0  # section 4; the judge is asked without one, which is 1 at the API it was asked through


def question(item: Item, task: str, prompt: str, max_tokens: int) -> Request:
    """A request about an element: a prompt without pictures."""
    return Request(
        benchmark=NAME,
        item_id=item.item_id,
        task=task,
        condition=CONDITION,
        messages=(Message(role="user", content=(Text(text=prompt),)),),
        sampling=Sampling(temperature=TEMPERATURE, max_tokens=max_tokens),
    )
