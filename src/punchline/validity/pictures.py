"""Gain by the picture: the same questions without it, paired item by item (Chen et al., MMStar, NeurIPS 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from punchline.artifacts.run import Run
from punchline.core.benchmark import DEFAULT
from punchline.core.variants import WITH_IMAGE, WITHOUT
from punchline.stats.functions import average
from punchline.stats.intervals import difference
from punchline.validity.answers import answers, with_limits

GAIN = ("with_image", "without", "gain", "gain_lo", "gain_hi", "chance", "leakage", "n", "clusters")
COLUMNS = ("model", "task", "condition", "rule", *GAIN)
ITEM = ["model", "rule", "task", "item_id", "sample", "cluster"]


def rows(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of picture_gain.csv: a model's answers to a task with and without the picture, under one rule."""
    conditions = [name for name in run.conditions(benchmark) if name in (*WITHOUT, WITH_IMAGE)]
    models = run.selection.models if conditions else ()
    frame = answers(run, benchmark, models, (DEFAULT, *conditions))
    draws = [name for name in models if run.cards[name].options.get("baseline") == "random"][:1]
    drawn = frame[frame["model"].isin(draws)]  # one draw has a large error: those of all conditions
    chance = drawn.groupby(["rule", "task"])["right"].mean().to_dict()
    return [row for model in models for row in _gains(frame[frame["model"] == model], conditions, chance)]


def _gains(frame: pd.DataFrame, conditions: list[str], chance: dict[Any, float]) -> Iterator[dict[str, Any]]:
    """Rows of one model; `chance`: score of the baseline `random` by rule and task."""
    values = frame.set_index([*ITEM, "condition"])["right"].unstack("condition")
    values = values.reindex(columns=[DEFAULT, *conditions]).reset_index()
    for (model, rule, task), part in values.groupby(ITEM[:3], sort=False):
        for condition in conditions:
            pair = (condition, DEFAULT) if condition == WITH_IMAGE else (DEFAULT, condition)
            both = part.dropna(subset=pair)
            if both.empty and condition in WITHOUT:  # a language model sees no picture
                both = part.dropna(subset=[condition])
            if both.empty:
                continue
            with_picture, without = (average(both[name], both["cluster"]) for name in pair)
            base, score = chance.get((rule, task)), float(without.point() or 0.0)
            leakage = None if base is None else max(0.0, score - base)
            of = {"model": model, "task": task, "condition": condition, "rule": rule}
            of |= {"with_image": with_picture.point(), "without": score, "chance": base, "leakage": leakage}
            counts = {"n": len(both), "clusters": both["cluster"].nunique()}
            yield of | with_limits(gain=difference(with_picture, without)) | counts
