"""Requests, tokens and money spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from punchline.artifacts.project import Project
from punchline.core.storage import Stored
from punchline.files import csv_text
from punchline.schema import ModelCard, Response, Usage

COUNTED = (
    *("requests", "ok", "missing", "failed", "refused", "truncated"),
    *("tokens_in", "tokens_out", "tokens_reasoning", "tokens_cached", "uncounted"),
)
COST = (
    *("benchmark", "model", "hop", "asked", *COUNTED),
    *("price_input", "price_output", "currency", "price_date", "cost"),
)
Row = dict[str, str | int | float | None]


def prices(card: ModelCard) -> Row:
    """The columns of a card's price; none without one."""
    price = card.price
    return (
        {} if price is None else {"price_input": price.input, "price_output": price.output, "currency": price.currency}
    )


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
    row |= {name: counts[name] for name in COUNTED} | prices(card)
    if card.price is not None:
        row["price_date"] = card.price.date.isoformat()
        if not counts["uncounted"]:
            row["cost"] = card.price.of(Usage(prompt=counts["tokens_in"], completion=counts["tokens_out"]))
    return row


def cost_text(project: Project) -> str:
    """The text of cost.csv: a row for each model and pass."""
    asked = project.asked()
    return csv_text(COST, [cost_row(b, m, pass_, card, Stored(index, Response)) for b, m, pass_, card, index in asked])
