"""Judges compared with human labels and with each other, and the order of models under each judge."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from punchline.artifacts.project import Project
from punchline.config.runs import selection_of
from punchline.errors import PunchlineError, check_file
from punchline.scores import scores_frame
from punchline.stats.estimate import ALPHA, Array, ratio
from punchline.stats.intervals import interval
from punchline.stats.verdicts import verdict_agreement
from punchline.tabulate.labels import COLUMNS, PASSED, PEOPLE, read_labels, verdicts_in
from punchline.tabulate.ranks import items_of

RESAMPLES = 1_000
CORRECTED = [
    *("model", "judge", "judged", "labeled", "n_labeled", "method", "corrected", "corrected_lo", "corrected_hi"),
    *("rank_judged", "rank_corrected"),
]


def agreement(judge: str, reference: str, verdicts: pd.DataFrame) -> dict[str, Any] | None:
    """Agreement of a judge with a reference, people or another judge; None where no text has both verdicts.

    On each text, the first verdict of each counts. `verdicts`: COLUMNS. `measures`: accuracy, kappa, alpha, fpr, fnr,
    each with its interval.
    """
    both = _paired(verdicts, ["item_id", "digest"], (judge, reference))
    if both.empty:
        return None
    estimates = verdict_agreement(both["first"], both["second"], both["cluster"].tolist())
    measures = {name: _measure(of.point(), *interval(of)) for name, of in estimates.items()}
    return {"judge": judge, "reference": reference, "n": len(both), "measures": measures}


def _paired(verdicts: pd.DataFrame, answer: list[str], judges: tuple[str, str]) -> pd.DataFrame:
    """The first verdicts of two judges on each answer that both judged, as the columns `first` and `second`."""
    given = verdicts.drop_duplicates(["judge", *answer])
    wide = given.pivot(index=[*answer, "cluster"], columns="judge", values=PASSED).reindex(columns=judges).dropna()
    return wide.set_axis(["first", "second"], axis=1).astype(float).reset_index()


def _measure(value: float | None, low: float | None, high: float | None) -> dict[str, float | None]:
    return {"value": value, "low": low, "high": high}


def order(judges: tuple[str, str], verdicts: pd.DataFrame, seed: int) -> dict[str, Any] | None:
    """The order of models by two judges on the answers that both judged; None for under three models.

    `tau`: Kendall's tau-b of the shares of PASS, with percentiles of resampled clusters. `models`: these shares by each
    judge, in the first one's order.
    """
    both = _paired(verdicts.dropna(subset="model"), ["model", "item_id", "sample"], judges).assign(n=1.0)
    if both["model"].nunique() < 3:
        return None
    by_model = both.pivot_table(index="cluster", columns="model", aggfunc="sum", fill_value=0.0)
    sums = np.stack([by_model[name].to_numpy() for name in ("first", "second", "n")])  # [3, clusters, models]
    count = sums.shape[1]
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    drawn = weights.astype(np.float64) @ sums  # [3, resamples, models]
    pairs = zip(ratio(drawn[0], drawn[2]), ratio(drawn[1], drawn[2]), strict=True)
    taus = pd.Series([_tau(*pair) for pair in pairs]).dropna()
    ends = [float(taus.quantile(end)) for end in (ALPHA / 2, 1 - ALPHA / 2)] if len(taus) else [None, None]
    means = both.groupby("model")[["first", "second"]].mean().sort_index()
    tau = _tau(means["first"].to_numpy(), means["second"].to_numpy())
    ordered = means.sort_values("first", ascending=False, kind="stable")
    shares = {name: (a, b) for name, a, b in ordered.itertuples(name=None)}
    tau_measure = _measure(None if np.isnan(tau) else tau, *ends)
    return {"judges": judges, "n": len(both), "tau": tau_measure, "models": shares}


def _tau(a: Array, b: Array) -> float:
    from scipy.stats import kendalltau  # heavy, and needed here only

    there = ~(np.isnan(a) | np.isnan(b))
    return float(kendalltau(a[there], b[there]).statistic)


def verdicts_of(benchmark: str, runs: Iterable[str]) -> pd.DataFrame:
    """All verdicts of people and judges on a benchmark's answers in some runs, and released ones, by COLUMNS."""
    frames = [pd.DataFrame(columns=COLUMNS)]
    for project in map(Project, map(selection_of, runs)):
        where = project.paths
        for file in (where.items(benchmark), where.gold(benchmark)):
            check_file(file, "no such file", hint="Make it first: snakemake --cores all")
        items = items_of(project, benchmark)
        for model in project.selection.models:
            if Path(scores := where.scores(benchmark, model)).is_file():
                frames.append(verdicts_in(model, scores_frame(scores, items, "released")[0]))
        frames.append(read_labels(project, benchmark, items)[COLUMNS])
    return pd.concat(frames)


def judges(runs: Sequence[str], benchmark: str | None = None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Agreements of judges, and orders of models, in a benchmark, or in all benchmarks of these runs.

    Raises PunchlineError where no two of people and judges say PASS or FAIL of the same answer.
    """
    of = {run: selection_of(run).benchmarks for run in runs}  # one run may have another benchmark than the next
    chosen = [benchmark] if benchmark else list(dict.fromkeys(itertools.chain.from_iterable(of.values())))
    agreements, orders = [], []
    for name in chosen:
        verdicts = verdicts_of(name, [run for run in runs if benchmark or name in of[run]])
        judging = sorted({*verdicts["judge"]} - {PEOPLE})
        pairs = list(itertools.combinations(judging, 2))
        agreements += [agreement(*pair, verdicts) for pair in [*((judge, PEOPLE) for judge in judging), *pairs]]
        orders += [order(pair, verdicts, selection_of(runs[0]).seed) for pair in pairs]
    if not any(agreements):
        what = f"no two of people and judges say PASS or FAIL of the same answer ({', '.join(chosen)})"
        hint = "Choose a judge: judge=NAME, in a run of its own: --config run=NAME judge=NAME; then --run NAME"
        raise PunchlineError(what, hint=hint)
    return [one for one in agreements if one is not None], [one for one in orders if one is not None]


def order_rows(order: dict[str, Any]) -> list[dict[Hashable, Any]]:
    """A row per model, for reading: the shares of PASS and the ranks by each judge."""
    shares = pd.DataFrame.from_dict(order["models"], orient="index", columns=order["judges"])
    ranks = shares.sort_index().rank(ascending=False, method="first").astype(int).add_prefix("rank by ")
    return shares.join(ranks).rename_axis("model").reset_index().to_dict("records")


def corrected(runs: Iterable[str], benchmark: str | None) -> list[dict[Hashable, Any]]:
    """Rows of the runs' corrected.csv that have a corrected accuracy, under rule `released`."""
    named = [benchmark] if benchmark else []
    projects = map(Project, map(selection_of, runs))
    paths = (one.paths.csv("corrected", name) for one in projects for name in named or one.selection.benchmarks)
    frames = [pd.read_csv(path) for path in paths if Path(path).is_file()]
    rows = pd.concat([pd.DataFrame(columns=[*CORRECTED, "rule"]), *frames])
    known = rows.loc[(rows["rule"] == "released") & rows["corrected"].notna(), CORRECTED].astype(object)
    return known.where(known.notna(), None).to_dict("records")
