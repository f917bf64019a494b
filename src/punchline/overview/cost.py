"""Requests, images, tokens and money: planned, and spent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from punchline.artifacts.project import Project
from punchline.config.resources import gpus
from punchline.core.storage import Stored
from punchline.files import csv_text
from punchline.schema import Image, ImageRef, ModelCard, Request, Response, Text

COUNTED = (
    *("requests", "ok", "missing", "failed", "refused", "truncated"),
    *("tokens_in", "tokens_out", "tokens_reasoning", "tokens_cached", "uncounted"),
)
COST = (
    *("benchmark", "model", "hop", "asked", *COUNTED),
    *("price_input", "price_output", "currency", "price_date", "cost"),
)
PLAN = (
    *("benchmark", "model", "hop", "asked", "requests", "answered", "to_ask", "images"),
    *("jobs", "gpus_a_job", "tokens_in", "tokens_out_most"),
    *("price_input", "price_output", "currency", "cost_most", "note"),
)
CHARACTERS_A_TOKEN = 4  # of English text, roughly; only plans use it
PIXELS_A_TOKEN = 28 * 28  # of an image, as Qwen2-VL counts; only plans use it

Row = dict[str, str | int | float | None]


def _prices(card: ModelCard) -> Row:
    if card.price is None:
        return {}
    price = card.price
    return {"price_input": price.input, "price_output": price.output, "currency": price.currency}


def cost_row(benchmark: str, model: str, pass_: str, card: ModelCard, answers: Iterable[Response]) -> Row:
    """Counts of one model's answers (pass `answer`) or of its judge's verdicts (pass `judge`), and their cost.

    `card` is the card of who was asked. Cost is tokens x price of a million; None where there is no price or an answer
    whose tokens were not counted (`uncounted`). Cached tokens are charged in full: an upper bound.
    """
    counts: Counter[str] = Counter()
    for answer in answers:
        used, said = answer.usage, answer.state in ("ok", "refused")
        counts.update((answer.state, "requests"), truncated=answer.truncated)
        if used.prompt is None or used.completion is None:
            counts["uncounted"] += said
        else:
            counts.update(tokens_in=used.prompt, tokens_out=used.completion)
            counts.update(tokens_reasoning=used.reasoning or 0, tokens_cached=used.cached or 0)
    row: Row = {"benchmark": benchmark, "model": model, "hop": pass_, "asked": card.name}
    row |= {name: counts[name] for name in COUNTED}
    tokens_in, tokens_out, uncounted = (counts[name] for name in ("tokens_in", "tokens_out", "uncounted"))
    row |= _prices(card)
    if card.price is not None:
        row["price_date"] = card.price.date.isoformat()
        if not uncounted:
            row["cost"] = (tokens_in * card.price.input + tokens_out * card.price.output) / 1e6
    return row


def plan_row(
    benchmark: str,
    model: str,
    pass_: str,
    card: ModelCard,
    requests: Sequence[Request],
    to_ask: Sequence[Request],
    images: Mapping[str, ImageRef],
    max_tokens: Mapping[str, int],
    note: str = "",
    jobs: int = 1,
) -> Row:
    """A plan's row for one model: requests still to send. `max_tokens` by request id; prompt tokens are estimated.

    Output is bounded by max_tokens, so the cost is the most that it can be, but for the estimate of the prompts.
    """
    parts = [part for request in to_ask for message in request.messages for part in message.content]
    shown = [part.sha256 for part in parts if isinstance(part, Image) and part.sha256 is not None]
    text = sum(len(part.text) for part in parts if isinstance(part, Text))
    pixels = sum(images[s].width * images[s].height for s in shown if s in images)
    tokens_in = math.ceil(text / CHARACTERS_A_TOKEN + pixels / PIXELS_A_TOKEN)
    most = sum(max_tokens[request.request_id] for request in to_ask)
    row: Row = {"benchmark": benchmark, "model": model, "hop": pass_, "asked": card.name, "requests": len(requests)}
    row |= {"answered": len(requests) - len(to_ask), "to_ask": len(to_ask)}
    if to_ask:
        row |= {"jobs": jobs, "gpus_a_job": gpus(card)}
    row |= {"images": len(shown), "tokens_in": tokens_in, "tokens_out_most": most}
    row |= _prices(card)
    if card.price is not None:
        row["cost_most"] = (tokens_in * card.price.input + most * card.price.output) / 1e6
    row["note"] = note
    return row


def cost_text(project: Project) -> str:
    """The text of cost.csv: a row for each model and pass."""
    asked = project.asked()
    return csv_text(COST, [cost_row(b, m, pass_, card, Stored(index, Response)) for b, m, pass_, card, index in asked])
