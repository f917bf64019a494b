"""Requests, tokens and money spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from punchline.artifacts.run import Run
from punchline.core.storage import rows_in
from punchline.files import csv_text
from punchline.schema import LENGTH, ModelCard, Usage

ASKED, PRICES = ("benchmark", "model", "hop", "asked"), ("price_input", "price_output", "currency")
TOKENS = ("tokens_in", "tokens_out", "tokens_reasoning", "tokens_cached", "uncounted")
COUNTED = ("requests", "ok", "missing", "failed", "refused", "truncated", *TOKENS)
COST = (*ASKED, *COUNTED, *PRICES, "price_date", "cost")
ANSWERED = ("state", "finish_reason", "usage")  # columns of an index
Answered = tuple[str, str | None, str]
Row = dict[str, str | int | float | None]


def prices(card: ModelCard) -> Row:
    """The columns of a card's price; none without one."""
    if card.price is None:
        return {}
    return {"price_input": card.price.input, "price_output": card.price.output, "currency": card.price.currency}


def cost_row(benchmark: str, model: str, pass_: str, card: ModelCard, answers: Iterable[Answered]) -> Row:
    """Counts of one model's answers (pass `answer`) or of its judge's verdicts (pass `judge`), and their cost.

    `answers`: state, finish reason, and usage as JSON. `card` is the card of who was asked. Cost is tokens x price of a
    million; None where there is no price or an answer whose tokens were not counted (`uncounted`). Cached tokens are
    charged in full: an upper bound.
    """
    counts: Counter[str] = Counter()
    for (state, finish_reason, text), n in Counter(answers).items():
        used = msgspec.json.decode(text, type=Usage)
        counts.update({state: n, "requests": n, "truncated": n * (finish_reason == LENGTH)})
        if used.prompt is None or used.completion is None:
            counts["uncounted"] += n * (state in ("ok", "refused"))
        else:
            counts.update(tokens_in=n * used.prompt, tokens_out=n * used.completion)
            counts.update(tokens_reasoning=n * (used.reasoning or 0), tokens_cached=n * (used.cached or 0))
    row: Row = {"benchmark": benchmark, "model": model, "hop": pass_, "asked": card.name}
    row |= {name: counts[name] for name in COUNTED} | prices(card)
    if card.price is not None:
        row["price_date"] = card.price.date.isoformat()
        if not counts["uncounted"]:
            row["cost"] = card.price.of(Usage(prompt=counts["tokens_in"], completion=counts["tokens_out"]))
    return row


def cost_text(run: Run) -> str:
    """The text of cost.csv: a row for each model and pass."""
    rows = run.asked_passes()
    return csv_text(COST, [cost_row(b, m, pass_, card, rows_in(index, ANSWERED)) for b, m, pass_, card, index in rows])
