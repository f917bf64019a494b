"""HumorBench's tables and number-bearing figures, from grades of its elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from punchline.bench.table import Across, Graded, NamedRow, Row, Table
from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.agreement import agreement_rows
from punchline.benchmarks.humorbench.estimates import (
    Items,
    Value,
    accuracy,
    by_caption,
    cost,
    estimate,
    judged,
    output_tokens,
    standard_error,
)
from punchline.benchmarks.humorbench.hard import LEAST_ATTEMPTS, hardest
from punchline.benchmarks.humorbench.labels import LABELS, RUBRIC
from punchline.core.errors import PunchlineError
from punchline.core.records import Grade
from punchline.core.stats import Array, Estimate, mean, total
from punchline.core.storage import parse_csv

DEFINITIONS = ("elements", "captions")
SCORES = "external_scores.csv"


def _all(passed: Sequence[float]) -> float:
    return float(all(passed))


def _some(passed: Sequence[float]) -> float:
    return sum(passed) / len(passed)


def _scope(items: Items) -> frozenset[str]:
    return frozenset(items)


def _judges(grades: Iterable[Grade]) -> str:
    return " ".join(sorted({grade.judge for grade in grades if grade.judge is not None}))


def _unjudged(across: Across) -> None:
    """Notes why rows are empty."""
    silent = [m.name for m in across.models if not _judges(m.grades)]
    if silent:
        across.notes.append(
            f"No verdict on {', '.join(silent)}: choose a judge with judge=NAME (a file of config/judge/)."
        )


# --------------------------------------------------------------------------------------------- figure 3, leaderboard


def _leaderboard(across: Across) -> list[NamedRow]:
    _unjudged(across)
    rows = []
    for model in across.models:
        columns = {
            "accuracy": accuracy(model.grades, across.items),
            "se": standard_error(model.grades, across.items),
            "accuracy_caption_all": by_caption(model.grades, across.items, _all),
            "accuracy_caption_some": by_caption(model.grades, across.items, _some),
            "output_tokens": output_tokens(model.grades, across.items),
            "cost": cost(model, across.items),
        }
        row = Row({"judge": _judges(model.grades)}, columns, _scope(across.items), ("explain",))
        rows.append(NamedRow(model.name, row, model))
    return rows


# ----------------------------------------------------------------------------------------------- hard subset, table 4


def _hard(across: Across) -> dict[str, frozenset[str]]:
    found = {d: hardest(across.models, across.items, across.golds, d) for d in DEFINITIONS}
    if None in found.values():
        across.notes.append(f"No hard subset: it needs elements with at least {LEAST_ATTEMPTS} verdicts of all models.")
    return {definition: ids for definition, ids in found.items() if ids is not None}


def _all_ranked(across: Across) -> bool:
    """Whether the hard subset is chosen from every element."""
    verdicts = Counter(grade.item_id for model in across.models for grade in judged(model.grades))
    whole = all(verdicts[item_id] >= LEAST_ATTEMPTS for item_id in across.items)
    if not whole:
        across.notes.append(
            f"Not every element has {LEAST_ATTEMPTS} verdicts: the hard subset is chosen from the rest."
        )
    return whole


def _passed(grades: Sequence[Grade], items: Items) -> Estimate | None:
    scored = judged(grades)
    return estimate(scored, items, [[g.values["passed"] for g in scored]], total) if scored else None


def _table4(across: Across) -> list[NamedRow]:
    _unjudged(across)
    rows = []
    found = _hard(across)
    whole = bool(found) and _all_ranked(across)
    for definition, ids in found.items():
        for model in across.models:
            grades = [grade for grade in model.grades if grade.item_id in ids]
            columns = {"accuracy": accuracy(grades, across.items), "passed": _passed(grades, across.items)}
            row = Row({"definition": definition}, columns, ids, ("explain",), whole)
            rows.append(NamedRow(model.name, row, model))
    return rows


# ------------------------------------------------------------------------------------------------ categories, table 3


def _difference(columns: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(columns[..., 0] / columns[..., 1] - columns[..., 2] / columns[..., 3], dtype=np.float64)


def _table3(across: Across) -> list[NamedRow]:
    hard = _hard(across).get("elements")
    whole = hard is None or _all_ranked(across)
    rows = []
    for category in ("wordplay", "cultural_reference", "toxic_or_shocking"):
        has = {name: float(gold.values[category]) for name, gold in across.golds.items()}

        def over(names: Sequence[str], sums: Sequence[Sequence[float]], value: Value) -> Estimate:
            return Estimate(
                sums=np.array(sums, dtype=np.float64),
                value=value,
                clusters=[across.items[name].cluster for name in names],
                grades=[across.golds[name].digest for name in names],
            )

        everything = list(has)
        columns: dict[str, Estimate | None] = {
            "entire_set": over(everything, [(has[name], 1.0) for name in everything], mean)
        }
        if hard is not None:
            inside = [name for name in everything if name in hard]
            columns["hard_subset"] = over(inside, [(has[name], 1.0) for name in inside], mean)
            both = [(has[name] * (name in hard), float(name in hard), has[name], 1.0) for name in everything]
            columns["difference"] = over(everything, both, _difference)
        rows.append(NamedRow("elements", Row({"category": category}, columns, whole=whole)))
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


def _table2(across: Across) -> list[NamedRow]:
    if SCORES not in across.files:
        across.notes.append(
            f"No scores of other benchmarks: put yours in config/humorbench/{SCORES} "
            "(columns benchmark, model, score, source, date)."
        )
        return []
    measured = {m.name: e for m in across.models if (e := accuracy(m.grades, across.items)) is not None}
    scores: dict[str, dict[str, float]] = {}
    for line, cells in parse_csv(across.files[SCORES], ("benchmark", "model", "score", "source", "date"), file=SCORES):
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
    rows = []
    for benchmark, by_model in scores.items():
        both = [name for name in measured if name in by_model]
        sums = np.zeros((len(both), 2 * len(both)))
        for index, name in enumerate(both):
            sums[index, 2 * index : 2 * index + 2] = measured[name].point() or 0.0, by_model[name]
        columns: dict[str, Estimate | None] = {
            column: Estimate(sums=sums, value=_spearman(which), clusters=["all"] * len(both), grades=())
            for which, column in enumerate(("rho", "p_value"))
        }
        rows.append(NamedRow(benchmark, Row({}, columns)))
    across.notes.append("n is the number of models that have both scores; p is two-sided.")
    return rows


# ------------------------------------------------------------------- thinking, tuning, searching: figures 5-7, table 6


def _option(model: Graded, name: str) -> str:
    value = model.card.options.get(name) if model.card is not None else None
    return "" if value is None or value is False else str(value)


def _figure5(across: Across) -> list[NamedRow]:
    rows = []
    for model in across.models:
        effort, budget = _option(model, "reasoning_effort"), _option(model, "thinking_budget")
        if effort or budget:
            columns = {
                "accuracy": accuracy(model.grades, across.items),
                "output_tokens": output_tokens(model.grades, across.items),
            }
            keys = {"reasoning_effort": effort, "thinking_budget": budget}
            rows.append(NamedRow(model.name, Row(keys, columns, _scope(across.items), ("explain",)), model))
    if not rows:
        across.notes.append("No selected model's card has reasoning_effort or thinking_budget.")
    return rows


def _figure7(across: Across) -> list[NamedRow]:
    rows = []
    for model in across.models:
        budget = _option(model, "thinking_budget")
        grades = judged(model.grades)
        if budget and all("tokens_out" in grade.values for grade in grades):
            one = [1.0] * len(grades)
            within = [float(grade.values["tokens_out"] <= float(budget)) for grade in grades]
            columns = {
                "output_tokens": output_tokens(grades, across.items),
                "within_budget": estimate(grades, across.items, [within, one], mean) if grades else None,
            }
            row = Row({"thinking_budget": budget}, columns, _scope(across.items), ("explain",))
            rows.append(NamedRow(model.name, row, model))
    if not rows:
        across.notes.append("No selected model's card has a thinking_budget.")
    return rows


def _pairs(across: Across, searching: bool) -> list[tuple[Graded, Graded]]:
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


def _paired(variant: Graded, base: Graded, items: Items, ids: frozenset[str]) -> dict[str, Estimate | None]:
    """Accuracies of both on the elements that both have a verdict on, and the difference."""
    first, second = ({(g.item_id, g.sample): g for g in judged(m.grades) if g.item_id in ids} for m in (base, variant))
    both = [key for key in first if key in second]
    if not both:
        return {"base": None, "variant": None, "difference": None}
    grades = [first[key] for key in both]
    passed = [[by_key[key].values["passed"] for key in both] for by_key in (first, second)]
    one = [1.0] * len(both)
    return {
        "base": estimate(grades, items, [passed[0], one], mean),
        "variant": estimate([second[key] for key in both], items, [passed[1], one], mean),
        "difference": estimate(grades, items, [passed[1], one, passed[0], one], _difference),
    }


def _figure6(across: Across) -> list[NamedRow]:
    rows = []
    for variant, base in _pairs(across, searching=False):
        found = _paired(variant, base, across.items, _scope(across.items))
        columns = {"base_accuracy": found["base"], "accuracy": found["variant"], "difference": found["difference"]}
        row = Row({"base": base.name}, columns, _scope(across.items), ("explain",))
        rows.append(NamedRow(variant.name, row, variant))
    return rows


def _table6(across: Across) -> list[NamedRow]:
    pairs = _pairs(across, searching=True)
    hard = _hard(across).get("elements") if pairs else None
    whole = hard is None or _all_ranked(across)
    rows = []
    for variant, base in pairs:
        columns: dict[str, Estimate | None] = {}
        for name, ids in (("overall", _scope(across.items)), ("hard", hard)):
            if ids is not None:
                found = _paired(variant, base, across.items, ids)
                columns |= {f"{name}_base": found["base"], f"{name}_search": found["variant"]}
                columns[f"{name}_difference"] = found["difference"]
        row = Row({"base": base.name}, columns, _scope(across.items), ("explain",), whole)
        rows.append(NamedRow(variant.name, row, variant))
    return rows


_TASKS = ("explain",)
TABLES = {
    table.name: table
    for table in (
        Table(
            name="leaderboard",
            title="HumorBench: does a model's explanation cover the joke's elements (figure 3)",
            file="humorbench/leaderboard.csv",
            prices=True,
            rule="paper",
            keys=("judge",),
            columns=("accuracy", "se", "accuracy_caption_all", "accuracy_caption_some", "output_tokens", "cost"),
            tasks=_TASKS,
            across=_leaderboard,
            n_from="accuracy",
            notes=(
                "accuracy: PASS / elements with a verdict. se: one standard error over elements. caption_all: captions "
                "whose every element passed; caption_some: mean share of a caption's elements.",
                "cost: tokens x price per million, explainer and judge, unparsable verdicts included; empty where a "
                "price or a count of tokens is not known.",
            ),
        ),
        Table(
            name="table1",
            title="Judge against people",
            file="humorbench/table1.csv",
            rule="paper",
            keys=("judge",),
            columns=("accuracy", "fpr", "fnr"),
            tasks=_TASKS,
            across=agreement_rows,
            files=(ANNOTATIONS, RUBRIC),
            own=(LABELS,),
            notes=(
                "fpr: judge PASS among human FAIL. fnr: judge FAIL among human PASS. Overall: unweighted mean of the "
                "rows. The paper's row of Claude cannot come from 100 explanations.",
            ),
        ),
        Table(
            name="table2",
            title="Spearman's rank correlation with other benchmarks",
            file="humorbench/table2.csv",
            rule="paper",
            keys=(),
            columns=("rho", "p_value"),
            tasks=_TASKS,
            across=_table2,
            own=(SCORES,),
        ),
        Table(
            name="table3",
            title="Categories of elements in the whole set and in the hard subset",
            file="humorbench/table3.csv",
            rule="paper",
            keys=("category",),
            columns=("entire_set", "hard_subset", "difference"),
            tasks=_TASKS,
            across=_table3,
            notes=("The released category files do not give the paper's shares of the entire set.",),
        ),
        Table(
            name="table4",
            title="Hard subset",
            file="humorbench/table4.csv",
            rule="paper",
            keys=("definition",),
            columns=("accuracy", "passed"),
            whole=("passed",),
            tasks=_TASKS,
            across=_table4,
            notes=(
                "elements: the 100 (caption, element) pairs that the selected models pass least often, as on the "
                "public leaderboard; captions: all elements of the 100 captions passed least often, which fits the "
                "paper's values. Both hang on which models are selected.",
            ),
        ),
        Table(
            name="table6",
            title="Web search as a condition",
            file="humorbench/table6.csv",
            rule="paper",
            keys=("base",),
            columns=(
                *("overall_base", "overall_search", "overall_difference"),
                *("hard_base", "hard_search", "hard_difference"),
            ),
            tasks=_TASKS,
            across=_table6,
            notes=("Paired: elements that both have a verdict on. A searching card has search: true and its base.",),
        ),
        Table(
            name="figure5",
            title="Reasoning effort and thinking budget against accuracy and output tokens",
            file="humorbench/figure5.csv",
            rule="paper",
            keys=("reasoning_effort", "thinking_budget"),
            columns=("accuracy", "output_tokens"),
            tasks=_TASKS,
            across=_figure5,
            notes=("output_tokens: mean, reasoning included.",),
        ),
        Table(
            name="figure6",
            title="Reasoning-tuned models and their bases",
            file="humorbench/figure6.csv",
            rule="paper",
            keys=("base",),
            columns=("base_accuracy", "accuracy", "difference"),
            tasks=_TASKS,
            across=_figure6,
            notes=("Paired: elements that both have a verdict on. A variant's card names its base.",),
        ),
        Table(
            name="figure7",
            title="Output tokens under thinking budgets",
            file="humorbench/figure7.csv",
            rule="paper",
            keys=("thinking_budget",),
            columns=("output_tokens", "within_budget"),
            tasks=_TASKS,
            across=_figure7,
            notes=("within_budget: share of explanations with no more output tokens than the budget.",),
        ),
    )
}
