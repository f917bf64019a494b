"""Columns of Hummus's tables, from the scores of one model's answers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from punchline.benchmarks.hummus.dataset import F1
from punchline.stats.estimate import COEFFICIENT, PERCENT, SHARE, Array, Estimate, Kind, Value
from punchline.stats.functions import Flags, blocks, empty, mean, metric, sd, statistic

COUNTS = ("tp", "fp", "fn", "tn")
THREE_F1 = {f"classification_{which}": which for which in ("pos", "neg", "avg")}

Columns = dict[str, Estimate]


def success(part: pd.DataFrame) -> Estimate:
    """Percentage of answers with a parsed text; refusals are in the denominator."""
    return mean(part, "success", PERCENT, scale=100)


def _counts(part: pd.DataFrame) -> tuple[Array, Flags]:
    """(true and false positives and negatives, [rows, 4]; the rows that have them)."""
    counts = np.stack([metric(part, name) for name in COUNTS], axis=1)
    return counts, np.asarray(~np.isnan(counts).any(axis=1), dtype=np.bool_)


def classification(part: pd.DataFrame, **columns: str) -> Columns:
    """F1 by column of the positive class (pos), the negative one (neg) or their mean (avg), and the success rate."""
    counts, read = _counts(part)
    f1 = {name: statistic(part, counts, F1[which], where=read) for name, which in columns.items()}
    return f1 | {"classification_success": success(part)}


def over_prompts(part: pd.DataFrame, value: Value, kind: Kind = SHARE, *, least: int = 1) -> Estimate:
    """A function of the counts of each prompt with answers, a block each; empty for fewer than `least` prompts."""
    counts, read = _counts(part)
    return blocks(part, counts, read, "task", value, kind) if part.task[read].nunique() >= least else empty(part)


def number_of_prompts(sums: Array) -> Array:
    """Number of blocks."""
    return np.full(sums.shape[:-1], sums.shape[-1] / len(COUNTS))


def _means(scores: pd.DataFrame, task: str, metrics: dict[str, str], kind: Kind = SHARE) -> Columns:
    """Mean and SD of a task's metrics, {column: metric}, and the task's success rate."""
    part = scores[scores.task == task]
    made: Columns = {}
    for name, of in metrics.items():
        made |= {name: mean(part, of, kind), f"{name}_sd": sd(part, of)}
    return made | {f"{task}_success": success(part)}


def cosine(scores: pd.DataFrame, task: str) -> Columns:
    """Similarity by LaBSE as `task`, by the packaged MiniLM as `task`_minilm."""
    return _means(scores, task, {task: "cosine", f"{task}_minilm": "cosine_minilm"}, COEFFICIENT)


def overlap(scores: pd.DataFrame, task: str, *metrics: str) -> Columns:
    """Overlap of boxes or words with gold."""
    return _means(scores, task, {f"{task}_{name}": name for name in metrics})


def rouge(scores: pd.DataFrame, *kinds: str) -> Columns:
    """ROUGE of explanations."""
    return _means(scores, "explanation", {kind: kind for kind in kinds})
