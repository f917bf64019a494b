"""Estimates that HumorBench's tables are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from punchline.bench.column import Column, Statistics, by_answer, mean_of
from punchline.bench.frame import Flags, Frame
from punchline.bench.table import Model
from punchline.core.records import STATES, ModelCard, Price
from punchline.core.stats import EXACT, POSITIVE, Array, Estimate, mean, total

EXPLAIN = "explain"


def judged(frame: Frame) -> Frame:
    """Grades with a verdict, or with a refusal."""
    return frame.kept.once("judged", lambda: frame.take(frame.scored))


def _standard_error(columns: Array) -> Array:
    """sqrt(p (1 - p) / n) of sums (passes, n)."""
    share = mean(columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(share * (1 - share) / columns[..., 1]), dtype=np.float64)


def _by_caption(score: Callable[[Array, Array], Array]) -> Callable[[Frame], Statistics]:
    """A row a caption: `score` of the sum and the number of its elements' passes."""

    def make(frame: Frame) -> Statistics:
        own = judged(frame)
        captions, first, rows = np.unique(own.clusters, return_index=True, return_inverse=True)
        passed = np.bincount(rows, weights=own.value("passed"), minlength=len(captions)).astype(np.float64)
        sums = np.stack([score(passed, np.bincount(rows).astype(np.float64)), np.ones(len(captions))], axis=1)
        return Statistics(sums, own.item[first], captions, own.digest, own.item)

    return make


def _tokens(frame: Frame) -> Statistics | None:
    """(output tokens of an explanation, 1); None where any is not known."""
    own = judged(frame)
    tokens = own.value("tokens_out")
    return None if np.isnan(tokens).any() else by_answer(own, np.stack([tokens, np.ones(len(own))], axis=1))


accuracy = mean_of("accuracy", EXPLAIN, "passed")  # per element: PASS / rows
passed = mean_of("passed", EXPLAIN, "passed", total, better="neither")
output_tokens = Column(
    "output_tokens", (EXPLAIN,), _tokens, kind=POSITIVE, better="neither"
)  # mean, reasoning included
LEADERBOARD = [
    accuracy,
    mean_of(
        "se", EXPLAIN, "passed", _standard_error, EXACT, better="neither"
    ),  # one standard error over elements: figure 3's error bars
    Column("accuracy_caption_all", (EXPLAIN,), _by_caption(lambda sums, n: (sums == n).astype(np.float64))),
    Column("accuracy_caption_some", (EXPLAIN,), _by_caption(lambda sums, n: sums / n)),
    output_tokens,
]


def _price(card: ModelCard | None) -> Price | None:
    return card.price if card is not None else None


def cost(model: Model) -> Estimate | None:
    """Tokens x price of the explainer and of its judge, in the price's currency, over all its answers.

    A refusal that nobody judged, or an answer without an explanation, cost its explainer's tokens only. None where a
    price or a count of tokens is not known, or two currencies would be added.
    """
    own, judges, frame = _price(model.card), _price(model.judge), model.frame
    answered = frame.take(frame.scored | (frame.state == STATES.index("unparsable")))
    if own is None or judges is None or judges.currency != own.currency or not len(answered):
        return None
    unjudged = answered.scored & answered.judge.are(None)
    counts = [answered.value("tokens_in"), answered.value("tokens_out")]
    for name in ("judge_tokens_in", "judge_tokens_out"):
        tokens = answered.value(name)
        counts.append(np.where(unjudged & np.isnan(tokens), 0.0, tokens))
    sums = np.stack(counts, axis=1)
    if np.isnan(sums).any():
        return None
    weights = np.array([own.input, own.output, judges.input, judges.output]) / 1e6
    priced = by_answer(answered, sums)._replace(value=lambda columns: np.asarray(columns @ weights, dtype=np.float64))
    return priced.estimate(kind=POSITIVE)


def among(frame: Frame, elements: Flags) -> dict[str, Estimate | None]:
    """Accuracy and number of passes on some elements."""
    return {column.name: column.estimate(frame, elements) for column in (accuracy, passed)}
