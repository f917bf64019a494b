"""Estimates that HumorBench's tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from punchline.bench.table import Graded
from punchline.core.records import Grade, Item, ModelCard, Price
from punchline.core.stats import Array, Estimate, mean

Items = Mapping[str, Item]
Value = Callable[[Array], Array]


def estimate(grades: Sequence[Grade], items: Items, columns: Sequence[Sequence[float]], value: Value) -> Estimate:
    return Estimate(
        sums=np.array(columns, dtype=np.float64).T.reshape(len(grades), len(columns)),
        value=value,
        clusters=[items[grade.item_id].cluster for grade in grades],
        grades=[grade.digest for grade in grades],
    )


def judged(grades: Iterable[Grade]) -> list[Grade]:
    """Grades with a verdict, or with a refusal."""
    return [grade for grade in grades if grade.scored]


def accuracy(grades: Sequence[Grade], items: Items) -> Estimate | None:
    """Per element: PASS / rows. None where nothing was judged."""
    scored = judged(grades)
    if not scored:
        return None
    return estimate(scored, items, [[g.values["passed"] for g in scored], [1.0] * len(scored)], mean)


def _standard_error(columns: Array) -> Array:
    share = mean(columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(share * (1 - share) / columns[..., 1]), dtype=np.float64)


def standard_error(grades: Sequence[Grade], items: Items) -> Estimate | None:
    """One standard error of the accuracy over elements (figure 3's error bars): sqrt(p (1 - p) / n)."""
    scored = judged(grades)
    if not scored:
        return None
    columns = [[g.values["passed"] for g in scored], [1.0] * len(scored)]
    return estimate(scored, items, columns, _standard_error)


def by_caption(grades: Sequence[Grade], items: Items, score: Callable[[Sequence[float]], float]) -> Estimate | None:
    """Mean over captions of `score` of their elements' passes. A row is a caption: n counts captions."""
    captions: dict[str, list[Grade]] = {}
    for grade in judged(grades):
        captions.setdefault(items[grade.item_id].cluster, []).append(grade)
    if not captions:
        return None
    return Estimate(
        sums=np.array([[score([g.values["passed"] for g in group]), 1.0] for group in captions.values()]),
        value=mean,
        clusters=list(captions),
        grades=[grade.digest for group in captions.values() for grade in group],
    )


def _price(card: ModelCard | None) -> Price | None:
    return card.price if card is not None else None


def cost(model: Graded, items: Items, *, judge: bool = True) -> Estimate | None:
    """Tokens x price of the explainer and, with `judge`, of its judge, in the price's currency, over all its answers.

    A refusal that nobody judged, or an answer without an explanation, cost its explainer's tokens only. None where a
    price or a count of tokens is not known, or two currencies would be added.
    """
    own, judges = _price(model.card), _price(model.judge)
    answered = [g for g in model.grades if g.scored or g.state == "unparsable"]
    names = ["tokens_in", "tokens_out", *(("judge_tokens_in", "judge_tokens_out") if judge else ())]
    if own is None or (judge and (judges is None or judges.currency != own.currency)) or not answered:
        return None
    unjudged = {name: 0.0 for name in names if name.startswith("judge_")}
    counted = [unjudged | g.values if g.scored and g.judge is None else g.values for g in answered]
    if any(name not in values for values in counted for name in names):
        return None
    prices = [own.input, own.output, *((judges.input, judges.output) if judge and judges is not None else ())]
    weights = np.array(prices) / 1e6

    def value(columns: Array) -> Array:
        return np.asarray(columns @ weights, dtype=np.float64)

    return estimate(answered, items, [[values[name] for values in counted] for name in names], value)


def output_tokens(grades: Sequence[Grade], items: Items) -> Estimate | None:
    """Mean output tokens of an explanation, reasoning included; None where any is not known."""
    answered = judged(grades)
    if not answered or any("tokens_out" not in grade.values for grade in answered):
        return None
    return estimate(answered, items, [[g.values["tokens_out"] for g in answered], [1.0] * len(answered)], mean)
