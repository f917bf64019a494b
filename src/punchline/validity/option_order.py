"""Option order: every rotation of the options is asked; all right, and positions that a model prefers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from punchline.artifacts.run import Run
from punchline.core.benchmark import DEFAULT
from punchline.core.variants import CIRCULAR, ROTATION
from punchline.stats.estimate import FEWEST
from punchline.stats.functions import average
from punchline.validity.answers import answers, with_limits

LETTERS = "ABCDE"
COLUMNS = (
    *("model", "task", "rule", "n_items", "n_rotations", "clusters", "accuracy", "accuracy_all"),
    *("accuracy_all_lo", "accuracy_all_hi", *(f"share_{letter}" for letter in LETTERS), "chi2", "p"),
)
GROUP, ITEM = ["model", "task", "rule"], ["item_id", "sample", "cluster"]


def rows(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of option_order.csv: a model's choices in one task under one rule, over all rotations."""
    is_circular = CIRCULAR in run.conditions(benchmark)
    frame = answers(run, benchmark, run.selection.models if is_circular else ())
    frame = frame[frame["asked"] & frame["task"].isin([*run.benchmark(benchmark).OPTIONS])]
    frame = frame[(frame["condition"] == DEFAULT) | frame["condition"].str.fullmatch(ROTATION)]
    correct = frame.groupby([*GROUP, *ITEM], sort=False)["correct"]
    frame["rotations"] = correct.transform("size")
    whole = frame[(correct.transform("count") == frame["rotations"]) & (frame["rotations"] > 1)]
    groups = whole.groupby(GROUP, sort=False)
    return [dict(zip(GROUP, keys, strict=True)) | _accuracies(part) | _positions(part) for keys, part in groups]


def _accuracies(whole: pd.DataFrame) -> dict[str, Any]:
    """Columns of items whose rotations are all scored: a row a rotation."""
    items = whole.groupby(ITEM)["correct"].agg(["size", "mean", "min"]).reset_index()
    counts = {"n_items": len(items), "n_rotations": int(items["size"].max()), "clusters": items["cluster"].nunique()}
    mean, strict = float(items["mean"].mean()), average(items["min"], items["cluster"])
    return {**counts, "accuracy": mean, **with_limits(accuracy_all=strict)}


def _positions(whole: pd.DataFrame) -> dict[str, float]:
    """Shares of the chosen positions, and a chi-square test of their being equal; no test under FEWEST clusters."""
    read = whole[whole["parsed"].notna()]
    letters = LETTERS[: int(whole["rotations"].max())]
    chosen = [int((read["parsed"].str[0] == letter).sum()) for letter in letters]
    offered = [float((1 / read["rotations"])[read["rotations"] > place].sum()) for place in range(len(letters))]
    if not sum(chosen):
        return {}
    shares = {f"share_{letter}": n / len(read) for letter, n in zip(letters, chosen, strict=True)}
    if whole["cluster"].nunique() < FEWEST:
        return shares
    from scipy.stats import chisquare  # takes half a second to import

    tested = chisquare(chosen, offered)
    return shares | {"chi2": float(tested.statistic), "p": float(tested.pvalue)}
