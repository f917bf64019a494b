"""Multi-label answers against gold labels: weighted precision, recall and F1, confusions, exact matches.

`precision`, `recall` and `f1` take, for C classes, [..., 3 C] summed counts: for each class in turn its true positives,
its predictions and its gold labels; they return [...]. They equal scikit-learn's
`precision_recall_fscore_support(average="weighted", zero_division=0)`: a class's undefined value is 0, and its weight
is its number of gold labels, so that a class without gold labels has no weight. NaN where there is no gold label.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from punchline.stats.estimate import COUNT, SHARE, Array, Estimate, Kind, Sums, Value, ratio
from punchline.stats.estimate import mean as mean_of_sums
from punchline.stats.estimate import total as total_of_sums
from punchline.stats.functions import empty, statistic


def counts(predicted: npt.NDArray[np.bool_], gold: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Statistics of each item, [n, 3 C], from indicator matrices [n, C]."""
    return np.stack([predicted & gold, predicted, gold], axis=-1).reshape(len(gold), 3 * gold.shape[1])


def _weighted(sums: Array, share: Callable[[Array, Array, Array], tuple[Array, Array]]) -> Array:
    """Mean over classes, weighted by gold labels, of a share: of true positives, predictions and gold labels."""
    counted = np.asarray(sums, dtype=np.float64)
    hits, predicted, gold = (counted[..., place::3] for place in range(3))
    numerator, denominator = share(hits, predicted, gold)
    values = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return ratio((values * gold).sum(axis=-1), gold.sum(axis=-1))


# Means over classes, weighted by gold labels: TP / predictions, TP / gold labels, 2 TP / (predictions + gold labels).
precision: Value = functools.partial(_weighted, share=lambda hits, predicted, gold: (hits, predicted))
recall: Value = functools.partial(_weighted, share=lambda hits, predicted, gold: (hits, gold))
f1: Value = functools.partial(_weighted, share=lambda hits, predicted, gold: (2 * hits, predicted + gold))


@functools.cache  # few are different
def _lower(text: str) -> frozenset[str]:
    return frozenset(label.lower() for label in msgspec.json.decode(text, type=tuple[str, ...]))


class Labels:
    """Labels of the scored rows of one task, lower-cased: what was parsed, and gold. A null is an answer without any.

    Where nothing was attempted (only missing answers), every statistic is one of no rows.
    """

    def __init__(self, part: pd.DataFrame) -> None:
        self._part, self._scored = part, part["scored"].to_numpy()
        texts = ([text if isinstance(text, str) else "[]" for text in part[name]] for name in ("parsed", "gold"))
        self._parsed, self._gold = ([*map(_lower, column)] for column in texts)
        self._classes = sorted(frozenset[str]().union(*itertools.compress(self._gold, self._scored)))

    def _flags(self, classes: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Indicators of predicted and of gold labels, [2, rows, classes]."""
        flags = [one in labels for labels in (*self._parsed, *self._gold) for one in classes]
        return np.array(flags, np.bool_).reshape(2, len(self._gold), len(classes))

    def _of(self, sums: Sums, value: Value, kind: Kind = SHARE) -> Estimate:
        if not self._scored.any():
            return empty(self._part)
        return statistic(self._part, sums, value, kind, where=self._scored)

    @functools.cached_property
    def _counts(self) -> npt.NDArray[np.bool_]:
        return counts(*self._flags(self._classes))

    def f1(self) -> Estimate:
        """F1, the mean over classes weighted by gold labels."""
        return self._of(self._counts, f1)

    def precision(self) -> Estimate:
        """Precision, weighted likewise."""
        return self._of(self._counts, precision)

    def recall(self, label: str | None = None) -> Estimate:
        """Recall, weighted likewise; with `label`, of that class alone."""
        if label is None:
            return self._of(self._counts, recall)
        predicted, right = self._flags([label])
        return self._of(np.concatenate([predicted & right, right], axis=1), mean_of_sums)

    def exact(self) -> Estimate:
        """Share of answers whose labels are the gold labels."""
        right = [[parsed == gold, True] for parsed, gold in zip(self._parsed, self._gold, strict=True)]
        return self._of(np.array(right, np.bool_).reshape(-1, 2), mean_of_sums)

    def confusion(self, label: str) -> dict[str, Estimate]:
        """tp, fp, tn, fn of one class: numbers of answers."""
        predicted, right = self._flags([label])
        cells = {"tp": predicted & right, "fp": predicted & ~right, "tn": ~predicted & ~right, "fn": ~predicted & right}
        return {name: self._of(flags, total_of_sums, COUNT) for name, flags in cells.items()}

    def with_size(self, least: int, most: float) -> Estimate:
        """Number of answers with so many different labels."""
        flags = [[least <= len(labels) <= most] for labels in self._parsed]
        return self._of(np.array(flags, np.bool_).reshape(-1, 1), total_of_sums, COUNT)
