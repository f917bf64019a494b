"""Support-weighted precision, recall and F1 of multi-label answers, from counts.

All three take, for C classes, [..., 3 C] summed counts: for each class in turn its true positives, its predictions and
its gold labels; they return [...]. They equal scikit-learn's `precision_recall_fscore_support(average="weighted",
zero_division=0)`: a class's undefined value is 0, and its weight is its number of gold labels, so that a class without
gold labels has no weight. NaN where there is no gold label at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from punchline.core.stats import Array


def counts(predicted: npt.NDArray[np.bool_], gold: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Statistics of each item, [n, 3 C], from indicator matrices [n, C]."""
    return np.stack([predicted & gold, predicted, gold], axis=-1).reshape(len(gold), 3 * gold.shape[1])


def _weighted(numerator: Array, denominator: Array, gold: Array) -> Array:
    share = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    with np.errstate(invalid="ignore"):
        return np.asarray((share * gold).sum(axis=-1) / gold.sum(axis=-1), dtype=np.float64)


def _split(sums: Array) -> tuple[Array, Array, Array]:
    by_class = np.asarray(sums, dtype=np.float64).reshape(*np.shape(sums)[:-1], np.shape(sums)[-1] // 3, 3)
    return by_class[..., 0], by_class[..., 1], by_class[..., 2]


def precision(sums: Array) -> Array:
    """Weighted precision: the mean over classes of TP / predictions, weighted by gold labels."""
    hits, predicted, gold = _split(sums)
    return _weighted(hits, predicted, gold)


def recall(sums: Array) -> Array:
    """Weighted recall: the mean over classes of TP / gold labels, weighted by gold labels."""
    hits, _, gold = _split(sums)
    return _weighted(hits, gold, gold)


def f1(sums: Array) -> Array:
    """Weighted F1: the mean over classes of 2 TP / (predictions + gold labels), weighted by gold labels."""
    hits, predicted, gold = _split(sums)
    return _weighted(2 * hits, predicted + gold, gold)
