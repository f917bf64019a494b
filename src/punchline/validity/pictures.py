"""What the picture adds: the same questions without it, paired item by item (Chen et al., MMStar, NeurIPS 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from punchline.artifacts.project import Project
from punchline.core.benchmark import DEFAULT
from punchline.core.variants import WITH_IMAGE, WITHOUT
from punchline.stats.functions import average
from punchline.stats.intervals import difference
from punchline.validity.answers import answers, with_limits

COLUMNS = (
    *("model", "task", "condition", "rule", "with_image", "without", "gain", "gain_lo", "gain_hi"),
    *("chance", "leakage", "n", "clusters"),
)
ITEM = ["rule", "task", "item_id", "sample", "cluster"]


def rows(project: Project, benchmark: str) -> list[dict[str, Any]]:
    """Rows of picture_gain.csv: a model's answers to a task with and without the picture, under one rule."""
    asked = [name for name in project.conditions(benchmark) if name in (*WITHOUT, WITH_IMAGE)]
    models = project.selection.models if asked else []
    values = {model: _values(project, benchmark, model, (DEFAULT, *asked)) for model in models}
    drawn = next((name for name in models if project.cards[name].options.get("baseline") == "random"), "")
    chance: dict[Any, float] = {}
    if drawn:  # one draw has a large error: those of all conditions
        draws = values[drawn].melt(["rule", "task"], [DEFAULT, *asked]).dropna()
        chance = draws.groupby(["rule", "task"])["value"].mean().to_dict()
    return [row for model in models for row in _gains(model, values[model], asked, chance)]


def _values(project: Project, benchmark: str, model: str, conditions: tuple[str, ...]) -> pd.DataFrame:
    """Correctness of a model's answers: a row an item (ITEM), a column a condition."""
    frame = answers(project, benchmark, model)
    frame = frame[frame["condition"].isin(conditions)]
    wide = frame.set_index([*ITEM, "condition"])["right"].unstack("condition").reset_index()
    return wide.reindex(columns=[*ITEM, *conditions])


def _gains(model: str, values: pd.DataFrame, asked: list[str], chance: dict[Any, float]) -> Iterator[dict[str, Any]]:
    """Rows of one model; `chance`: score of the baseline `random` by rule and task."""
    for (rule, task), part in values.groupby(["rule", "task"], sort=False):
        for condition in asked:
            pair = (condition, DEFAULT) if condition == WITH_IMAGE else (DEFAULT, condition)
            both = part.dropna(subset=pair)
            if both.empty and condition in WITHOUT:  # a language model sees no picture
                both = part.dropna(subset=[condition])
            if both.empty:
                continue
            shown, without = (average(both[name], both["cluster"]) for name in pair)
            base, score = chance.get((rule, task)), float(without.point() or 0.0)
            leakage = None if base is None else max(0.0, score - base)
            of = {"model": model, "task": task, "condition": condition, "rule": rule}
            of |= {"with_image": shown.point(), "without": score, "chance": base, "leakage": leakage}
            counts = {"n": len(both), "clusters": both["cluster"].nunique()}
            yield of | with_limits(gain=difference(shown, without)) | counts
