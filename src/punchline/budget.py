"""A cap on the money that one run spends: requests are sent only while the rest of `max_cost` surely pays for them.

The jobs of a run share one file with the money spent so far. A job holds its lock while it asks, so that priced
respondents are asked one after the other. The cost of a request is known from its response only; before, it is bounded
by the card's price, the request's token limit and an estimate of its prompt, which the first responses correct. An
answer whose tokens the server does not count costs that bound.
"""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from punchline.core.engine import Engine, ImageFiles, parameters, prompt_tokens
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Price, Request, Response

MAX_COST = "PUNCHLINE_MAX_COST"  # USD; "": no cap
SPENT = Path("logs/spent.txt")  # relative to the project root: money that the present run, or the last one, has spent
PAID = "openai"  # the engine whose answers cost money
CHARACTERS_A_TOKEN = 3  # of a prompt; fewer than English has, so that the bound holds before the first response
TOKENS_AN_IMAGE = 2_000
WITHOUT_LIMIT = 4_096  # tokens of an answer to a request without a limit


def check(card: ModelCard) -> Price | None:
    """The price of a respondent; None if its answers cost nothing. Raises PunchlineError for none in USD."""
    if card.engine == PAID and (card.price is None or card.price.currency != "USD"):
        problem = "the card has no price" if card.price is None else f"its price is in {card.price.currency}"
        hint = "Write `price: {input: …, output: …, date: …, source: …}` (USD for a million tokens), or drop max_cost"
        raise PunchlineError(f"max_cost cannot be kept: {problem}", file=card.file, field="price", hint=hint)
    return card.price if card.engine == PAID else None


def reset() -> None:
    """Begin a run: nothing is spent."""
    SPENT.parent.mkdir(parents=True, exist_ok=True)
    SPENT.write_text("0\n", encoding="utf-8")


def answer(engine: Engine, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
    """The engine's responses; with a cap, as far as it pays for them.

    In rounds: each sends what the rest pays for if every answer is as long as it may be; the first sends one. Raises
    PunchlineError for the requests that the cap does not pay for.
    """
    cap, card, at = float(os.environ.get(MAX_COST) or 0), engine.card, 0
    price = check(card) if cap else None
    if price is None:
        yield from engine.answer(requests, images, model_key)
        return
    SPENT.parent.mkdir(parents=True, exist_ok=True)
    with SPENT.open("a+", encoding="utf-8") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        file.seek(0)
        spent, factor = float(file.read() or 0), 1.0  # factor: of the estimates of prompts, by the responses so far

        def most(request: Request) -> float:
            """USD that a request may cost."""
            limit = int(parameters(card, request)["max_tokens"] or WITHOUT_LIMIT)
            return (_prompt_tokens(request) * factor * price.input + limit * price.output) / 1e6

        while rest := requests[at:]:
            costs = itertools.accumulate(map(most, rest if at else rest[:1]))
            paid = sum(spent + cost <= cap for cost in costs)
            if not paid:
                what = f"max_cost={cap:g} is reached: {spent:.2f} USD are spent; {len(rest):,} requests to {card.name}"
                cost = f"which would cost at most {sum(map(most, rest)):.2f} USD"
                hint = "Run the same command again, or with a larger max_cost: answers are kept, and a run counts anew"
                raise PunchlineError(f"{what} about {rest[0].benchmark} are not sent, {cost}", hint=hint)
            paid_for = {request.request_id: request for request in rest[:paid]}
            for response in engine.answer(rest[:paid], images, model_key):
                request, usage = paid_for[response.request_id], response.usage
                uncounted = response.state in ("ok", "refused") and None in (usage.prompt, usage.completion)
                spent += most(request) if uncounted else price.of(usage)
                factor = max(factor, (usage.prompt or 0) / _prompt_tokens(request))
                file.truncate(0)
                file.write(f"{spent}\n")
                file.flush()
                yield response
            at += paid


def _prompt_tokens(request: Request) -> float:
    return 1 + prompt_tokens(request, CHARACTERS_A_TOKEN, TOKENS_AN_IMAGE)
