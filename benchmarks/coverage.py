"""How often nominal 95 % intervals hold the truth, and how wide they are against a percentile bootstrap's.

    .venv/bin/python benchmarks/coverage.py [--samples 4000] [--bootstrapped 1000]

Samples are drawn from populations whose value is known. The bootstrap (1,000 resamples of clusters, percentiles) gets
the first of the same samples. Ends with status 1 where an interval covers less than .93 (fewer than 20 clusters: .90)
of what it should, has no width, or is at the median more than 1.3 times as wide as the bootstrap's for 400 clusters.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from punchline.benchmarks.hummus.dataset import F1
from punchline.stats.estimate import (
    COEFFICIENT,
    DIFFERENCE,
    POSITIVE,
    SHARE,
    Array,
    Difference,
    Estimate,
    Kind,
    Median,
    Spread,
    Value,
    mean,
    total,
)
from punchline.stats.functions import deviation
from punchline.stats.intervals import interval
from punchline.stats.labels import f1 as weighted_f1
from punchline.stats.ratings import alpha_of, coincidences

Random = np.random.Generator
RESAMPLES = 1_000
APART = Difference(mean, mean, 2)


@dataclass(frozen=True)
class Case:
    """A population: `draw` gives the sums of so many clusters, and each row's cluster."""

    name: str
    draw: Callable[[Random, int], tuple[Array, Array]]
    value: Value
    kind: Kind
    clusters: Sequence[int] = (10, 20, 30, 50, 100, 400)
    truth: float | None = None  # None: the value of a million clusters
    least: Callable[[Array], bool] = lambda sums: True  # samples that say anything


def means(sample: Callable[[Random, int], Array]) -> Callable[[Random, int], tuple[Array, Array]]:
    def draw(random: Random, n: int) -> tuple[Array, Array]:
        return np.stack([sample(random, n), np.ones(n)], axis=1), np.arange(n)

    return draw


def right(p: float) -> Callable[[Random, int], tuple[Array, Array]]:
    return means(lambda random, n: (random.random(n) < p).astype(float))


def in_clusters(p: float, size: int, alike: float) -> Callable[[Random, int], tuple[Array, Array]]:
    """Right or wrong, 1 to `size` items a cluster; `alike`: the correlation within a cluster."""

    def draw(random: Random, n: int) -> tuple[Array, Array]:
        sizes = random.integers(1, size + 1, n)
        ease = random.beta(p * (1 / alike - 1), (1 - p) * (1 / alike - 1), n)
        clusters = np.repeat(np.arange(n), sizes)
        hits = random.random(len(clusters)) < ease[clusters]
        return np.stack([hits, np.ones(len(hits))], axis=1), clusters

    return draw


def confusion(positive: float, hit: float, alarm: float) -> Callable[[Random, int], tuple[Array, Array]]:
    """tp, fp, fn, tn of one answer a cluster."""

    def draw(random: Random, n: int) -> tuple[Array, Array]:
        is_, says = random.random(n) < positive, random.random(n)
        passed = np.where(is_, says < hit, says < alarm)
        cells = np.stack([is_ & passed, ~is_ & passed, is_ & ~passed, ~is_ & ~passed], axis=1)
        return cells.astype(float), np.arange(n)

    return draw


def classes(random: Random, n: int) -> tuple[Array, Array]:
    """Hits, predictions, gold labels of three classes, one of them rare; .8 of the answers are right."""
    gold = random.choice(3, n, p=[0.6, 0.35, 0.05])
    predicted = np.where(random.random(n) < 0.8, gold, random.integers(3, size=n))
    one = np.eye(3)
    sums = np.stack([one[gold] * one[predicted], one[predicted], one[gold]], axis=-1).reshape(n, 9)
    return sums, np.arange(n)


def pairs(one: float, other: float, both: float) -> Callable[[Random, int], tuple[Array, Array]]:
    """Two models on the same items: each right so often, `both` of the time both."""

    def draw(random: Random, n: int) -> tuple[Array, Array]:
        at = random.random(n)
        first, second = at < one, (at < both) | ((at >= one) & (at < one + other - both))
        ones = np.ones(n)
        return np.stack([first, ones, second, ones], axis=1).astype(float), np.arange(n)

    return draw


def raters(random: Random, n: int) -> tuple[Array, Array]:
    """Two raters' 1 to 5 of the same things."""
    true = random.normal(3, 1, n)
    scores = np.clip(np.rint(true[:, None] + random.normal(0, 0.6, (n, 2))), 1, 5)
    return coincidences(scores.tolist(), [1.0, 2.0, 3.0, 4.0, 5.0]), np.arange(n)


def likert(random: Random, n: int) -> tuple[Array, Array]:
    return np.eye(7)[random.choice(7, n, p=[0.05, 0.1, 0.12, 0.16, 0.2, 0.22, 0.15])], np.arange(n)


def log_normal(random: Random, n: int) -> Array:
    return random.lognormal(-1, 1, n)


def heavier(random: Random, n: int) -> Array:
    return random.lognormal(-1, 1.2, n)


def half_zero(random: Random, n: int) -> Array:
    """Half of the answers have no error, the others log-normal ones."""
    return log_normal(random, n) * (random.random(n) < 0.5)


def squares(random: Random, n: int) -> tuple[Array, Array]:
    values = random.normal(0.6, 0.2, n)
    return np.stack([values, np.ones(n), values**2], axis=1), np.arange(n)


def counts(random: Random, n: int) -> tuple[Array, Array]:
    return (random.random(n) < 0.02).astype(float)[:, None], np.arange(n)


