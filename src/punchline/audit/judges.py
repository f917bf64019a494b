"""Judges against people and against each other, and what the order of models owes to the judge."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate as tabulate_text

from punchline import paths
from punchline.artifacts.project import Project
from punchline.config.runs import made_with
from punchline.core.benchmark import module_of
from punchline.errors import PunchlineError
from punchline.prepare import read_files, run_files
from punchline.scores import scores_frame
from punchline.stats.agreement import nominal_alpha
from punchline.stats.estimate import ALPHA, COEFFICIENT, SHARE, Array, Estimate, Kind, Value
from punchline.stats.intervals import Interval, interval
from punchline.tabulate.ranks import items_of

PEOPLE = "people"
RESAMPLES = 1_000
PASSED = "passed"  # the metric of a score whose judge says PASS or FAIL

Key = tuple[str, str]  # item id, digest of what was judged


@dataclass
class Verdicts:
    """What was said of which answers."""

    said: dict[str, dict[Key, bool]] = field(default_factory=dict)  # by judge, people among them
    models: dict[str, dict[str, dict[tuple[str, int], bool]]] = field(default_factory=dict)  # by judge, model, answer
    clusters: dict[str, str] = field(default_factory=dict)  # of items


@dataclass(frozen=True)
class Measure:
    """A value with its interval."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """A judge against a reference, people or another judge, on what both judged."""

    judge: str
    reference: str
    n: int
    measures: dict[str, Measure]  # accuracy, kappa, alpha, fpr, fnr


@dataclass(frozen=True)
class Order:
    """The order of models by two judges, on the answers that both judged."""

    judges: tuple[str, str]
    n: int
    tau: Measure
    models: dict[str, tuple[float, float]]  # share of PASS by each judge, in the first one's order


# --------------------------------------------------------------------------------------------------------------- values


def _rate(wrong: Sequence[int], of: Sequence[int]) -> Value:
    def value(cells: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(cells[..., wrong].sum(axis=-1) / cells[..., of].sum(axis=-1), dtype=np.float64)

    return value


def kappa(cells: Array) -> Array:
    """Cohen's kappa of summed cells [..., 4] (both, first only, second only, neither); NaN where one label is given."""
    both, first, second, neither = (cells[..., place] for place in range(4))
    n = both + first + second + neither
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((both + first) * (both + second) + (neither + first) * (neither + second)) / n**2
        return np.asarray(((both + neither) / n - chance) / (1 - chance), dtype=np.float64)


def alpha(cells: Array) -> Array:
    """Krippendorff's alpha of the same."""
    one_of = cells[..., 1] + cells[..., 2]
    agreeing = 2 * (cells[..., 0] + cells[..., 3])
    return nominal_alpha(np.stack([agreeing, 2 * cells[..., 0] + one_of, 2 * cells[..., 3] + one_of], axis=-1))


MEASURES: dict[str, tuple[Value, Kind]] = {
    "accuracy": (_rate([0, 3], [0, 1, 2, 3]), SHARE),
    "kappa": (kappa, COEFFICIENT),
    "alpha": (alpha, COEFFICIENT),
    "fpr": (_rate([1], [1, 3]), SHARE),  # the judge's PASS among the reference's FAIL
    "fnr": (_rate([2], [0, 2]), SHARE),
}


def agreement(judge: str, reference: str, verdicts: Verdicts) -> Agreement | None:
    """None where there is nothing that both judged."""
    own, other = verdicts.said[judge], verdicts.said[reference]
    both = sorted(own.keys() & other.keys())
    if not both:
        return None
    cells = np.zeros((len(both), 4))
    cells[np.arange(len(both)), [2 * (not own[key]) + (own[key] != other[key]) for key in both]] = 1
    cells[:, 2:] = cells[:, [3, 2]]  # (both FAIL, only the reference PASS) to (only the reference, neither)
    clusters = [verdicts.clusters[item] for item, _ in both]
    estimates = {name: Estimate(cells, value, clusters, kind=kind) for name, (value, kind) in MEASURES.items()}
    return Agreement(judge, reference, len(both), {name: _measure(of) for name, of in estimates.items()})


