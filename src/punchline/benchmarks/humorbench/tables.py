"""HumorBench's tables and number-bearing figures, from grades of its elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from punchline.bench.chart import Chart
from punchline.bench.column import Statistics, by_answer, estimates
from punchline.bench.frame import Flags, Frame, packed
from punchline.bench.table import Across, Model, NamedRow, Row, Table, tables
from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES, NAME, summaries
from punchline.benchmarks.humorbench.agreement import agreement_rows
from punchline.benchmarks.humorbench.data import category_flags
from punchline.benchmarks.humorbench.dataset import dataset_rows, example_rows
from punchline.benchmarks.humorbench.estimates import (
    EXPLAIN,
    LEADERBOARD,
    accuracy,
    among,
    cost,
    judged,
    output_tokens,
)
from punchline.benchmarks.humorbench.hard import LEAST_ATTEMPTS, RELEASED, hardest, released_subset, whole
from punchline.benchmarks.humorbench.labels import LABELLED, LABELS, RUBRIC, VERDICTS
from punchline.core.errors import PunchlineError
from punchline.core.stats import DIFFERENCE, EXACT, RANKS, Array, Difference, Estimate, Value, mean
from punchline.core.storage import parse_csv

DEFINITIONS = ("elements", "captions")
SCORES = "external_scores.csv"
EARLIER = "41cacd4"  # the commit whose category files have the shares of the paper's table 3

Estimates = dict[str, Estimate | None]


def _row(
    across: Across, keys: Mapping[str, str], columns: Estimates, items: Flags | None = None, *, whole: bool = True
) -> Row:
    elements = across.scope.everything if items is None else items
    return Row(keys, columns, elements, (EXPLAIN,), whole=whole)


def _judges(frame: Frame) -> str:
    return " ".join(sorted(name for name in frame.judge.used() if name is not None))


def _unjudged(across: Across) -> None:
    """Notes why rows are empty."""
    silent = [m.name for m in across.models if not _judges(m.frame)]
    if silent:
        across.notes.append(
            f"No verdict on {', '.join(silent)}: choose a judge with judge=NAME (a file of config/judge/)."
        )


def _leaderboard(across: Across) -> list[NamedRow]:
    """Figure 3."""
    _unjudged(across)
    rows = []
    for model in across.models:
        columns = estimates(LEADERBOARD, model.frame, across.scope.everything) | {"cost": cost(model)}
        rows.append(NamedRow(model.name, _row(across, {"judge": _judges(model.frame)}, columns), model))
    return rows


# ------------------------------------------------------------------------------------ hard subset, categories: 3 and 4


def _hard(across: Across) -> dict[str, Flags]:
    found = {d: hardest(across.models, across.scope, d) for d in DEFINITIONS}
    if any(hard is None for hard in found.values()):
        across.notes.append(f"No hard subset: it needs elements with at least {LEAST_ATTEMPTS} verdicts of all models.")
    if RELEASED in across.files:
        found["released"] = released_subset(across.files[RELEASED], across.files[ANNOTATIONS], across.scope)
    return {definition: hard for definition, hard in found.items() if hard is not None}


def _all_ranked(across: Across) -> bool:
    """Whether the hard subset is chosen from every element."""
    if not (every := whole(across.models, across.scope)):
        across.notes.append(
            f"Not every element has {LEAST_ATTEMPTS} verdicts: the hard subset is chosen from the rest."
        )
    return every


def _table4(across: Across) -> list[NamedRow]:
    _unjudged(across)
    found = _hard(across)
    ranked = bool(found) and _all_ranked(across)
    return [
        NamedRow(
            model.name,
            _row(across, {"definition": definition}, among(model.frame, hard), hard, whole=ranked),
            model,
        )
        for definition, hard in found.items()
        for model in across.models
    ]


_difference = Difference(mean, mean, 2)


def _labels(across: Across) -> Iterator[tuple[str, str, list[bool]]]:
    """(category, where its labels are from, whether each element is of it): gold, and the paper's own labels."""
    scope = across.scope
    for category, (file, column) in CATEGORIES.items():
        yield category, "current", [bool(scope.golds[name].values[category]) for name in scope.names]
        if (earlier := f"{EARLIER}/{file}") in across.files:
            flags = list(category_flags(across.files[earlier], earlier, column).values())  # in the annotations' order
            yield category, EARLIER, [flags[int(name)] for name in scope.names]


