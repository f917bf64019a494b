"""Captions that HumorBench and Hummus share: does naming the metaphor go with explaining the element?"""

from __future__ import annotations

import importlib
import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit  # scipy.stats takes half a second to import

from punchline.artifacts.run import Run
from punchline.core.benchmark import DEFAULT, module_of
from punchline.files import records_in
from punchline.schema import RULES, Item, Rule
from punchline.scores import scores_frame
from punchline.stats.estimate import ALPHA, FEWEST, REAL, Array, Estimate, influence
from punchline.stats.verdicts import cells_of
from punchline.tabulate.ranks import items_of

HUMMUS, HUMORBENCH = "hummus", "humorbench"
CELLS = ("both", "only_hummus", "only_humorbench", "neither")
COLUMNS = ("model", "task", "condition", "rule", "contests", "captions", "n", *CELLS, "odds_ratio", "lo", "hi")


def caption_of(item: Item) -> str:
    """A caption without case, punctuation and white space: the releases differ in them."""
    return re.sub(r"\W+", " ", str(item.fields["caption"]).lower()).strip()


def log_odds_ratio(cells: Array) -> Array:
    """From counts [..., CELLS], each with 0.5 added (Haldane and Anscombe)."""
    both, hummus, humorbench, neither = np.moveaxis(cells + 0.5, -1, 0)
    return np.asarray(np.log(both * neither / (hummus * humorbench)))


def link(joined: pd.DataFrame) -> dict[str, Any]:
    """Counts of answers by the flags `named` and `explained`, and their odds ratio; the interval is by `cluster`."""
    sums = cells_of(joined["named"], joined["explained"])
    counts = dict(zip(CELLS, sums.sum(axis=0).astype(int).tolist(), strict=True))
    row = {"contests": joined["cluster"].nunique(), "captions": joined["caption"].nunique(), "n": len(joined), **counts}
    if joined["named"].nunique() == joined["explained"].nunique() == 2:
        estimate = Estimate(sums, log_odds_ratio, joined["cluster"].to_numpy(), kind=REAL)
        log, half = float(log_odds_ratio(estimate.exact)), _half_width(estimate)
        row |= {"odds_ratio": math.exp(log)}
        row |= {} if half is None else {"lo": math.exp(log - half), "hi": math.exp(log + half)}
    return row


def _half_width(estimate: Estimate) -> float | None:
    """Of the 95 % interval of a log odds ratio: t, with the larger of Woolf's variance and the clusters' jackknife.

    The jackknife alone is too short where a cell is nearly empty, Woolf's where answers of a contest are alike.
    """
    moved = influence(estimate)
    if moved is None or moved.clusters < FEWEST:
        return None
    woolf = float((1 / (estimate.exact + 0.5)).sum())
    return float(stdtrit(moved.clusters - 1, 1 - ALPHA / 2)) * math.sqrt(max(woolf, moved.variance))


def rows(run: Run) -> list[dict[str, Any]]:
    """Rows of links.csv: a model, and a way in which its answers to Hummus are right, under one rule."""
    if not {HUMMUS, HUMORBENCH} <= {*run.selection.benchmarks}:
        return []
    items = {}
    for name in (HUMMUS, HUMORBENCH):
        captions = {item.item_id: caption_of(item) for item in records_in(run.paths.items(name), Item)}
        items[name] = items_of(run, name).assign(caption=pd.Series(captions))
    table_rows = []
    for model, rule in itertools.product(run.selection.models, RULES):
        hummus, humorbench = (_answers(run, name, model, rule, of) for name, of in items.items())
        table_rows += [{"model": model, **row, "rule": rule} for row in links(hummus, humorbench)]
    return table_rows


def _answers(run: Run, benchmark: str, model: str, rule: Rule, items: pd.DataFrame) -> pd.DataFrame:
    frame, _ = scores_frame(run.paths.scores(benchmark, model), items, rule)
    return frame.assign(caption=items["caption"].reindex(frame["item_id"].astype(object)).to_numpy())


def links(hummus: pd.DataFrame, humorbench: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows by task and condition of Hummus."""
    good = importlib.import_module(module_of(HUMMUS, "tables")).GOOD  # only runs with Hummus depend on its code
    default = humorbench[humorbench["condition"] == DEFAULT]
    explained = default.assign(explained=default["passed"])[["caption", "sample", "explained"]].dropna()
    named = {"classification": ("classification", hummus["tp"] + hummus["tn"])}
    for name in ("naming", "naming_minilm"):
        task, ((metric, least),) = good[name][0], good[name][1].items()
        named[name] = task, (hummus[metric] >= least).astype(float).where(hummus[metric].notna())
    for name, (task, values) in named.items():
        answers = hummus.assign(named=values)[hummus["task"] == task].dropna(subset="named")
        for condition, part in answers.groupby("condition", observed=True):
            joined = explained.merge(part[["caption", "sample", "cluster", "named"]], on=["caption", "sample"])
            if not joined.empty:
                yield {"task": name, "condition": condition, **link(joined)}
