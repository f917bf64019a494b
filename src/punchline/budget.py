"""A cap on the money that one run spends: requests are sent only while the rest of `max_cost` surely pays for them.

The jobs of a run share one file with the money spent so far. A job holds its lock while it asks, so that priced
respondents are asked one after the other. The cost of a request is known from its response only; before, it is bounded
by the card's price, the request's token limit and an estimate of its prompt, which the first responses correct. An
answer whose tokens the server does not count costs that bound.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from punchline.core.engine import Engine, parameters
from punchline.errors import PunchlineError
from punchline.schema import Image, ModelCard, Request, Response, Text

MAX_COST = "PUNCHLINE_MAX_COST"  # USD; "": no cap
SPENT = "spent.txt"  # file in the folder of a run's logs: money that its last call has spent
PAID = "openai"  # the engine whose answers cost money
CHARACTERS_A_TOKEN = 3  # of a prompt; fewer than English has, so that the bound holds before the first response
TOKENS_AN_IMAGE = 2_000
WITHOUT_LIMIT = 4_096  # tokens of an answer to a request without a limit


def check(card: ModelCard) -> None:
    """Raises PunchlineError for a respondent whose answers cost money and have no price in USD."""
    if card.engine == PAID and (card.price is None or card.price.currency != "USD"):
        found = "the card has no price" if card.price is None else f"its price is in {card.price.currency}"
        hint = "Write `price: {input: …, output: …, date: …, source: …}` (USD for a million tokens), or drop max_cost"
        raise PunchlineError(f"max_cost cannot be kept: {found}", file=card.file, field="price", hint=hint)


def reset(path: str | Path) -> None:
    """Begin a run: nothing is spent."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("0\n", encoding="utf-8")


def answer(
    engine: Engine, card: ModelCard, requests: Sequence[Request], images: Mapping[str, Path], key: str, path: str
) -> Iterator[Response]:
    """The engine's responses; with a cap, as far as it pays for them. `path`: the file of the money spent.

    Raises PunchlineError for the requests that the cap does not pay for.
    """
    cap = float(os.environ.get(MAX_COST) or 0)
    if not cap or card.engine != PAID:
        yield from engine.answer(requests, images, key)
        return
    check(card)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with Path(path).open("a+", encoding="utf-8") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        yield from _answer(engine, card, requests, images, key, cap, file)


def _answer(
    engine: Engine,
    card: ModelCard,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    key: str,
    cap: float,
    file: IO[str],
) -> Iterator[Response]:
    """In rounds: each sends what the rest pays for if every answer is as long as it may be; the first sends one."""
    assert card.price is not None
    file.seek(0)
    spent, factor = float(file.read() or 0), 1.0  # factor: of the estimates of prompts, by the responses so far
    at = 0
    while at < len(requests):
        end, most = at, 0.0
        while end < len(requests) and (at or end == at):
            bound = _most(card, requests[end], factor)
            if spent + most + bound > cap:
                break
            end, most = end + 1, most + bound
        if end == at:
            raise _reached(card, requests[at:], cap, spent, factor)
        asked = {request.request_id: request for request in requests[at:end]}
        for response in engine.answer(requests[at:end], images, key):
            request, usage = asked[response.request_id], response.usage
            uncounted = response.state in ("ok", "refused") and None in (usage.prompt, usage.completion)
            spent += _most(card, request, factor) if uncounted else card.price.of(usage)
            factor = max(factor, (usage.prompt or 0) / _prompt_tokens(request))
            file.truncate(0)
            file.write(f"{spent}\n")
            file.flush()
            yield response
        at = end


def _prompt_tokens(request: Request) -> float:
    parts = [part for message in request.messages for part in message.content]
    images = sum(isinstance(part, Image) for part in parts)
    return 1 + sum(len(p.text) for p in parts if isinstance(p, Text)) / CHARACTERS_A_TOKEN + images * TOKENS_AN_IMAGE


def _most(card: ModelCard, request: Request, factor: float) -> float:
    """USD that a request may cost."""
    assert card.price is not None
    limit = int(parameters(card, request)["max_tokens"] or WITHOUT_LIMIT)
    return (_prompt_tokens(request) * factor * card.price.input + limit * card.price.output) / 1e6


def _reached(card: ModelCard, left: Sequence[Request], cap: float, spent: float, factor: float) -> PunchlineError:
    cost = sum(_most(card, request, factor) for request in left)
    return PunchlineError(
        f"max_cost={cap:g} is reached: {spent:.2f} USD are spent; {len(left):,} requests to {card.name} about "
        f"{left[0].benchmark} are not sent, which would cost at most {cost:.2f} USD",
        hint="Run the same command again, or with a larger max_cost: answers so far are kept, and a run counts anew",
    )