def _table3(across: Across) -> list[NamedRow]:
    scope, hard = across.scope, _hard(across).get("elements")
    ranked = hard is None or _all_ranked(across)
    digests = packed(scope.golds[name].digest for name in scope.names)
    items, ones = np.arange(len(scope)), np.ones(len(scope))
    rows = []
    for category, labels, flags in _labels(across):
        has = np.array(flags, dtype=np.float64)
        every = Statistics(np.stack([has, ones], axis=1), items, scope.clusters, digests)
        columns = {"entire_set": every.estimate()}
        if hard is not None:
            columns["hard_subset"] = every.on(hard).estimate()
            both = every._replace(sums=np.stack([has * hard, ones * hard, has, ones], axis=1))
            columns["difference"] = both.estimate(_difference, DIFFERENCE)
        rows.append(NamedRow("elements", Row({"category": category, "labels": labels}, columns, whole=ranked)))
    return rows


# --------------------------------------------------------------------------------- other benchmarks' scores, table 2


def _spearman(which: int) -> Value:
    """Spearman's rho (0) or its two-sided p-value (1) of pairs laid side by side: [.., 2 n]."""

    def value(columns: Array) -> Array:
        from scipy.stats import spearmanr  # heavy, and needed here only

        pairs = columns.reshape(-1, 2)
        if len(pairs) < 3 or not np.ptp(pairs, axis=0).all():  # a constant has no ranks
            return np.asarray(np.nan)
        return np.asarray(spearmanr(pairs[:, 0], pairs[:, 1])[which], dtype=np.float64)

    return value


def _own_scores(content: bytes) -> dict[str, dict[str, float]]:
    """{benchmark: {model: its score}} of the user's file. Raises PunchlineError for a cell that is none."""
    scores: dict[str, dict[str, float]] = {}
    for line, cells in parse_csv(content, ("benchmark", "model", "score", "source", "date"), file=SCORES):
        for column in ("benchmark", "model", "source", "date"):
            if not cells[column].strip():
                raise PunchlineError(
                    "the cell is empty", file=SCORES, line=line, field=column, way_out="Say where the score is from"
                )
        if not re.fullmatch(r"-?\d+(\.\d+)?", cells["score"].strip(), re.ASCII):
            raise PunchlineError(f"expected a number, got {cells['score']!r}", file=SCORES, line=line, field="score")
        by_model = scores.setdefault(cells["benchmark"].strip(), {})
        if cells["model"].strip() in by_model:
            raise PunchlineError(
                f"the score of {cells['model'].strip()} is there already", file=SCORES, line=line, field="model"
            )
        by_model[cells["model"].strip()] = float(cells["score"])
    return scores


