"""Questions and verdicts asked several times: agreement of a model or a judge with itself, and two standard errors.

Standard errors of items and of sampling: Miller, "Adding Error Bars to Evals" (2024).
"""

from __future__ import annotations

import functools
import math
from itertools import chain
from typing import Any

import pandas as pd
from msgspec.structs import replace

from punchline.artifacts.passes import JUDGE
from punchline.artifacts.run import Run
from punchline.core.benchmark import Verdict
from punchline.files import Keyed
from punchline.requests import exchanges, exchanges_in_pass
from punchline.schema import Gold, Item
from punchline.score import score
from punchline.stats.estimate import FEWEST, REAL, influence
from punchline.stats.functions import average
from punchline.validity.answers import answers, frame_of

GROUP = ["model", "task", "condition", "rule"]
COLUMNS = (*GROUP, "n_items", "samples", "agreement", "se_items", "se_sampling", "value")
VERDICTS = ("item_id", *GROUP, "sample", "judge", "verdicts", "passed", "disagreement", "flag")
MOST = 0.3  # disagreement of an element's verdicts (HumorBench, section 3.4)


def rows(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of repeats.csv: models whose questions, and judges whose verdicts, were asked several times."""
    frames = [frame.assign(task=f"{JUDGE}: " + frame["task"]) for frame in _judged(run, benchmark)]
    if run.selection.samples > 1:
        frames.append(_scored(run, benchmark, answers(run, benchmark, run.selection.models)))
    groups = (pair for frame in frames for pair in frame.groupby(GROUP, sort=False))
    return [dict(zip(GROUP, keys, strict=True)) | row for keys, part in groups if (row := statistics(part))]


def verdicts(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of verdicts.csv: a judge's verdicts on one answer, the least agreement first."""
    frames, answer = _judged(run, benchmark), ["item_id", *GROUP, "sample"]
    rows = []
    for keys, part in (pair for frame in frames for pair in frame.groupby(answer, sort=False)):
        shares = part["answer"].value_counts(normalize=True)
        row = dict(zip(VERDICTS, (*keys, part["judge"].iloc[0], len(part), part["right"].mean()), strict=False))
        disagreement = 1 - float(shares.max())
        rows.append(row | {"disagreement": disagreement, "flag": "review" if disagreement > MOST else ""})
    return sorted(rows, key=lambda row: -row["disagreement"])


def statistics(part: pd.DataFrame) -> dict[str, Any]:
    """Columns of repeats.csv but GROUP, over items with several answers; {} without one.

    `part`: item_id, sample, cluster, answer, right. Agreement: of two answers to the same question, over items.
    """
    unit = ["item_id", "sample"] if "judge" in part else ["item_id"]
    items = part.groupby(unit, sort=False).agg(
        cluster=("cluster", "first"), n=("right", "size"), mean=("right", "mean"), variance=("right", "var")
    )
    squares = part.groupby([*unit, "answer"], sort=False).size().pow(2).groupby(unit, sort=False).sum()
    items["agreement"] = (squares - items["n"]) / (items["n"] * (items["n"] - 1))
    items = items[items["n"] > 1]
    if items.empty:
        return {}
    sampling = float((items["variance"] / items["n"]).sum()) / len(items) ** 2
    moved = influence(average(items["mean"], items["cluster"].tolist(), REAL))
    enough = moved is not None and items["cluster"].nunique() >= FEWEST
    return {
        "n_items": len(items),
        "samples": int(items["n"].max()),
        "agreement": float(items["agreement"].mean()),
        "se_items": math.sqrt(max(0.0, moved.variance - sampling)) if moved is not None and enough else None,
        "se_sampling": math.sqrt(sampling),
        "value": float(items["mean"].mean()),
    }


@functools.lru_cache(maxsize=1)  # of two files
def _judged(run: Run, benchmark: str) -> list[pd.DataFrame]:
    """Verdicts on the answers of each model whose judge gives several."""
    return [_of_judge(run, benchmark, model) for model in run.judged_repeatedly(benchmark)]


def _of_judge(run: Run, benchmark: str, model: str) -> pd.DataFrame:
    """A judge's verdicts on a model's answers, each scored as if it were the only one."""
    where, judge = run.paths, run.passes(benchmark, model)[JUDGE]
    items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
    by_sample: dict[int, dict[str, Verdict]] = {}
    for request, response in exchanges_in_pass(run, benchmark, JUDGE, model):
        first = replace(request, sample=0).request_id
        by_sample.setdefault(request.sample, {})[first] = Verdict(judge, response)
    loaded = run.benchmark(benchmark)
    every = (score(loaded, model, items, golds, exchanges(run, benchmark, model), of) for of in by_sample.values())
    scores = (made for made in chain.from_iterable(every) if made.judge == judge)
    return _scored(run, benchmark, frame_of(run, benchmark, scores)).assign(judge=judge)


def _scored(run: Run, benchmark: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Scored answers with the column `answer`: the label that was chosen; of a text, its correctness."""
    frame, closed = frame.dropna(subset="right"), [*run.benchmark(benchmark).CLOSED]
    return frame.assign(answer=frame["parsed"].where(frame["task"].isin(closed), frame["right"]).map(str))
