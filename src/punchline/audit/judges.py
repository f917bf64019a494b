"""Judges compared with human labels and with each other, and the order of models under each judge."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from punchline.artifacts.project import Project
from punchline.config.runs import made_with
from punchline.errors import PunchlineError
from punchline.scores import scores_frame
from punchline.stats.estimate import ALPHA, Array, Estimate, ratio
from punchline.stats.intervals import interval
from punchline.stats.verdicts import MEASURES, cells_of
from punchline.tabulate.labels import COLUMNS, PASSED, PEOPLE, labelled, verdicts_in
from punchline.tabulate.ranks import items_of

RESAMPLES = 1_000
CORRECTED = [
    *("model", "judge", "judged", "labeled", "n_labeled", "method", "corrected", "corrected_lo", "corrected_hi"),
    *("rank_judged", "rank_corrected"),
]
SCORE = "Make it first: snakemake --cores all"


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


def agreement(judge: str, reference: str, verdicts: pd.DataFrame) -> Agreement | None:
    """Agreement on the texts that both judged, the first verdict of each; None for no text. `verdicts`: COLUMNS."""
    first = verdicts.drop_duplicates(["judge", "item_id", "digest"]).set_index(["item_id", "digest"])
    own, other = (first[first["judge"] == name] for name in (judge, reference))
    both = own.join(other[PASSED].rename("by_other"), how="inner").sort_index()
    if both.empty:
        return None
    cells = cells_of(both[PASSED], both["by_other"])
    clusters = both["cluster"].tolist()
    estimates = {name: Estimate(cells, value, clusters, kind=kind) for name, (value, kind) in MEASURES.items()}
    return Agreement(
        judge, reference, len(both), {name: Measure(of.point(), *interval(of)) for name, of in estimates.items()}
    )


def order(judges: tuple[str, str], verdicts: pd.DataFrame, seed: int) -> Order | None:
    """Kendall's tau-b of the shares of PASS, with percentiles of resampled clusters; None for under three models."""
    about = ["model", "item_id", "sample"]
    first = verdicts.dropna(subset="model").drop_duplicates(["judge", *about])
    wide = first.pivot(index=[*about, "cluster"], columns="judge", values=PASSED).reindex(columns=judges).dropna()
    both = wide.set_axis(["first", "second"], axis=1).astype(float).assign(n=1.0).reset_index()
    if both["model"].nunique() < 3:
        return None
    by_model = both.pivot_table(index="cluster", columns="model", aggfunc="sum", fill_value=0.0)
    sums = np.stack([by_model[name].to_numpy() for name in ("first", "second", "n")])  # [3, clusters, models]
    count = sums.shape[1]
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    drawn = weights.astype(np.float64) @ sums  # [3, resamples, models]
    taus = np.array([_tau(a, b) for a, b in zip(ratio(drawn[0], drawn[2]), ratio(drawn[1], drawn[2]), strict=True)])
    taus = taus[~np.isnan(taus)]
    ends = [float(np.quantile(taus, end)) for end in (ALPHA / 2, 1 - ALPHA / 2)] if len(taus) else [None, None]
    means = both.groupby("model")[["first", "second"]].mean()
    tau = _tau(means["first"].to_numpy(), means["second"].to_numpy())
    ordered = means.sort_index().sort_values("first", ascending=False, kind="stable")
    shares = {name: (a, b) for name, a, b in ordered.itertuples(name=None)}
    return Order(judges, len(both), Measure(None if np.isnan(tau) else tau, *ends), shares)


def _tau(a: Array, b: Array) -> float:
    from scipy.stats import kendalltau  # heavy, and needed here only

    there = ~(np.isnan(a) | np.isnan(b))
    return float(kendalltau(a[there], b[there]).statistic)


def verdicts_of(benchmark: str, runs: Iterable[str]) -> pd.DataFrame:
    """All verdicts of people and judges on a benchmark's answers in some runs, and released ones, by COLUMNS."""
    return pd.concat([pd.DataFrame(columns=COLUMNS), *(part for run in runs for part in _verdicts(benchmark, run))])


