"""Statistics of verdicts, tokens and costs that HumorBench's tables are made of."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from punchline.benchmarks.humorbench import METRICS, TASKS
from punchline.stats.estimate import EXACT, POSITIVE, Array, Estimate, ratio, total
from punchline.stats.estimate import mean as mean_of_sums
from punchline.stats.functions import Flags, empty, mean, statistic
from punchline.tables.declare import Model, no_scores, table

across_models = functools.partial(table, of="across", tasks=TASKS)

VERDICT = ["item_id", "cluster", "row", "judge", "parsed", "passed"]


def is_judged(scores: pd.DataFrame) -> Flags:
    """Rows that have a verdict, or a refusal, which counts as one: [rows]."""
    return np.asarray(scores["passed"].notna())


def verdicts(models: Sequence[Model]) -> pd.DataFrame:
    """Rows of all models that have a verdict: item, cluster, row number, judge, what was parsed, whether it passed."""
    judged = [model.scores.loc[is_judged(model.scores), VERDICT] for model in models]
    return pd.concat([part for part in judged if len(part)] or [no_scores(METRICS)[VERDICT]], ignore_index=True)


def standard_error(scores: pd.DataFrame) -> Estimate:
    """One standard error of the accuracy over elements: sqrt(p (1 - p) / n)."""
    return replace(mean(scores, "passed", EXACT), value=_standard_error)


def _standard_error(sums: Array) -> Array:
    share = mean_of_sums(sums)
    return np.sqrt(ratio(share * (1 - share), sums[..., 1]))


def has_output_tokens(scores: pd.DataFrame) -> bool:
    """True if the output tokens of every judged explanation are known."""
    return bool(scores["tokens_out"].notna()[is_judged(scores)].all())


def output_tokens(scores: pd.DataFrame) -> Estimate:
    """Mean output tokens of a judged explanation, reasoning included; of no rows where any is unknown."""
    known = has_output_tokens(scores)
    return mean(scores, "tokens_out", POSITIVE, where=is_judged(scores)) if known else empty(scores)


def within_budget(scores: pd.DataFrame, budget: float) -> Estimate:
    """Share of judged explanations with no more output tokens than a budget."""
    within = (scores["tokens_out"] <= budget).astype(float)
    return mean(scores.assign(within=within), "within", where=is_judged(scores))


def cost(model: Model) -> Estimate:
    """Tokens x price of the explainer and of its judge, in the price's currency, over all its answers.

    A refusal that nobody judged, or an answer without an explanation, costs its explainer's tokens only. Of no rows
    where a price or a count of tokens is unknown, or two currencies would be added.
    """
    explainer, judge = (None if card is None else card.price for card in (model.card, model.judge))
    scores = model.scores
    if explainer is None or judge is None or judge.currency != explainer.currency:
        return empty(scores)
    answered = is_judged(scores) | (scores["state"] == "unparsable").to_numpy()
    unjudged = is_judged(scores) & scores["judge"].isna().to_numpy()
    tokens = scores[["tokens_in", "tokens_out", "judge_tokens_in", "judge_tokens_out"]].to_numpy(copy=True)
    tokens[unjudged, 2:] = np.nan_to_num(tokens[unjudged, 2:])
    prices = np.array([explainer.input, explainer.output, judge.input, judge.output]) / 1e6
    costs = (tokens * prices).sum(axis=1, keepdims=True)
    if np.isnan(costs[answered]).any():
        return empty(scores)
    return statistic(scores, costs, total, POSITIVE, where=answered)
