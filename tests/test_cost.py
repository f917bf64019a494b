"""Plans, costs and the cap on money of a run, with an engine whose prices the test sets."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests import records
from tests.cases import cases

from punchline import budget
from punchline.errors import PunchlineError
from punchline.overview import cost
from punchline.plan import PLAN, Plan
from punchline.schema import Image, ImageRef, Item, ModelCard, Price, Request, Response, State, Usage, canonical

PRICE = Price(input=2.0, output=10.0, date=datetime.date(2026, 1, 1), source="made up")
CARD = ModelCard(name="m", engine="openai", price=PRICE)
FREE = ModelCard(name="free", engine="vllm")


def response(state: State = "ok", **usage: int) -> Response:
    return records.response("r", "x" if state == "ok" else None, state, usage=Usage(**usage))


@pytest.mark.parametrize(("priced", "answers", "expected"), cases(__file__, "costs"))
def test_cost(priced: bool, answers: list[tuple[State, dict[str, int]]], expected: dict[str, Any]) -> None:
    given = [response(state, **usage) for state, usage in answers]
    rows = [(one.state, one.finish_reason, canonical(one.usage).decode()) for one in given]
    row = cost.cost_row("b", "m", "answer", CARD if priced else FREE, rows)
    assert {key: row.get(key) for key in expected} == pytest.approx(expected)
    assert set(row) <= set(cost.COST)


def test_plan_counts_what_is_left() -> None:
    contents = [(Image(sha256="a"), "x" * 400), ("x" * 40,), ("y",)]
    requests = [records.request(*content, item_id=str(n), max_tokens=100) for n, content in enumerate(contents, 1)]
    image = ImageRef(path="a.png", sha256="a", width=280, height=280)
    item = Item(benchmark="b", item_id="1", source="s", cluster="1", images=(image,))
    project: Any = SimpleNamespace(shard_count=lambda card: 1)
    planned = Plan(project, "b", "m", {"1": item}, {})
    row = planned.row("answer", CARD, requests, requests[:2])
    counted = {"requests": 3, "answered": 1, "to_ask": 2, "images": 1, "tokens_out_most": 200}
    counted |= {"jobs": 1, "tokens_in": 110 + 100}  # 440 characters, 10 x 10 patches
    assert {name: row[name] for name in counted} == counted and set(row) <= set(PLAN)
    assert row["cost_most"] == pytest.approx((210 * 2 + 200 * 10) / 1e6)
    nothing = planned.row("answer", FREE, requests, [])
    assert (nothing["to_ask"], nothing["tokens_in"], nothing.get("cost_most")) == (0, 0, None)


def of_price(**changes: Any) -> ModelCard:
    return ModelCard(name="m", engine="openai", price=msgspec.structs.replace(PRICE, **changes))


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
def test_the_cap(limit: Any, usage: Usage, state: Any, asked: int, here: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv(budget.MAX_COST, "3.5")
    sent: list[str] = []

    def answer(some: Sequence[Request], images: Mapping[str, Path], key: str) -> Iterator[Response]:
        for one in some:
            sent.append(one.item_id)
            yield records.response(one, None if state == "failed" else "", state, usage=usage)

    budget.reset()
    card = msgspec.structs.replace(of_price(input=1.0, output=2.0), sampling={"max_tokens": limit})
    engine: Any = SimpleNamespace(answer=answer, card=card)
    requests = [records.request("x" * 300, item_id=str(number)) for number in range(20)]
    try:
        list(budget.answer(engine, requests, {}, "k"))
    except PunchlineError as error:
        assert f"{20 - asked:,} requests to m about b are not sent" in str(error) and asked < 20
    assert sent == [str(number) for number in range(asked)]
    assert float(budget.SPENT.read_text()) <= 3.5


@pytest.mark.parametrize("wrong", [ModelCard(name="m", engine="openai"), of_price(currency="EUR")])
def test_a_price_is_needed(wrong: ModelCard) -> None:
    with pytest.raises(PunchlineError, match="max_cost cannot be kept"):
        budget.check(wrong)
    budget.check(ModelCard(name="m", engine="vllm"))
