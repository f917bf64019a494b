"""A model's answers as a frame, and estimates with their limits as columns: shared by the files on validity."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd

from punchline.artifacts.run import Run
from punchline.core import benchmark as benchmarks
from punchline.files import Keyed
from punchline.schema import Gold, Score
from punchline.scores import read_scores
from punchline.stats.estimate import FEWEST, Estimate
from punchline.stats.intervals import interval

FIELDS = ("model", "task", "condition", "rule", "item_id", "sample", "cluster", "parsed")


def limits(estimate: Estimate) -> tuple[float | None, float | None]:
    """The interval of an estimate; none under FEWEST clusters."""
    return interval(estimate) if len(estimate.cluster_names) >= FEWEST else (None, None)


def with_limits(**estimates: Estimate) -> dict[str, float | None]:
    """Three columns of each estimate: its value, and its limits by the suffixes _lo and _hi."""
    row: dict[str, float | None] = {}
    for name, estimate in estimates.items():
        row[name] = estimate.point()
        row[f"{name}_lo"], row[f"{name}_hi"] = limits(estimate)
    return row


def right(benchmark: str, score: Score, gold: Gold) -> float | None:
    """Correctness of an answer from 0 to 1; 0 where nothing can be read; of a text its ROUGE-2. None: not scored."""
    if not score.scored:
        return None
    unparsed_value = 0.0 if score.state in ("refused", "unparsable") else None
    value = benchmarks.right(benchmark, score, gold)
    return score.metrics.get("r2", unparsed_value) if value is None else value


def frame_of(run: Run, benchmark: str, scores: Iterable[Score]) -> pd.DataFrame:
    """Scores by FIELDS, `asked` (the item was asked), their metric `correct`, and `right`."""
    fields = operator.attrgetter(*FIELDS)
    gold = functools.lru_cache(Keyed(run.paths.gold(benchmark), Gold).__getitem__)  # an item's scores follow
    same: dict[Any, Any] = {}  # equal values are one object: a run has millions of rows
    rows = []
    for one in scores:
        shared = (same.setdefault(value, value) for value in fields(one))
        correct = one.metrics.get("correct")
        rows.append((*shared, bool(one.responses), correct, right(benchmark, one, gold(one.item_id))))
    types = {"asked": bool, "correct": float, "right": float}
    return pd.DataFrame(rows, columns=[*FIELDS, *types]).astype(types)


def answers(run: Run, benchmark: str, models: Iterable[str], conditions: Collection[str] | None = None) -> pd.DataFrame:
    """Answers of models as `frame_of`; `conditions`: only to questions that were asked in these ways."""
    frames = [frame_of(run, benchmark, ())]
    for model in models:
        scores = read_scores(run.paths.scores(benchmark, model), verify=False)  # the job's inputs are intact
        wanted = (one for one in scores if conditions is None or one.condition in conditions)
        frames.append(frame_of(run, benchmark, wanted).assign(model=model))
    return pd.concat(frames, ignore_index=True)