def prompts(effects: Sequence[float]) -> Callable[[Random, int], tuple[Array, Array]]:
    """Right or wrong on three prompts about the same item, which is easy or hard for all three; an effect a prompt."""

    def draw(random: Random, n: int) -> tuple[Array, Array]:
        ease = random.normal(0.6, 0.25, n)[:, None] + np.array(effects)
        return np.concatenate([random.random((n, 3)) < ease, np.ones((n, 3))], axis=1).astype(float), np.arange(n)

    return draw


def by_prompt(columns: Array) -> Array:
    return columns[..., :3] / columns[..., 3:]


CASES = [
    Case("mean, p = .9", right(0.9), mean, SHARE, truth=0.9),
    Case("mean, p = .98", right(0.98), mean, SHARE, truth=0.98),
    Case("mean, p = .5", right(0.5), mean, SHARE, truth=0.5),
    Case("mean, p = .95, clusters of 1 to 6", in_clusters(0.95, 6, 0.3), mean, SHARE),
    Case("overlap in [0, 1], mostly 0", means(lambda r, n: r.beta(0.3, 1.2, n)), mean, SHARE, truth=0.2),
    Case("F1 of the negative class, a third of items", confusion(2 / 3, 0.8, 0.35), F1["neg"], SHARE),
    Case("F1 of a class of a tenth", confusion(0.9, 0.9, 0.3), F1["neg"], SHARE),
    Case("macro F1, a class of a tenth", confusion(0.9, 0.9, 0.3), F1["avg"], SHARE),
    Case("weighted F1, three classes", classes, weighted_f1, SHARE),
    Case("count, p = .02", counts, total, Kind("count", 0.0)),
    Case("WER, log-normal", means(log_normal), mean, POSITIVE, truth=float(np.exp(-0.5))),
    Case("WER, half 0, half log-normal", means(half_zero), mean, POSITIVE, truth=float(np.exp(-0.5)) / 2),
    Case("SD of normal values", squares, deviation, POSITIVE, truth=0.2),
    Case(
        "difference of .95 and .93, paired", pairs(0.95, 0.93, 0.9), Difference(mean, mean, 2), DIFFERENCE, truth=0.02
    ),
    Case("difference of .6 and .5, paired", pairs(0.6, 0.5, 0.4), APART, DIFFERENCE, truth=0.1),
    Case("Krippendorff's alpha, interval", raters, alpha_of((1, 2, 3, 4, 5), "interval"), COEFFICIENT),
    Case("median of 1 to 7", likert, Median((1, 2, 3, 4, 5, 6, 7)), POSITIVE, truth=5.0),
    Case("SD over three prompts that differ", prompts((-0.1, 0.0, 0.1)), Spread(by_prompt), SHARE),
    Case("SD over three prompts that do not", prompts((0.0, 0.0, 0.0)), Spread(by_prompt), SHARE, truth=0.0),
    Case("WER, log-normal, heavier", means(heavier), mean, POSITIVE, truth=float(np.exp(-1 + 1.2**2 / 2))),
]


def truth(case: Case, clusters: int, random: Random) -> float:
    if case.kind.method == "count":
        return 0.02 * clusters
    if case.truth is not None:
        return case.truth
    return float(case.value(case.draw(random, 1_000_000)[0].sum(axis=0)))


def bootstrap(estimate: Estimate, random: Random) -> tuple[float, float] | None:
    """Percentiles of resampled clusters (Efron and Tibshirani 1993)."""
    summed = estimate.by_cluster
    weights = random.multinomial(len(summed), np.full(len(summed), 1 / len(summed)), size=RESAMPLES)
    with np.errstate(all="ignore"):
        values = estimate.value(weights @ summed)
    values = values[~np.isnan(values)]
    return (float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))) if len(values) else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4_000)
    parser.add_argument("--bootstrapped", type=int, default=1_000)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    args = parser.parse_args()
    print("| case | clusters | covers | bootstrap covers | below, above | median width | of the bootstrap's |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    failed = []
    for place, case in enumerate(CASES):
        if args.only not in case.name:
            continue
        for clusters in case.clusters:
            random = np.random.default_rng([place, clusters])
            true = truth(case, clusters, random)
            held, widths, below, above, other, others = 0, [], 0, 0, 0, []
            count = 0
            for number in range(args.samples):
                sums, of = case.draw(random, clusters)
                estimate = Estimate(sums, case.value, of, kind=case.kind)
                low, high = interval(estimate)
                if low is None or high is None:
                    continue
                count += 1
                held += low <= true <= high
                below += high < true
                above += low > true
                widths.append(high - low)
                if number < args.bootstrapped and (result := bootstrap(estimate, random)):
                    other += result[0] <= true <= result[1]
                    others.append(result[1] - result[0])
            cover, ratio = held / count, float(np.median(widths[: len(others)]) / (np.median(others) or np.nan))
            print(
                f"| {case.name} | {clusters} | {cover:.3f} | {other / len(others):.3f} | {below / count:.3f},"
                f" {above / count:.3f} | {np.median(widths):.3f} | {ratio:.2f} |",
                flush=True,
            )
            what = f"{case.name}, {clusters} clusters"
            if cover < (0.93 if clusters >= 20 else 0.90):
                failed.append(f"{what}: covers {cover:.3f}")
            if min(widths) <= 0 and case.value.__class__ is not Median:
                failed.append(f"{what}: an interval without width")
            if clusters == 400 and ratio > 1.3:
                failed.append(f"{what}: {ratio:.2f} times as wide as the bootstrap's")
    print("\n" + ("\n".join(failed) or "Every interval covers what it should."))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
