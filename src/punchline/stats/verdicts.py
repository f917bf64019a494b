"""PASS or FAIL by judges: agreement with a reference, and accuracy corrected by people's labels of a part.

Corrected accuracy: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023), and Rogan and
Gladen, "Estimating Prevalence from the Results of a Screening Test", American Journal of Epidemiology 1978.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from punchline.stats.estimate import (
    ALPHA,
    COEFFICIENT,
    FEWEST,
    REAL,
    SHARE,
    Array,
    Estimate,
    Kind,
    Value,
    influence,
    ratio,
)
from punchline.stats.ratings import alpha_of


def rate(part: Sequence[int], whole: Sequence[int]) -> Value:
    """The share of some cells in others."""
    return lambda cells: ratio(cells[..., part].sum(axis=-1), cells[..., whole].sum(axis=-1))


def kappa(cells: Array) -> Array:
    """Cohen's kappa of summed cells [..., 4] (both, first only, second only, neither); NaN where one label is given."""
    both, first, second, neither = np.moveaxis(cells, -1, 0)
    n = both + first + second + neither
    chance = ratio((both + first) * (both + second) + (neither + first) * (neither + second), n**2)
    return ratio(ratio(both + neither, n) - chance, 1 - chance)


def alpha(cells: Array) -> Array:
    """Krippendorff's alpha of the same."""
    both, first, second, neither = np.moveaxis(cells, -1, 0)
    matrices = np.stack([2 * both, first + second, first + second, 2 * neither], axis=-1)
    return alpha_of((1, 0), "nominal")(matrices)


def cells_of(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Cells [n, 4] of two PASS or FAIL each: both, first only, second only, neither."""
    a, b = np.asarray(first, dtype=np.bool_), np.asarray(second, dtype=np.bool_)
    return np.stack([a & b, a & ~b, ~a & b, ~a & ~b], axis=1).astype(np.float64)


MEASURES: dict[str, tuple[Value, Kind]] = {
    "accuracy": (rate([0, 3], [0, 1, 2, 3]), SHARE),
    "kappa": (kappa, COEFFICIENT),
    "alpha": (alpha, COEFFICIENT),
    "fpr": (rate([1], [1, 3]), SHARE),  # the judge's PASS among the reference's FAIL
    "fnr": (rate([2], [0, 2]), SHARE),
}


def verdict_agreement(first: npt.ArrayLike, second: npt.ArrayLike, clusters: Sequence[Any]) -> dict[str, Estimate]:
    """MEASURES of a judge's verdicts with a reference's on the same texts."""
    cells = cells_of(first, second)
    return {name: Estimate(cells, value, clusters, kind=kind) for name, (value, kind) in MEASURES.items()}


# Sums for corrected accuracy: labeled texts (how many, people's PASS, the judge's, both); answers with a verdict (how
# many, PASS); those of them without a label (how many, PASS); answers that are wrong without a verdict.
SUMS = ("labeled", "label", "verdict", "both", "judged", "passed", "rest", "rest_passed", "unjudged")


def _of_all(sums: Array, share: Array) -> Array:
    """A share of the answers with a verdict as one of all answers."""
    return share * ratio(sums[..., 4], sums[..., 4] + sums[..., 8])


def _label(sums: Array) -> Array:
    return ratio(sums[..., 1], sums[..., 0])


def _shift(sums: Array) -> Array:
    """The judge's PASS among unlabeled answers, less among labeled texts."""
    return ratio(sums[..., 7], sums[..., 6]) - ratio(sums[..., 2], sums[..., 0])


def prediction_powered(weight: float) -> Value:
    """The labels' mean, shifted by `weight` times what the judge says of the other answers (PPI++)."""
    return lambda sums: _of_all(sums, _label(sums) + (weight * _shift(sums) if weight else 0))


def rogan_gladen(sums: Array) -> Array:
    """The judge's share of PASS, corrected by its error rates; NaN for a judge that is no better than chance."""
    positive, false_positive = ratio(sums[..., 3], sums[..., 1]), sums[..., 2] - sums[..., 3]
    rate = ratio(false_positive, sums[..., 0] - sums[..., 1])
    power = positive - rate
    corrected = ratio(ratio(sums[..., 5], sums[..., 4]) - rate, np.where(power > 0, power, np.nan))
    return _of_all(sums, corrected)


def power_tuned(sums: Array, clusters: Sequence[Any]) -> float:
    """The weight of the judge with the least variance (PPI++, section 6), by the clusters' jackknife."""
    moved = [influence(Estimate(sums, value, clusters, kind=REAL)) for value in (_label, _shift)]
    if any(of is None for of in moved):
        return 0.0
    label, shift = (of.each / math.sqrt(of.clusters * (of.clusters - 1)) for of in moved if of is not None)
    size = float(shift @ shift)
    return min(1.0, max(0.0, -float(label @ shift) / size)) if size else 0.0


def corrected(sums: Array, clusters: Sequence[Any]) -> dict[str, tuple[float | None, ...]]:
    """{method: (corrected accuracy, low, high)} of sums [rows, SUMS].

    Limits are t limits by clusters, with the degrees of freedom of the labeled ones; none for under FEWEST of those.
    For their width the judge errs twice more, once each way, as in the interval of Bonett and Price (intervals.py):
    few labels show few errors.
    """
    from scipy.special import stdtrit  # slow to import, and needed here only

    count = len(set(np.asarray(clusters)[sums[:, 0] > 0]))
    wider = np.concatenate([sums, [[1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0, 0]]])
    names = [*map(str, clusters), "\0PASS", "\0FAIL"]
    weight = power_tuned(wider, names)
    by_method: dict[str, tuple[float | None, ...]] = {}
    for method, value in {"ppi++": prediction_powered(weight), "rogan-gladen": rogan_gladen}.items():
        point = Estimate(sums, value, clusters, kind=REAL).point()
        moved = influence(Estimate(wider, value, names, kind=REAL)) if count >= FEWEST else None
        low = high = None
        if point is not None and moved is not None:
            reach = float(stdtrit(count - 1, 1 - ALPHA / 2)) * math.sqrt(moved.variance)
            low, high = point - reach, point + reach
        by_method[method] = tuple(None if one is None else min(1.0, max(0.0, one)) for one in (point, low, high))
    return by_method
