"""HumorBench's accuracies against other benchmarks' scores: Spearman's rank correlation (table 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from punchline.benchmarks.humorbench import NAME, summaries
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.stats.estimate import EXACT, RANKS, Array, Estimate, Value
from punchline.stats.functions import mean
from punchline.tables.declare import Across, Row

SCORES = "external_scores.csv"  # the user's, in config/humorbench/
COLUMNS = ("benchmark", "model", "score", "source", "date")
Accuracies = dict[str, float]  # or another benchmark's scores, by model


def _spearman(which: int) -> Value:
    """Spearman's rho (0) or its two-sided p-value (1) of pairs laid side by side: [.., 2 n]."""

    def value(sums: Array) -> Array:
        from scipy.stats import spearmanr  # heavy, and needed here only

        pairs = sums.reshape(-1, 2)
        if len(pairs) < 3 or not np.ptp(pairs, axis=0).all():  # a constant has no ranks
            return np.asarray(np.nan)
        return np.asarray(spearmanr(pairs[:, 0], pairs[:, 1])[which], dtype=np.float64)

    return value


def own_scores(content: bytes) -> dict[str, Accuracies]:
    """{benchmark: {model: its score}} of the user's file. Raises PunchlineError for a cell that is none."""
    scores: dict[str, Accuracies] = {}
    for line, cells in parse_csv(content, COLUMNS, file=SCORES):
        for column in ("benchmark", "model", "source", "date"):
            if not cells[column].strip():
                hint = "Say where the score is from"
                raise PunchlineError("the cell is empty", file=SCORES, line=line, field=column, hint=hint)
        if not re.fullmatch(r"-?\d+(\.\d+)?", cells["score"].strip(), re.ASCII):
            raise PunchlineError(f"expected a number, got {cells['score']!r}", file=SCORES, line=line, field="score")
        model, by_model = cells["model"].strip(), scores.setdefault(cells["benchmark"].strip(), {})
        if model in by_model:
            raise PunchlineError(f"the score of {model} is there already", file=SCORES, line=line, field="model")
        by_model[model] = float(cells["score"])
    return scores


def _accuracies(across: Across) -> dict[str, Accuracies]:
    """Accuracies of the selected models, of those that were replayed (by their name in the paper), of the authors'."""
    estimates = {model.name: mean(model.scores, "passed") for model in across.models}
    measured = {name: estimate.point() or 0.0 for name, estimate in estimates.items() if estimate.n}
    released: Accuracies = {}
    for model in across.models:
        printed = model.card.printed_as(NAME, "table2") if model.card is not None else None
        if printed is not None and model.engine == "replay" and model.name in measured:
            released.setdefault(summaries.plain(printed), measured[model.name])
    runs = summaries.summaries(across.files, summaries.MAIN)
    authors = (
        summaries.PRINTED | released | {summaries.plain(run.explainer_model): run.pass_rate_per_row for run in runs}
    )
    authors = {name: share for name, share in authors.items() if name not in summaries.LATER}
    return {"measured": measured, "released": released, "authors": authors}


def _row(benchmark: str, source: str, accuracies: Mapping[str, float], scores: Mapping[str, float]) -> Row:
    pairs = [(accuracies[name], scores[name]) for name in accuracies if name in scores]
    sums = np.zeros((len(pairs), 2 * len(pairs)))
    for index, pair in enumerate(pairs):
        sums[index, 2 * index : 2 * index + 2] = pair
    rho, p_value = (
        Estimate(sums, _spearman(which), ["all"] * len(pairs), kind=kind) for which, kind in enumerate((RANKS, EXACT))
    )
    return Row(model=benchmark, accuracies=source, rho=rho, p_value=p_value)


def correlation_rows(across: Across) -> Iterator[Row]:
    """Table 2: the user's scores of other benchmarks, then the released ones."""
    own = own_scores(across.files[SCORES]) if SCORES in across.files else {}
    published = summaries.scores(across.files)
    accuracies = _accuracies(across)
    for benchmark, scores in own.items():
        yield _row(benchmark, "measured", accuracies["measured"], scores)
    for benchmark, scores in published.items():
        yield _row(benchmark, "measured", accuracies["released"], scores)
        yield _row(benchmark, "authors", accuracies["authors"], scores)
    across.notes.append(
        "n is the number of models that have both scores; p is two-sided."
        if own or published
        else f"No scores of other benchmarks: put yours in config/humorbench/{SCORES} (columns {', '.join(COLUMNS)})."
    )