def _measure(of: Estimate) -> Measure:
    return Measure(of.point(), *interval(of))


def order(judges: tuple[str, str], verdicts: Verdicts, seed: int) -> Order | None:
    """Kendall's tau-b of the shares of PASS, with percentiles of resampled clusters; None of under three models."""
    first, second = (verdicts.models.get(judge, {}) for judge in judges)
    common = {model: sorted(first[model].keys() & second[model].keys()) for model in first if model in second}
    shared = {model: both for model, both in common.items() if both}
    if len(shared) < 3:
        return None
    clusters = sorted({verdicts.clusters[item] for both in shared.values() for item, _ in both})
    place = {name: row for row, name in enumerate(clusters)}
    sums = np.zeros((3, len(clusters), len(shared)))  # PASS by each judge, answers
    for column, (model, both) in enumerate(shared.items()):
        for answer in both:
            row = place[verdicts.clusters[answer[0]]]
            sums[:, row, column] += (first[model][answer], second[model][answer], 1.0)
    weights = np.random.default_rng(seed).multinomial(
        len(clusters), np.full(len(clusters), 1 / len(clusters)), size=RESAMPLES
    )
    drawn = weights.astype(np.float64) @ sums  # [3, resamples, models]
    taus = np.array([_tau(a, b) for a, b in zip(*_shares(drawn), strict=True)])
    taus = taus[~np.isnan(taus)]
    ends: Interval = (None, None)
    if len(taus):
        ends = float(np.quantile(taus, ALPHA / 2)), float(np.quantile(taus, 1 - ALPHA / 2))
    shares = _shares(sums.sum(axis=1))
    tau = _tau(*shares)
    by_model = {model: (float(a), float(b)) for model, a, b in zip(shared, *shares, strict=True)}
    ordered = dict(sorted(by_model.items(), key=lambda of: (-of[1][0], of[0])))
    n = sum(len(both) for both in shared.values())
    return Order(judges, n, Measure(None if np.isnan(tau) else tau, *ends), ordered)


def _shares(sums: Array) -> tuple[Array, Array]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[0] / sums[2], sums[1] / sums[2]


def _tau(a: Array, b: Array) -> float:
    from scipy.stats import kendalltau  # heavy, and needed here only

    there = ~(np.isnan(a) | np.isnan(b))
    return float(kendalltau(a[there], b[there]).statistic)


# ------------------------------------------------------------------------------------------------------- from the files


def add_scores(verdicts: Verdicts, model: str, scores: pd.DataFrame) -> None:
    """The verdicts on a model's answers. Where a judge has judged an answer before, the first verdict stands."""
    if PASSED not in scores:
        return
    judged = scores[scores["scored"] & scores[PASSED].notna() & scores["judge"].notna()]
    columns = ["judge", "item_id", "sample", "parsed", PASSED]
    for judge, item, sample, parsed, passed in judged[columns].itertuples(index=False, name=None):
        digest = next(iter(json.loads(parsed)), "") if isinstance(parsed, str) else ""
        verdicts.said.setdefault(judge, {}).setdefault((item, digest), bool(passed))
        verdicts.models.setdefault(judge, {}).setdefault(model, {}).setdefault((item, sample), bool(passed))