def _table2(across: Across) -> list[NamedRow]:
    measured = {m.name: e.point() or 0.0 for m in across.models if (e := accuracy.estimate(m.frame)) is not None}
    released: dict[str, float] = {}  # accuracies of the models that were replayed, by their name in the paper
    for model in across.models:
        printed = model.card.printed_as(NAME, "table2") if model.card is not None else None
        if printed is not None and model.engine == "replay" and model.name in measured:
            released.setdefault(summaries.plain(printed), measured[model.name])
    runs = summaries.summaries(across.files, summaries.MAIN)
    stated = {summaries.plain(run.explainer_model): run.pass_rate_per_row for run in runs}
    authors = {
        name: share for name, share in (summaries.PRINTED | released | stated).items() if name not in summaries.LATER
    }
    rows = []

    def add(benchmark: str, accuracies: str, own: Mapping[str, float], scores: Mapping[str, float]) -> None:
        pairs = [(own[name], scores[name]) for name in own if name in scores]
        sums = np.zeros((len(pairs), 2 * len(pairs)))
        for index, pair in enumerate(pairs):
            sums[index, 2 * index : 2 * index + 2] = pair
        columns = {
            column: Estimate(sums, _spearman(which), ["all"] * len(pairs), kind=kind)
            for which, (column, kind) in enumerate({"rho": RANKS, "p_value": EXACT}.items())
        }
        rows.append(NamedRow(benchmark, Row({"accuracies": accuracies}, columns)))

    for benchmark, scores in (_own_scores(across.files[SCORES]) if SCORES in across.files else {}).items():
        add(benchmark, "measured", measured, scores)
    for benchmark, scores in summaries.scores(across.files).items():
        add(benchmark, "measured", released, scores)
        add(benchmark, "authors", authors, scores)
    if not rows:
        across.notes.append(
            f"No scores of other benchmarks: put yours in config/humorbench/{SCORES} "
            "(columns benchmark, model, score, source, date)."
        )
        return []
    across.notes.append("n is the number of models that have both scores; p is two-sided.")
    return rows


# ------------------------------------------------------------------- thinking, tuning, searching: figures 5-7, table 6


def _option(model: Model, name: str) -> str:
    value = model.card.options.get(name) if model.card is not None else None
    return "" if value is None or value is False else str(value)


def _figure5(across: Across) -> list[NamedRow]:
    rows = []
    bases = {m.card.base for m in across.models if m.card is not None and _option(m, "thinking_budget")}
    for model in across.models:
        keys = {name: _option(model, name) for name in ("reasoning_effort", "thinking_budget")}
        if model.name in bases:
            keys["thinking_budget"] = "0"
        if any(keys.values()):
            columns = estimates([accuracy, output_tokens], model.frame, across.scope.everything)
            rows.append(NamedRow(model.name, _row(across, keys, columns), model))
    if not rows:
        across.notes.append("No selected model's card has reasoning_effort or thinking_budget.")
    return rows


def _figure7(across: Across) -> list[NamedRow]:
    rows = []
    for model in across.models:
        budget, frame = _option(model, "thinking_budget"), judged(model.frame)
        tokens = frame.value("tokens_out")
        if budget and not np.isnan(tokens).any():
            within = by_answer(frame, np.stack([tokens <= float(budget), np.ones(len(frame))], axis=1))
            columns = {"output_tokens": output_tokens.estimate(frame), "within_budget": within.estimate()}
            rows.append(NamedRow(model.name, _row(across, {"thinking_budget": budget}, columns), model))
    if not rows:
        across.notes.append("No selected model's card has a thinking_budget.")
    return rows


def _pairs(across: Across, searching: bool) -> list[tuple[Model, Model]]:
    """(variant, its base) of the selected models, those that search or the others."""
    by_name = {model.name: model for model in across.models}
    pairs = []
    for model in across.models:
        base = by_name.get(model.card.base or "") if model.card is not None else None
        if base is not None and bool(_option(model, "search")) == searching:
            pairs.append((model, base))
    if not pairs:
        what = "searching model" if searching else "tuned or thinking model"
        across.notes.append(f"The selection has no {what} together with its `base`.")
    return pairs


def _paired(variant: Model, base: Model, elements: Flags) -> Estimates:
    """Accuracies of both on the elements that both have a verdict on, and the difference."""
    frames = [judged(model.frame).on(elements) for model in (base, variant)]
    keys = [list(zip(frame.item.tolist(), frame.sample.tolist(), strict=True)) for frame in frames]
    rows = [{key: row for row, key in enumerate(own)} for own in keys]
    both = [key for key in keys[0] if key in rows[1]]
    if not both:
        return {}
    first, second = (frame.take(np.array([at[key] for key in both])) for frame, at in zip(frames, rows, strict=True))
    ones = np.ones(len(both))
    made = [by_answer(frame, np.stack([frame.value("passed"), ones], axis=1)) for frame in (first, second)]
    sums = np.concatenate([made[1].sums, made[0].sums], axis=1)
    return {
        "base": made[0].estimate(),
        "variant": made[1].estimate(),
        "difference": made[0]._replace(sums=sums).estimate(_difference, DIFFERENCE),
    }


