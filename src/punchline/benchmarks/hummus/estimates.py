"""Estimates that Hummus's tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from punchline.core.records import Gold, Grade, Item
from punchline.core.stats import Array, Estimate, mean

Items = Mapping[str, Item]
Golds = Mapping[str, Gold]
Value = Callable[[Array], Array]

GOOD = {  # section 6.1: thresholds of a good answer
    "naming": (("cosine", 0.6),),
    "image_bbox": (("iou", 0.5),),
    "image_label": (("cosine", 0.6),),
    "explanation": (("rouge1", 0.35), ("rouge2", 0.087)),
}


def estimate(grades: Sequence[Grade], items: Items, sums: Array, value: Value) -> Estimate:
    return Estimate(
        sums=sums,
        value=value,
        clusters=[items[grade.item_id].cluster for grade in grades],
        grades=[grade.digest for grade in grades],
    )


def _f1(columns: Array, right: int) -> Array:
    """F1 of sums (tp, fp, fn, tn) for the positive class (right = 0) or the negative one (3)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        twice = 2 * columns[..., right]
        return np.asarray(twice / (twice + columns[..., 1] + columns[..., 2]), dtype=np.float64)


def _averaged(columns: Array) -> Array:
    """The unweighted mean of both classes' F1."""
    return (_f1(columns, 0) + _f1(columns, 3)) / 2


F1: dict[str, Value] = {"pos": lambda c: _f1(c, 0), "neg": lambda c: _f1(c, 3), "avg": _averaged}
COUNTS = ("tp", "fp", "fn", "tn")


def over_blocks(value: Value, blocks: int, spread: bool = False) -> Value:
    """Mean (or population SD) of `value` over `blocks` blocks of four sums."""

    def over(columns: Array) -> Array:
        values = value(columns.reshape(*columns.shape[:-1], blocks, 4))
        return np.asarray(values.std(axis=-1) if spread else values.mean(axis=-1), dtype=np.float64)

    return over


def answers_to(grades: Sequence[Grade], task: str, condition: str) -> list[Grade]:
    return [grade for grade in grades if grade.task == task and grade.condition == condition]


def f1(grades: Sequence[Grade], items: Items, task: str, condition: str) -> dict[str, Estimate | None]:
    """F1 of the positive class, of the negative one and their mean, over the answers that could be read."""
    scored = [grade for grade in answers_to(grades, task, condition) if "tp" in grade.values]
    sums = np.array([[grade.values[name] for name in COUNTS] for grade in scored]).reshape(-1, 4)
    return {name: estimate(scored, items, sums, value) if scored else None for name, value in F1.items()}


def _deviation(columns: Array) -> Array:
    """Population SD from sums (x, 1, x squared)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = columns[..., 2] / columns[..., 1] - (columns[..., 0] / columns[..., 1]) ** 2
        return np.asarray(np.sqrt(np.maximum(variance, 0)), dtype=np.float64)


def score(
    grades: Sequence[Grade], items: Items, task: str, condition: str, value: str, column: str
) -> dict[str, Estimate | None]:
    """{column: mean, column_sd: SD} of a value over the answers that have it."""
    scored = [grade for grade in answers_to(grades, task, condition) if value in grade.values]
    if not scored:
        return {column: None, f"{column}_sd": None}
    found = np.array([grade.values[value] for grade in scored])
    sums = np.stack([found, np.ones_like(found), found**2], axis=1)
    return {
        column: estimate(scored, items, sums[:, :2], mean),
        f"{column}_sd": estimate(scored, items, sums, _deviation),
    }


def cosine(grades: Sequence[Grade], items: Items, task: str, condition: str) -> dict[str, Estimate | None]:
    """Similarity by LaBSE as `task`, by the stand-in as `task`_minilm, each with its SD."""
    return score(grades, items, task, condition, "cosine", task) | score(
        grades, items, task, condition, "cosine_minilm", f"{task}_minilm"
    )


def percent(columns: Array) -> Array:
    return 100 * mean(columns)


def share(grades: Sequence[Grade], items: Items, hits: Sequence[bool]) -> Estimate | None:
    if not grades:
        return None
    sums = np.array([[float(hit), 1.0] for hit in hits])
    return estimate(grades, items, sums, percent)


def success(grades: Sequence[Grade], items: Items, task: str, condition: str) -> dict[str, Estimate | None]:
    """Percentage of the answers from which something could be read, refusals among the others."""
    asked = [grade for grade in answers_to(grades, task, condition) if "success" in grade.values]
    return {f"{task}_success": share(asked, items, [grade.values["success"] > 0 for grade in asked])}


def good(grades: Sequence[Grade], items: Items, task: str, condition: str, suffix: str = "") -> Estimate | None:
    """Percentage of scored answers that reach the paper's threshold."""
    needed = [(name + (suffix if name == "cosine" else ""), least) for name, least in GOOD[task]]
    scored = [grade for grade in answers_to(grades, task, condition) if all(name in grade.values for name, _ in needed)]
    return share(scored, items, [all(grade.values[name] >= least for name, least in needed) for grade in scored])
