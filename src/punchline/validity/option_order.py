"""Option order: every rotation of the options is asked; all right, and positions that a model prefers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from scipy.stats import chisquare

from punchline.artifacts.project import Project
from punchline.core.benchmark import DEFAULT
from punchline.core.variants import CIRCULAR, ROTATION
from punchline.scores import read_scores
from punchline.stats.functions import average
from punchline.validity.pictures import FEWEST, limits

LETTERS = "ABCDE"
COLUMNS = (
    *("model", "task", "rule", "n_items", "n_rotations", "clusters", "accuracy", "accuracy_all"),
    *("accuracy_all_lo", "accuracy_all_hi", *(f"share_{letter}" for letter in LETTERS), "chi2", "p"),
)
ITEM = ["item_id", "sample", "cluster"]


def rows(project: Project, benchmark: str) -> list[dict[str, Any]]:
    """Rows of option_order.csv: a model's choices in one task under one rule, over all rotations."""
    if CIRCULAR not in project.conditions(benchmark):
        return []
    return [row for model in project.selection.models for row in _of_model(project, benchmark, model)]


def _of_model(project: Project, benchmark: str, model: str) -> Iterator[dict[str, Any]]:
    tasks = project.benchmark(benchmark).OPTIONS
    found = [
        (score.task, score.rule, score.item_id, score.sample, score.cluster, score.metrics.get("correct"), score.parsed)
        for score in read_scores(project.paths.scores(benchmark, model))
        if score.responses  # without any the item was not asked
        and score.task in tasks
        and (score.condition == DEFAULT or ROTATION.fullmatch(score.condition))
    ]
    frame = pd.DataFrame(found, columns=["task", "rule", *ITEM, "correct", "parsed"])
    for (task, rule), part in frame.groupby(["task", "rule"], sort=False):
        correct = part.groupby(ITEM)["correct"]
        part["rotations"] = correct.transform("size")
        whole = part[(correct.transform("count") == part["rotations"]) & (part["rotations"] > 1)]
        if not whole.empty:
            yield {"model": model, "task": task, "rule": rule} | _accuracies(whole) | _positions(whole)


def _accuracies(whole: pd.DataFrame) -> dict[str, Any]:
    """Columns of items whose rotations are all scored: a row a rotation."""
    items = whole.groupby(ITEM)["correct"].agg(["size", "mean", "min"]).reset_index()
    strict, n_clusters = average(items["min"], items["cluster"]), items["cluster"].nunique()
    counts = (len(items), int(items["size"].max()), n_clusters)
    found = (*counts, float(items["mean"].mean()), strict.point(), *limits(strict))
    return dict(zip(COLUMNS[3:10], found, strict=True))


def _positions(whole: pd.DataFrame) -> dict[str, float]:
    """Shares of the chosen positions, and a chi-square test of their being equal; no test under FEWEST clusters."""
    answers = whole[whole["parsed"].notna()]
    letters = LETTERS[: int(whole["rotations"].max())]
    chosen = [int((answers["parsed"].str[0] == letter).sum()) for letter in letters]
    offered = [float((1 / answers["rotations"])[answers["rotations"] > place].sum()) for place in range(len(letters))]
    if not sum(chosen):
        return {}
    shares = {f"share_{letter}": n / len(answers) for letter, n in zip(letters, chosen, strict=True)}
    if whole["cluster"].nunique() < FEWEST:
        return shares
    tested = chisquare(chosen, offered)
    return shares | {"chi2": float(tested.statistic), "p": float(tested.pvalue)}
