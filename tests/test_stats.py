"""Estimates and their intervals."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as distributions

from punchline.errors import PunchlineError
from punchline.stats import estimate as kinds
from punchline.stats.estimate import Array, Estimate, Kind, MeanOf, Median, mean, percent, ratio, total
from punchline.stats.functions import deviation
from punchline.stats.intervals import difference, interval


def estimate(values: Sequence[float], clusters: Sequence[str] | None = None, kind: Kind | None = None) -> Estimate:
    """The mean of values."""
    sums = np.column_stack([values, np.ones(len(values))]) if len(values) else np.zeros((0, 2))
    names = clusters if clusters is not None else [f"c{i:04}" for i in range(len(values))]
    return Estimate(sums, mean, names, kind=kind)


def test_whole_clusters_count() -> None:
    """Ten copies of each answer carry no more than the answers: clustered, the interval stays as wide."""
    values, clusters = [float(i % 2) for i in range(40)], [f"c{i:02}" for i in range(40)]
    once, copied = (interval(estimate(values * times, clusters * times)) for times in (1, 10))
    alone = interval(estimate(values * 10))
    assert copied == pytest.approx(once)
    assert alone[1] - alone[0] < 0.5 * (copied[1] - copied[0])  # type: ignore[operator]


def f1(columns: Array) -> Array:
    """Of tp, fp, fn."""
    return ratio(2 * columns[..., 0], 2 * columns[..., 0] + columns[..., 1] + columns[..., 2])


def other_f1(columns: Array) -> Array:
    return f1(columns[..., [3, 2, 1]])


def of(sums: Array, value: object, kind: Kind | None = None) -> Estimate:
    return Estimate(sums, value, [f"c{i:03}" for i in range(len(sums))], kind=kind)  # type: ignore[arg-type]


def test_a_value_beyond_what_its_column_says_is_an_error() -> None:
    with pytest.raises(PunchlineError, match=r"from 0.2 to 1.4 where its column says 0 to 1.*POSITIVE"):
        interval(estimate([0.2, 1.4, 0.3]))
    assert interval(estimate([0.2, 1.4, 0.3], kind=kinds.POSITIVE)) != (None, None)
    assert interval(estimate([0.9, 1.0000002, 0.8], kind=kinds.COEFFICIENT)) != (None, None)  # single precision
    low, high = interval(estimate([-5.0, -7.0, -6.0], kind=kinds.POSITIVE))  # tokens, as a bad server counts them
    assert low is not None and high is not None and low <= -6 <= high


@pytest.mark.parametrize(
    ("hits", "n"), [(0, 5), (0, 10), (10, 10), (20, 20), (1, 10), (5, 10), (49, 50), (117, 400), (2, 3)]
)
def test_a_share_has_clopper_and_pearsons_of_the_effective_size(hits: int, n: int) -> None:
    """Of n answers n where all agree, else n - 1 times what t costs against the normal (Korn and Graubard 1998)."""
    size, p = float(n), hits / n
    if 0 < hits < n:
        size = (n - 1) * (distributions.norm.ppf(0.975) / distributions.t.ppf(0.975, n - 1)) ** 2
    low = distributions.beta.ppf(0.025, p * size, (1 - p) * size + 1) if hits else 0
    high = distributions.beta.ppf(0.975, p * size + 1, (1 - p) * size) if hits < n else 1
    values = [1.0] * hits + [0.0] * (n - hits)
    in_percent = of(np.column_stack([values, np.ones(n)]), percent, kinds.PERCENT)
    for result, scale in ((estimate(values), 1), (in_percent, 100), (of(np.array(values)[:, None], total), n)):
        assert interval(result) == pytest.approx((scale * low, scale * high))


def test_skewness_moves_an_interval_up_from_the_t_interval() -> None:
    """Hall's (1992) g(t) = t + s (t^2 / 3 + 1 / 6) / root n + s^2 t^3 / (27 n), at its inverse, is t."""
    even = [-2.0, -1.0, 0.0, 1.0, 2.0]
    t_interval = distributions.t.interval(0.95, 4, 0, distributions.sem(even))
    assert interval(estimate(even, kind=kinds.REAL)) == pytest.approx(t_interval)
    values = np.array([0.1, 0.2, 0.1, 0.3, 0.2, 0.4, 0.1, 2.5, 0.2, 0.9])
    low, high = interval(estimate(list(values), kind=kinds.REAL))
    n, error = len(values), distributions.sem(values)
    skewness = float(distributions.skew(values)) * (1 + 3 / math.sqrt(n))
    for limit, quantile in ((low, 0.975), (high, 0.025)):
        t = (values.mean() - limit) / error  # type: ignore[operator]
        g = t + skewness * (t**2 / 3 + 1 / 6) / math.sqrt(n) + skewness**2 * t**3 / (27 * n)
        assert g == pytest.approx(distributions.t.ppf(quantile, n - 1))
    assert high - values.mean() > 2 * (values.mean() - low)  # type: ignore[operator]


