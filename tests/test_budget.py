"""The cap on a run's money, with an engine that bills what the test says."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from tests.records import request, response

from punchline import budget
from punchline.core.engine import Engine
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Request, Response, Usage

PRICE = {"input": 1.0, "output": 2.0, "date": "2026-01-01", "source": "made up"}


def card(**price: Any) -> ModelCard:
    return msgspec.convert({"name": "m", "engine": "openai", "price": PRICE | price}, ModelCard)


@pytest.mark.parametrize(
    ("limit", "usage", "state", "asked"),
    [
        pytest.param(500_000, Usage(prompt=100, completion=500_000), "ok", 3, id="as long as may be: 1 USD each"),
        pytest.param(500_000, Usage(prompt=100, completion=100_000), "ok", 13, id="shorter: 0.2 USD each"),
        pytest.param(500_000, Usage(), "ok", 3, id="not counted: costs what it may cost"),
        pytest.param(500_000, Usage(), "failed", 20, id="no answer costs nothing"),
        pytest.param(100, Usage(prompt=500_000, completion=0), "ok", 6, id="longer prompts than estimated"),
        pytest.param(None, Usage(), "ok", 20, id="without a limit of tokens"),
    ],
)
def test_no_request_exceeds_the_cap(
    limit: Any, usage: Usage, state: Any, asked: int, here: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv(budget.MAX_COST, "3.5")
    sent: list[str] = []

    def answer(some: Sequence[Request], images: Mapping[str, Path], key: str) -> Iterator[Response]:
        for one in some:
            sent.append(one.item_id)
            yield response(one, None if state == "failed" else "", state, usage=usage)

    budget.reset()
    engine = cast(Engine, SimpleNamespace(answer=answer, card=card()))
    requests = [request("x" * 300, item_id=str(number), max_tokens=limit) for number in range(20)]  # type: ignore[arg-type]
    try:
        list(budget.answer(engine, requests, {}, "k"))
    except PunchlineError as error:
        assert f"{20 - asked:,} requests to m about b are not sent" in str(error) and asked < 20
    assert sent == [str(number) for number in range(asked)]
    assert float(budget.SPENT.read_text()) <= 3.5


@pytest.mark.parametrize("wrong", [ModelCard(name="m", engine="openai"), card(currency="EUR")])
def test_a_price_is_needed(wrong: ModelCard) -> None:
    with pytest.raises(PunchlineError, match="max_cost cannot be kept"):
        budget.check(wrong)
    budget.check(ModelCard(name="m", engine="vllm"))
