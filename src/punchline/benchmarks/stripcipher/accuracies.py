"""Accuracies in per cent, of scores."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd

from punchline.stats.estimate import PERCENT, Array, Estimate, percent
from punchline.stats.functions import Flags, blocks, metric, statistic


def accuracy(part: pd.DataFrame, column: str = "correct", where: Flags | None = None) -> Estimate:
    """100 x right / scored; `where`: the rows that may count."""
    correct = metric(part, column)
    used = ~np.isnan(correct) & (True if where is None else where)
    return statistic(part, np.stack([correct, np.ones(len(part))], axis=1), percent, PERCENT, where=used)


def mean_accuracy(part: pd.DataFrame, over: str, count: int) -> Estimate:
    """Sum of the accuracies of each value of the column `over`, divided by `count`: a value without answers adds 0."""
    correct = metric(part, "correct")
    sums = np.stack([correct, np.ones(len(part))], axis=1)
    return blocks(part, sums, ~np.isnan(correct), over, functools.partial(_mean_of_shares, count=count), PERCENT)


def _mean_of_shares(sums: Array, count: int) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[..., 0::2] / sums[..., 1::2]
    return np.asarray(100 * shares.sum(axis=-1) / count, dtype=np.float64)
