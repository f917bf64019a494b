"""Items to look at first: no model right, better models wrong more often, or all models right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from punchline.artifacts.lineage import kind_of
from punchline.artifacts.run import Run
from punchline.schema import ModelCard
from punchline.validity.answers import answers

COLUMNS = ("item_id", "task", "condition", "rule", "n_models", "share_right", "discrimination", "flag")
MODELS = 5  # fewer models say nothing about an item
GROUP = ["task", "condition", "rule"]
FLAGS = ("none_right", "negative", "all_right", "")  # in the order of the rows


def measured(run: Run) -> list[ModelCard]:
    """The selected models without baselines; only baselines if there is nothing else."""
    cards = list(run.cards.values())
    return [card for card in cards if kind_of(card) == "measured"] or cards


def item_statistics(scored: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Share right and item-rest correlation of each item over models, per task, condition and rule."""
    for keys, part in scored.groupby(GROUP):
        models = part.pivot_table(index="model", columns="item_id", values="right", sort=False)  # mean of samples
        rest = models.rsub(models.sum(axis=1), axis=0).div(models.count(axis=1) - 1, axis=0)  # mean of other items
        with np.errstate(invalid="ignore", divide="ignore"):  # constant items have no correlation
            discrimination = models.corrwith(rest)
        for item, share, n, r in zip(models, models.mean(), models.count(), discrimination, strict=True):
            if n >= MODELS:
                row = {"item_id": item, **dict(zip(GROUP, keys, strict=True)), "n_models": n, "share_right": share}
                yield row | {"discrimination": None if np.isnan(r) else float(r), "flag": _flag(share, r)}


def _flag(share: float, discrimination: float) -> str:
    if share in (0, 1):
        return "all_right" if share else "none_right"
    return "negative" if discrimination < 0 else ""


def rows(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of items.csv: flagged items first; none in a run with fewer than MODELS models."""
    models = [card.name for card in measured(run)]
    if len(models) < MODELS:
        return []
    columns = ["model", "item_id", *GROUP, "right"]  # read model by model: the frame of all columns is large
    frames = (answers(run, benchmark, [model])[columns].dropna(subset="right") for model in models)
    statistics = item_statistics(pd.concat(frames, ignore_index=True))
    return sorted(statistics, key=lambda row: (FLAGS.index(row["flag"]), row["discrimination"] or 0, row["item_id"]))
