"""HumorBench's accuracies against other benchmarks' scores: Spearman's rank correlation (table 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
import numpy as np

from punchline.benchmarks.annotations import Filled, csv_rows
from punchline.benchmarks.humorbench import NAME, summaries
from punchline.benchmarks.humorbench.estimates import across_models
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.stats.estimate import EXACT, RANKS, Array, Estimate, Value
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


def _spearman(which: int) -> Value:
    """Spearman's rho (0) or its two-sided p-value (1) of concatenated pairs: [.., 2 n]."""

    def value(sums: Array) -> Array:
        from scipy.stats import spearmanr  # heavy, and needed here only

        pairs = sums.reshape(-1, 2)
        if len(pairs) < 3 or not np.ptp(pairs, axis=0).all():  # a constant has no ranks
            return np.asarray(np.nan)
        return np.asarray(spearmanr(pairs[:, 0], pairs[:, 1])[which], dtype=np.float64)

    return value


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
    estimates = {model.name: mean(model.scores, "passed") for model in across.models}
    measured = {name: estimate.point() or 0.0 for name, estimate in estimates.items() if estimate.n}
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
    sums = np.repeat(np.eye(len(pairs)), 2, axis=1) * np.ravel(pairs)  # each pair in columns of its own
    clusters = ["all"] * len(pairs)
    rho, p_value = (Estimate(sums, _spearman(n), clusters, kind=kind) for n, kind in enumerate((RANKS, EXACT)))
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
    columns = ", ".join(Score.__struct_fields__)
    across.notes.append(
        "n is the number of models that have both scores; p is two-sided."
        if user_scores or published
        else f"No scores of other benchmarks: put yours in config/humorbench/{SCORES} (columns {columns})."
    )