def test_equal_values_have_a_width() -> None:
    for value, n, kind, expected in (
        (0.0, 20, kinds.POSITIVE, (0.0, 1 - 0.025**0.05)),
        (500.0, 100, kinds.POSITIVE, (500 * 0.025**0.01, 500 * (2 - 0.025**0.01))),
        (-3.0, 2, kinds.REAL, (-3 * (2 - 0.025**0.5), -3 * 0.025**0.5)),
    ):
        assert interval(estimate([value] * n, kind=kind)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cells", "n"),  # b and c: one model right and the other wrong
    [((3, 1), 20), ((0, 0), 50), ((7, 7), 30), ((5, 0), 40)],
)
def test_paired_shares_have_bonett_and_prices_interval(cells: tuple[int, int], n: int) -> None:
    """Their formula, with t for the normal quantile and n + 1 for n + 2 in the variance."""
    b, c = cells
    d = [1.0] * b + [-1.0] * c + [0.0] * (n - b - c)
    first = estimate([float(value == 1) for value in d])
    result = difference(first, estimate([float(value == -1) for value in d]))
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = distributions.t.ppf(0.975, n - 1) * math.sqrt((p + q - (p - q) ** 2) / (n + 1))
    assert result.point() == pytest.approx((b - c) / n)
    assert interval(result) == pytest.approx((p - q - half, p - q + half))


def test_a_median_is_where_the_distribution_crosses() -> None:
    """One rating a cluster: the order statistics that a binomial of a half gives, as scipy's quantile test has them."""
    values = np.random.default_rng(1).choice(7, 61).astype(float)
    scale = tuple(float(value) for value in range(7))
    counts = np.eye(7)[values.astype(int)]
    exact = distributions.quantile_test(values, q=0, p=0.5).confidence_interval(0.95)
    low, high = interval(of(counts, Median(scale)))
    assert low <= exact.low and exact.high <= high  # type: ignore[operator]
    assert high - low <= exact.high - exact.low + 1  # type: ignore[operator]


def test_a_rank_correlation_has_fishers() -> None:
    for rho, n, expected in (
        (0.5, 20, (0.0451, 0.7832)),  # atanh(.5) -+ 1.96 x root(1.125 / 17)
        (-0.5, 20, (-0.7832, -0.0451)),
        (1.0, 6, (0.3827, 1.0)),  # as .943, which two neighbours changed would give
        (0.0, 9, (-0.664, 0.664)),
        (1.0, 4, (None, None)),
    ):
        value = lambda columns, rho=rho: np.full(columns.shape[:-1], rho)  # noqa: E731
        result = interval(Estimate(np.ones((n, 1)), value, ["all"] * n, kind=kinds.RANKS))
        assert result == (expected if n < 5 else pytest.approx(expected, abs=5e-4))


def test_nothing_to_say() -> None:
    nothing = [estimate([]), estimate([1.0]), estimate([0, 1, 1], ["a", "a", "a"]), of(np.zeros((3, 2)), mean)]
    nothing += [estimate([0, 1, 1], kind=kinds.EXACT), of(np.array([[1.0, 1.0], [0.0, 0.0]]), mean)]  # of one cluster
    assert {interval(one) for one in nothing} == {(None, None)}
    assert interval(estimate([0, 1])) == pytest.approx((0, 1), abs=0.01)  # two say next to nothing


KINDS = {
    "share": (mean, kinds.SHARE, st.floats(0, 1)),
    "right or wrong": (mean, kinds.SHARE, st.sampled_from([0.0, 1.0])),
    "percent": (percent, kinds.PERCENT, st.floats(0, 1)),
    "cosine": (mean, kinds.COEFFICIENT, st.floats(-1, 1)),
    "count": (total, kinds.COUNT, st.sampled_from([0.0, 1.0])),
    "error rate": (mean, kinds.POSITIVE, st.floats(0, 50)),
    "real": (mean, kinds.REAL, st.floats(-1e6, 1e6)),
    "deviation": (deviation, kinds.POSITIVE, st.floats(0, 5)),
}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=60)
@given(data=st.data())
def test_an_interval_holds_its_value_within_bounds_and_has_a_width(name: str, data: st.DataObject) -> None:
    value, kind, values = KINDS[name]
    pairs = data.draw(st.lists(st.tuples(values, st.integers(0, 9)), min_size=2, max_size=40))
    given_, sizes = zip(*pairs, strict=True)
    column = np.array(given_)
    sums = np.column_stack([column, np.ones(len(column)), column**2])
    names = [f"c{n}" for n in sizes]
    result = Estimate(sums, value, names, kind=kind)
    low, high = interval(result)
    if len(set(names)) < 2:
        assert (low, high) == (None, None)
        return
    assert result.bounds.low <= low <= result.point() <= high <= result.bounds.high  # type: ignore[operator]
    assert low < high  # type: ignore[operator]
    order = data.draw(st.permutations(range(len(given_))))
    again = interval(Estimate(sums[order], value, [names[i] for i in order], kind=kind))
    assert again == pytest.approx((low, high), rel=1e-6, abs=1e-9)
    back = interval(Estimate(sums, value, [f"d{9 - n}" for n in sizes], kind=kind))  # other names, another order
    assert back == pytest.approx((low, high), rel=1e-6, abs=1e-9)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_so_do_those_of_f1(cells: list[int]) -> None:
    for value in (f1, other_f1, MeanOf((f1, other_f1))):
        result = of(np.eye(4)[cells], value)
        low, high = interval(result)
        if low is not None and high is not None:
            assert 0 <= low <= result.point() <= high <= 1 and low < high  # type: ignore[operator]