def _figure6(across: Across) -> list[NamedRow]:
    rows = []
    for variant, base in _pairs(across, searching=False):
        found = _paired(variant, base, across.scope.everything)
        names = {"base": "base_accuracy", "variant": "accuracy", "difference": "difference"}
        columns = {names[name]: value for name, value in found.items()}
        rows.append(NamedRow(variant.name, _row(across, {"base": base.name}, columns), variant))
    return rows


def _table6(across: Across) -> list[NamedRow]:
    rows = []
    pairs = _pairs(across, searching=True)
    hard = _hard(across).get("elements") if pairs else None
    ranked = hard is None or _all_ranked(across)
    for variant, base in pairs:
        columns: Estimates = {}
        for name, elements in (("overall", across.scope.everything), ("hard", hard)):
            if elements is not None:
                found = _paired(variant, base, elements)
                columns |= {f"{name}_{'search' if one == 'variant' else one}": value for one, value in found.items()}
        rows.append(NamedRow(variant.name, _row(across, {"base": base.name}, columns, whole=ranked), variant))
    return rows


TABLES = tables(
    NAME,
    Table(
        "leaderboard",
        "HumorBench: does a model's explanation cover the joke's elements (figure 3)",
        ("accuracy", "se", "accuracy_caption_all", "accuracy_caption_some", "output_tokens", "cost"),
        keys=("judge",),
        ways=dict.fromkeys(("se", "output_tokens", "cost"), "neither"),
        tasks=(EXPLAIN,),
        across=_leaderboard,
        n_from="accuracy",
        prices=True,
        runs=(summaries.MAIN,),
        summed_up=summaries.leaderboard,
        notes=(
            "accuracy: PASS / elements with a verdict. se: one standard error over elements. caption_all: captions "
            "whose every element passed; caption_some: mean share of a caption's elements.",
            "cost: tokens x price per million, explainer and judge, unparsable verdicts included; empty where a "
            "price or a count of tokens is not known.",
        ),
    ),
    Table(
        "table1",
        "Judge against people",
        ("accuracy", "fpr", "fnr", "human_pass"),
        keys=("judge",),
        ways=dict.fromkeys(("fpr", "fnr"), "lower"),
        tasks=(EXPLAIN,),
        across=agreement_rows,
        files=(ANNOTATIONS, RUBRIC),
        runs=(*LABELLED, *VERDICTS),
        own=(LABELS,),
        notes=(
            "fpr: judge PASS among human FAIL. fnr: judge FAIL among human PASS. human_pass: share of the labels. "
            "Overall: unweighted mean of the rows that have verdicts.",
            "The paper's row of Claude cannot come from 100 explanations: of its 21 released labels FAIL 4 are 19.0 % "
            "and 5 are 23.8 %, and no other whole numbers give its three values; its verdicts were not released.",
        ),
    ),
    Table(
        "table2",
        "Spearman's rank correlation with other benchmarks",
        ("rho", "p_value"),
        keys=("accuracies",),
        ways=dict.fromkeys(("rho", "p_value"), "neither"),
        tasks=(EXPLAIN,),
        across=_table2,
        runs=(*summaries.SCORES.values(), summaries.MAIN),
        own=(SCORES,),
        notes=(
            "accuracies: measured, of the selected models; authors, as the paper's values rest on them: of the "
            "authors' summary of runs, else of the replayed run, else printed (DeepSeek V3).",
        ),
    ),
    Table(
        "table3",
        "Categories of elements in the whole set and in the hard subset",
        ("entire_set", "hard_subset", "difference"),
        keys=("category", "labels"),
        ways=dict.fromkeys(("entire_set", "hard_subset", "difference"), "neither"),
        tasks=(EXPLAIN,),
        across=_table3,
        runs=tuple(f"{EARLIER}/{file}" for file, _ in CATEGORIES.values()),
        notes=(
            f"labels: current, the released category files; {EARLIER}, those of that earlier commit, which give the "
            "paper's shares of the entire set.",
        ),
    ),
    Table(
        "table4",
        "Hard subset",
        ("accuracy", "passed"),
        keys=("definition",),
        whole=("passed",),
        tasks=(EXPLAIN,),
        across=_table4,
        files=(ANNOTATIONS,),
        runs=(RELEASED,),
        notes=(
            "elements: the 100 (caption, element) pairs that the selected models pass least often, as on the "
            "public leaderboard; captions: all elements of the 100 captions passed least often, which fits the "
            "paper's values. Both hang on which models are selected. released: the public leaderboard's own 100.",
        ),
    ),
    Table(
        "table5",
        "Hard elements that the paper shows",
        ("pass_rate",),
        keys=("cartoon",),
        tasks=(EXPLAIN,),
        across=example_rows,
        notes=("pass_rate: share of the selected models, n of them; how many the paper's rest on is not printed.",),
    ),
    Table(
        "dataset",
        "The dataset in numbers (sections 3 and 4.4)",
        (
            *("elements_collected", "elements", "pairs", "judged_explanations"),
            *("hard_elements", "hard_pass_rate_min", "hard_pass_rate_max"),
        ),
        whole=("elements_collected", "elements", "pairs", "judged_explanations", "hard_elements"),
        data_rows=dataset_rows,
        files=(ANNOTATIONS, RUBRIC),
        n_from="elements",
        notes=(
            "pairs: different captions. judged_explanations: GPT-4o's, which are among the annotation files; those "
            "of two others the paper has are among the released runs, as are Llama 4 Maverick's (table1).",
        ),
    ),
    Table(
        "table6",
        "Web search as a condition",
        (
            *("overall_base", "overall_search", "overall_difference"),
            *("hard_base", "hard_search", "hard_difference"),
        ),
        keys=("base",),
        ways=dict.fromkeys(("overall_difference", "hard_difference"), "neither"),
        tasks=(EXPLAIN,),
        across=_table6,
        notes=("Paired: elements that both have a verdict on. A searching card has search: true and its base.",),
    ),
    Table(
        "figure5",
        "Reasoning effort and thinking budget against accuracy and output tokens",
        ("accuracy", "output_tokens"),
        keys=("reasoning_effort", "thinking_budget"),
        ways=dict.fromkeys(("output_tokens",), "neither"),
        tasks=(EXPLAIN,),
        across=_figure5,
        chart=Chart(("accuracy",), x="output_tokens"),
        runs=tuple(summaries.EXPERIMENTS),
        summed_up=summaries.thinking("figure5"),
        notes=("output_tokens: mean, reasoning included.",),
    ),
    Table(
        "figure6",
        "Reasoning-tuned models and their bases",
        ("base_accuracy", "accuracy", "difference"),
        keys=("base",),
        ways=dict.fromkeys(("difference",), "neither"),
        tasks=(EXPLAIN,),
        across=_figure6,
        chart=Chart(("base_accuracy", "accuracy")),
        notes=("Paired: elements that both have a verdict on. A variant's card names its base.",),
    ),
    Table(
        "figure7",
        "Output tokens under thinking budgets",
        ("output_tokens", "within_budget"),
        keys=("thinking_budget",),
        ways=dict.fromkeys(("output_tokens", "within_budget"), "neither"),
        tasks=(EXPLAIN,),
        across=_figure7,
        chart=Chart(("output_tokens",), x="thinking_budget"),
        runs=tuple(summaries.EXPERIMENTS),
        summed_up=summaries.thinking("figure7"),
        notes=("within_budget: share of explanations with no more output tokens than the budget.",),
    ),
)
