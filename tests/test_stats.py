"""Estimates and their bootstrap intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.core.stats import Estimate, interval, mean, total


def estimate(values: list[float], clusters: list[str] | None = None) -> Estimate:
    """The mean of values."""
    sums = np.column_stack([values, np.ones(len(values))]) if values else np.zeros((0, 2))
    names = clusters if clusters is not None else [f"c{i:04}" for i in range(len(values))]
    return Estimate(sums=sums, value=mean, clusters=names, grades=())


def test_point() -> None:
    assert estimate([1, 0, 0, 1]).point() == 0.5
    assert estimate([1, 0, 0, 1]).n == 4
    assert estimate([]).point() is None
    assert Estimate(sums=np.zeros((3, 2)), value=mean, clusters=["a", "b", "c"], grades=()).point() is None


def test_total_counts() -> None:
    counted = Estimate(sums=np.array([[1.0], [0.0], [1.0]]), value=total, clusters=["a", "b", "c"], grades=())
    assert counted.point() == 2


def test_values_are_vectorised() -> None:
    sums = np.array([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [5.0, 5.0]]])
    assert mean(sums).shape == (2, 2)
    assert mean(sums)[0].tolist() == [0.5, 0.75]
    assert np.isnan(mean(sums)[1, 0])
    assert total(sums).shape == (2, 2)


@pytest.mark.parametrize("values", [[], [1.0]])
def test_nothing_to_resample(values: list[float]) -> None:
    assert interval(estimate(values), 0) == (None, None)


def test_one_cluster_has_no_interval() -> None:
    assert interval(estimate([0, 1, 1], ["a", "a", "a"]), 0) == (None, None)


def test_an_undefined_value_has_no_interval() -> None:
    undefined = Estimate(sums=np.zeros((3, 2)), value=mean, clusters=["a", "b", "c"], grades=())
    assert interval(undefined, 0) == (None, None)


def test_the_seed_decides() -> None:
    values = [float(i % 3 == 0) for i in range(50)]
    assert interval(estimate(values), 1) == interval(estimate(values), 1)
    assert interval(estimate(values), 1) != interval(estimate(values), 2)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_interval_of_a_share_is_about_the_normal_one(share: float) -> None:
    n = 2000
    values = [1.0] * int(n * share) + [0.0] * (n - int(n * share))
    low, high = interval(estimate(values), 0)
    half = 1.96 * np.sqrt(share * (1 - share) / n)
    assert low == pytest.approx(share - half, abs=0.15 * half)
    assert high == pytest.approx(share + half, abs=0.15 * half)


def test_whole_clusters_are_resampled() -> None:
    """Ten copies of each answer carry no more than the answers: clustered, the interval stays as wide."""
    values = [float(i % 2) for i in range(40)]
    clusters = [f"c{i:02}" for i in range(40)]
    once = interval(estimate(values, clusters), 0)
    copied = interval(estimate(values * 10, clusters * 10), 0)
    alone = interval(estimate(values * 10), 0)
    assert copied == pytest.approx(once)
    assert alone[1] - alone[0] < 0.5 * (copied[1] - copied[0])  # type: ignore[operator]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(values: list[float], random) -> None:  # type: ignore[no-untyped-def]
    names = [f"c{i:02}" for i in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled = estimate([values[i] for i in order], [names[i] for i in order])
    low, high = interval(estimate(values, names), 3, resamples=50)
    assert (low, high) == pytest.approx(interval(shuffled, 3, resamples=50), abs=1e-12)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9  # type: ignore[operator]
