"""HumorBench's accuracies against other benchmarks' scores: Spearman's rank correlation (table 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated

import msgspec
import numpy as np

from punchline.benchmarks.annotations import Filled, csv_rows
from punchline.benchmarks.humorbench import NAME, summaries
from punchline.benchmarks.humorbench.estimates import across_models
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.stats.estimate import EXACT, RANKS, Array, Estimate
from punchline.stats.functions import mean
from punchline.tables.declare import Across, Row

SCORES = "external_scores.csv"  # the user's, in config/humorbench/
Accuracies = dict[str, float]  # or another benchmark's scores, by model


class Score(msgspec.Struct, frozen=True):
    """One row of the user's scores of other benchmarks."""

    benchmark: Filled
    model: Filled
    score: Annotated[str, msgspec.Meta(pattern=r"^\s*-?[0-9]+(\.[0-9]+)?\s*$", title="a number")]
    source: Filled
    date: Filled


def _known(value: float, sums: Array) -> Array:
    return np.asarray(value)


def spearman(pairs: Array) -> Iterator[Estimate]:
    """Spearman's rho of pairs [n, 2], then its two-sided p-value."""
    from scipy.stats import spearmanr  # heavy, and needed here only

    ranked = len(pairs) > 2 and np.ptp(pairs, axis=0).all()  # a constant has no ranks
    values = spearmanr(pairs[:, 0], pairs[:, 1]) if ranked else (np.nan, np.nan)
    for value, kind in zip(values, (RANKS, EXACT), strict=True):
        yield Estimate(pairs, partial(_known, value), ["all"] * len(pairs), kind=kind)


def own_scores(files: Files) -> dict[str, Accuracies]:
    """{benchmark: {model: its score}} of the user's file, if any. Raises PunchlineError for an invalid cell."""
    scores: dict[str, Accuracies] = {}
    for line, row in csv_rows(files, SCORES, Score) if SCORES in files else ():
        model, by_model = row.model.strip(), scores.setdefault(row.benchmark.strip(), {})
        if model in by_model:
            raise PunchlineError(f"the score of {model} is there already", file=SCORES, line=line, field="model")
        by_model[model] = float(row.score)
    return scores


def _accuracies(across: Across) -> dict[str, Accuracies]:
    """Accuracies of the selected models, of replayed ones (by their name in the paper), of the authors' summaries."""
    measured = {m.name: point for m in across.models if (point := mean(m.scores, "passed").point()) is not None}
    released: Accuracies = {}
    for model in across.models:
        printed = model.card.printed_as(NAME, "table2") if model.card is not None else None
        if printed is not None and model.engine == "replay" and model.name in measured:
            released.setdefault(summaries.plain(printed), measured[model.name])
    runs = summaries.summaries(across.files, summaries.MAIN)
    stated = {summaries.plain(run.explainer_model): run.accuracy for run in runs}
    authors = summaries.PRINTED | released | stated
    authors = {name: share for name, share in authors.items() if name not in summaries.LATER}
    return {"measured": measured, "released": released, "authors": authors}


def _row(benchmark: str, source: str, accuracies: Mapping[str, float], scores: Mapping[str, float]) -> Row:
    pairs = [(accuracies[name], scores[name]) for name in accuracies if name in scores]
    rho, p_value = spearman(np.reshape(pairs, (-1, 2)))
    return Row(model=benchmark, accuracies=source, rho=rho, p_value=p_value)


@across_models("table2", runs=(*summaries.SCORES.values(), summaries.MAIN), own=(SCORES,))
def rank_correlation(across: Across) -> Iterator[Row]:
    """Table 2: the user's scores of other benchmarks, then the released ones."""
    user_scores, published, accuracies = own_scores(across.files), summaries.scores(across.files), _accuracies(across)
    for benchmark, scores in user_scores.items():
        yield _row(benchmark, "measured", accuracies["measured"], scores)
    for benchmark, scores in published.items():
        yield _row(benchmark, "measured", accuracies["released"], scores)
        yield _row(benchmark, "authors", accuracies["authors"], scores)
    note = "n is the number of models that have both scores; p is two-sided."
    if not (user_scores or published):
        columns = ", ".join(Score.__struct_fields__)
        note = f"No scores of other benchmarks: put yours in config/humorbench/{SCORES} (columns {columns})."
    across.notes.append(note)