def verdicts_of(benchmark: str, runs: Iterable[str]) -> Verdicts:
    """All that people and judges said of a benchmark's answers in some runs, and what was released."""
    found = Verdicts()
    for run in runs:
        project = Project(made_with(run))
        loaded, where = project.benchmark(benchmark), project.paths
        if not all(Path(path).is_file() for path in (where.items(benchmark), where.gold(benchmark))):
            raise PunchlineError("no such file", file=where.items(benchmark), hint=GRADE)
        items = items_of(project, benchmark)
        found.clusters |= dict(zip(items.index, items["cluster"], strict=True))
        for model in project.selection.models:
            if Path(scores := where.scores(benchmark, model)).is_file():
                add_scores(found, model, scores_frame(scores, items, "released")[0])
        if importlib.util.find_spec(module_of(benchmark, "labels")) is None:
            continue
        labels = importlib.import_module(module_of(benchmark, "labels"))
        table = loaded.TABLES[labels.SHOWN]
        own = [path for name in table.own if Path(path := paths.own(benchmark, name)).is_file()]
        raw = [path for name in table.files if Path(path := where.raw(benchmark, name)).is_file()]
        files = {**read_files([*raw, *own]), **run_files(project, benchmark, table.name)}
        for who, key, passed in labels.labelled(files):
            if key[0] in found.clusters:
                found.said.setdefault(who or PEOPLE, {}).setdefault(key, passed)
    return found


GRADE = "Make it first: snakemake --cores all"


def judges(runs: Sequence[str], benchmark: str | None = None) -> tuple[list[Agreement], list[Order]]:
    """Of the benchmark whose answers were judged PASS or FAIL in these runs. Raises PunchlineError for none."""
    of = {run: made_with(run).benchmarks for run in runs}  # one run may have another benchmark than the next
    chosen = [benchmark] if benchmark else list(dict.fromkeys(b for names in of.values() for b in names))
    agreements: list[Agreement | None] = []
    orders: list[Order | None] = []
    seed = made_with(runs[0]).seed
    for name in chosen:
        verdicts = verdicts_of(name, [run for run in runs if benchmark or name in of[run]])
        judging = sorted(verdicts.said.keys() - {PEOPLE})
        pairs = list(itertools.combinations(judging, 2))
        agreements += [agreement(judge, PEOPLE, verdicts) for judge in judging if PEOPLE in verdicts.said]
        agreements += [agreement(*pair, verdicts) for pair in pairs]
        orders += [order(pair, verdicts, seed) for pair in pairs]
    if not any(agreements):
        raise PunchlineError(
            f"no two of people and judges say PASS or FAIL of the same answer ({', '.join(chosen)})",
            hint="Choose a judge: judge=NAME, in a run of its own: --config run=NAME judge=NAME; then --run NAME",
        )
    return [one for one in agreements if one is not None], [one for one in orders if one is not None]


def as_json(agreements: Sequence[Agreement], orders: Sequence[Order]) -> dict[str, Any]:
    """Both as plain data."""
    agreement, order = ([asdict(one) for one in of] for of in (agreements, orders))
    return {"level": 1 - ALPHA, "agreement": agreement, "order": order}


def _text(of: Measure) -> str:
    if of.value is None:
        return ""
    return f"{of.value:.3f}" + ("" if of.low is None else f" [{of.low:.3f}, {of.high:.3f}]")


def as_text(agreements: Sequence[Agreement], orders: Sequence[Order]) -> str:
    """Both for reading."""
    cells = [[a.judge, a.reference, f"{a.n:,}", *map(_text, a.measures.values())] for a in agreements]
    lines = [tabulate_text(cells, ["judge", "against", "n", *MEASURES], tablefmt="plain", disable_numparse=True)]
    for one in orders:
        first, second = one.judges
        lines += ["", f"Order by {first} and by {second}, {one.n:,} answers: Kendall's tau {_text(one.tau)}"]
        shares: Mapping[str, tuple[float, float]] = one.models
        places = sorted(shares, key=lambda name: (-shares[name][1], name))
        rows = [
            [name, f"{a:.3f}", f"{b:.3f}", str(rank), str(1 + places.index(name))]
            for rank, (name, (a, b)) in enumerate(shares.items(), start=1)
        ]
        heads = ["model", first, second, f"rank by {first}", f"rank by {second}"]
        lines.append(tabulate_text(rows, heads, tablefmt="plain", disable_numparse=True))
    return "\n".join(lines)