def _verdicts(benchmark: str, run: str) -> Iterator[pd.DataFrame]:
    project = Project(made_with(run))
    where = project.paths
    if not all(Path(path).is_file() for path in (where.items(benchmark), where.gold(benchmark))):
        raise PunchlineError("no such file", file=where.items(benchmark), hint=SCORE)
    items = items_of(project, benchmark)
    for model in project.selection.models:
        if Path(scores := where.scores(benchmark, model)).is_file():
            yield verdicts_in(model, scores_frame(scores, items, "released")[0])
    yield labelled(project, benchmark, items)[COLUMNS]


def judges(runs: Sequence[str], benchmark: str | None = None) -> tuple[list[Agreement], list[Order]]:
    """Compare the judges of a benchmark, or of all benchmarks of these runs. Raises PunchlineError for no two."""
    of = {run: made_with(run).benchmarks for run in runs}  # one run may have another benchmark than the next
    chosen = [benchmark] if benchmark else list(dict.fromkeys(itertools.chain.from_iterable(of.values())))
    agreements: list[Agreement | None] = []
    orders: list[Order | None] = []
    for name in chosen:
        verdicts = verdicts_of(name, [run for run in runs if benchmark or name in of[run]])
        judging = sorted({*verdicts["judge"]} - {PEOPLE})
        pairs = list(itertools.combinations(judging, 2))
        with_people = [(judge, PEOPLE) for judge in judging if PEOPLE in set(verdicts["judge"])]
        agreements += [agreement(*pair, verdicts) for pair in [*with_people, *pairs]]
        orders += [order(pair, verdicts, made_with(runs[0]).seed) for pair in pairs]
    if not any(agreements):
        raise PunchlineError(
            f"no two of people and judges say PASS or FAIL of the same answer ({', '.join(chosen)})",
            hint="Choose a judge: judge=NAME, in a run of its own: --config run=NAME judge=NAME; then --run NAME",
        )
    return [one for one in agreements if one is not None], [one for one in orders if one is not None]


def agreement_rows(agreements: Iterable[Agreement]) -> list[dict[str, Any]]:
    """A row per agreement, for reading."""
    return [
        {"judge": one.judge, "against": one.reference, "n": f"{one.n:,}"}
        | {name: measure_text(of) for name, of in one.measures.items()}
        for one in agreements
    ]


def order_rows(one: Order) -> list[dict[str, Any]]:
    """A row per model, for reading."""
    second = sorted(one.models, key=lambda name: (-one.models[name][1], name))
    first, other = one.judges
    return [
        {"model": name, first: f"{a:.3f}", other: f"{b:.3f}"}
        | {f"rank by {first}": rank, f"rank by {other}": 1 + second.index(name)}
        for rank, (name, (a, b)) in enumerate(one.models.items(), start=1)
    ]


def corrected(runs: Iterable[str], benchmark: str | None) -> list[dict[str, Any]]:
    """What of the runs' corrected.csv has a corrected accuracy, under rule `released`."""
    paths = [
        project.paths.validity(name, "corrected")
        for project in map(Project, map(made_with, runs))
        for name in ([benchmark] if benchmark else project.selection.benchmarks)
    ]
    frames = [pd.read_csv(path) for path in paths if Path(path).is_file()]
    found = pd.concat([pd.DataFrame(columns=[*CORRECTED, "rule"]), *frames])
    known = found.loc[(found["rule"] == "released") & found["corrected"].notna(), CORRECTED].astype(object)
    cells = known.where(known.notna(), None).to_dict("records")
    return [{str(name): cell for name, cell in row.items()} for row in cells]


def measure_text(of: Measure) -> str:
    """`0.812 [0.701, 0.891]`; empty for an undefined value."""
    if of.value is None:
        return ""
    return f"{of.value:.3f}" + ("" if of.low is None else f" [{of.low:.3f}, {of.high:.3f}]")
