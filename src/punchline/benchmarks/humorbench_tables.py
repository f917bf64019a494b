"""HumorBench's tables and number-bearing figures, from grades of its elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punchline.bench.table import Across, Graded, NamedRow, Row, Table
from punchline.core.errors import PunchlineError
from punchline.core.records import Gold, Grade, Item, ModelCard, Price, sha256
from punchline.core.stats import Array, Estimate, mean, total
from punchline.core.storage import csv_text, parse_csv

Items = Mapping[str, Item]

HARD = 100  # elements, or captions, of the hard subset
LEAST_ATTEMPTS = 3  # runs that must have been judged for an element to be ranked
DEFINITIONS = ("elements", "captions")
ANNOTATIONS = "comprehensive_annotations.csv"
RUBRIC = "rubric/gpt_4o_rubric.csv"
LABELS = "human_labels.csv"
SCORES = "external_scores.csv"


Value = Callable[[Array], Array]


def _estimate(grades: Sequence[Grade], items: Items, columns: Sequence[Sequence[float]], value: Value) -> Estimate:
    return Estimate(
        sums=np.array(columns, dtype=np.float64).T.reshape(len(grades), len(columns)),
        value=value,
        clusters=[items[grade.item_id].cluster for grade in grades],
        grades=[grade.digest for grade in grades],
    )


def judged(grades: Iterable[Grade]) -> list[Grade]:
    """Grades with a verdict, or with a refusal."""
    return [grade for grade in grades if grade.scored]


def accuracy(grades: Sequence[Grade], items: Items) -> Estimate | None:
    """Per element: PASS / rows. None where nothing was judged."""
    scored = judged(grades)
    if not scored:
        return None
    return _estimate(scored, items, [[g.values["passed"] for g in scored], [1.0] * len(scored)], mean)


def _standard_error(columns: Array) -> Array:
    share = mean(columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(share * (1 - share) / columns[..., 1]), dtype=np.float64)


def standard_error(grades: Sequence[Grade], items: Items) -> Estimate | None:
    """One standard error of the accuracy over elements (figure 3's error bars): sqrt(p (1 - p) / n)."""
    scored = judged(grades)
    if not scored:
        return None
    columns = [[g.values["passed"] for g in scored], [1.0] * len(scored)]
    return _estimate(scored, items, columns, _standard_error)


def by_caption(grades: Sequence[Grade], items: Items, score: Callable[[Sequence[float]], float]) -> Estimate | None:
    """Mean over captions of `score` of their elements' passes. A row is a caption: n counts captions."""
    captions: dict[str, list[Grade]] = {}
    for grade in judged(grades):
        captions.setdefault(items[grade.item_id].cluster, []).append(grade)
    if not captions:
        return None
    return Estimate(
        sums=np.array([[score([g.values["passed"] for g in group]), 1.0] for group in captions.values()]),
        value=mean,
        clusters=list(captions),
        grades=[grade.digest for group in captions.values() for grade in group],
    )


def _all(passed: Sequence[float]) -> float:
    return float(all(passed))


def _some(passed: Sequence[float]) -> float:
    return sum(passed) / len(passed)


def _price(card: ModelCard | None) -> Price | None:
    return card.price if card is not None else None


def cost(model: Graded, items: Items, *, judge: bool = True) -> Estimate | None:
    """Tokens x price of the explainer and, with `judge`, of its judge, in the price's currency, over all its answers.

    A refusal that nobody judged cost its explainer's tokens only. None where a price or a count of tokens is not known,
    or two currencies would be added.
    """
    own, judges = _price(model.card), _price(model.judge)
    answered = [g for g in model.grades if g.scored or g.state == "unparsable"]
    names = ["tokens_in", "tokens_out", *(("judge_tokens_in", "judge_tokens_out") if judge else ())]
    if own is None or (judge and (judges is None or judges.currency != own.currency)) or not answered:
        return None
    unjudged = {name: 0.0 for name in names if name.startswith("judge_")}
    counted = [unjudged | g.values if g.state == "refused" and g.judge is None else g.values for g in answered]
    if any(name not in values for values in counted for name in names):
        return None
    prices = [own.input, own.output, *((judges.input, judges.output) if judge and judges is not None else ())]
    weights = np.array(prices) / 1e6

    def value(columns: Array) -> Array:
        return np.asarray(columns @ weights, dtype=np.float64)

    return _estimate(answered, items, [[values[name] for values in counted] for name in names], value)


def output_tokens(grades: Sequence[Grade], items: Items) -> Estimate | None:
    """Mean output tokens of an explanation, reasoning included; None where any is not known."""
    answered = judged(grades)
    if not answered or any("tokens_out" not in grade.values for grade in answered):
        return None
    return _estimate(answered, items, [[g.values["tokens_out"] for g in answered], [1.0] * len(answered)], mean)


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


@dataclass(frozen=True)
class _Ranked:
    """An element, or a caption, with the share of verdicts on it that are PASS."""

    name: str
    share: float
    attempts: int


def hardest(
    models: Sequence[Graded], items: Items, golds: Mapping[str, Gold], definition: str
) -> frozenset[str] | None:
    """Item ids of the hard subset over the runs at hand; None where too little was judged.

    `elements`: the 100 (caption, element) pairs with the lowest pass share among those with at least 3 verdicts, in
    stable order (the public leaderboard's). `captions`: all elements of the 100 captions with the lowest share of
    passed verdicts, each with at least 3 (what the paper's table 4 fits).
    """
    passes: dict[str, list[float]] = {}
    member: dict[str, set[str]] = {}
    for item_id, item in items.items():  # released order
        pair = item.cluster if definition == "captions" else f"{item.cluster}\0{golds[item_id].values['element']}"
        passes.setdefault(pair, [])
        member.setdefault(pair, set()).add(item_id)
    name_of = {item_id: name for name, ids in member.items() for item_id in ids}
    for model in models:
        for grade in judged(model.grades):
            passes[name_of[grade.item_id]].append(grade.values["passed"])
    ranked = [_Ranked(name, sum(p) / len(p), len(p)) for name, p in passes.items() if len(p) >= LEAST_ATTEMPTS]
    if not ranked:
        return None
    ranked.sort(key=lambda one: one.share)
    return frozenset(item_id for one in ranked[:HARD] for item_id in member[one.name])


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
    return _estimate(scored, items, [[g.values["passed"] for g in scored]], total) if scored else None


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


# ------------------------------------------------------------------------------------------ judge and people, table 1


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


class Labelled(NamedTuple):
    """An explanation that people have labelled."""

    item_id: str
    explainer: str
    explanation: str
    label: str  # PASS or FAIL


def read_labelled(content: bytes, file: str, annotations: bytes) -> list[Labelled]:
    """Explanations with human labels, from a CSV with the columns explanation and label.

    The element is named by annotation_row or found by caption and element, as in the released rubric; explainer_model
    (or model) names who explained. Raises PunchlineError for a label that is neither PASS nor FAIL and for an element
    that `annotations` (comprehensive_annotations.csv) does not have.
    """
    row_of: dict[tuple[str, str], str] = {}
    known = set()
    for row, (_, cells) in enumerate(parse_csv(annotations, ("caption", "element"), file=ANNOTATIONS)):
        row_of.setdefault((_normal(cells["caption"]), _normal(cells["element"])), str(row))
        known.add(str(row))
    found = []
    for line, cells in parse_csv(content, ("explanation", "label"), file=file):
        label = cells["label"].strip().upper()
        if label not in ("PASS", "FAIL"):
            raise PunchlineError(f"expected PASS or FAIL, got {cells['label']!r}", file=file, line=line, field="label")
        item_id = cells.get("annotation_row", "").strip()
        if item_id and item_id not in known:
            raise PunchlineError(
                f"expected a 0-based row of {ANNOTATIONS}, got {item_id!r}",
                file=file,
                line=line,
                field="annotation_row",
            )
        if not item_id:
            item_id = row_of.get((_normal(cells.get("caption", "")), _normal(cells.get("element", ""))), "")
        if not item_id:
            raise PunchlineError(
                "no element of the annotations has this caption and element",
                file=file,
                line=line,
                way_out="Give the column annotation_row: the 0-based row of comprehensive_annotations.csv",
            )
        explainer = cells.get("explainer_model") or cells.get("model") or "labelled"
        found.append(Labelled(item_id, explainer, cells["explanation"], label))
    return found


def as_released(labelled: Iterable[Labelled]) -> str:
    """Labelled explanations in the form that `replay` reads (format humorbench), without any verdict."""
    columns = ("annotation_row", "model", "explanation", "autograder_judgment")
    rows = ({**dict(zip(columns, one[:3], strict=False)), "autograder_judgment": ""} for one in labelled)
    return csv_text(columns, rows)


def _labels(across: Across) -> dict[tuple[str, str], tuple[str, str]]:
    """{(item id, digest of the explanation): (row name, PASS or FAIL)} of all files of human labels."""
    return {
        (one.item_id, sha256(_normal(one.explanation).encode())[:16]): (one.explainer, one.label)
        for name in (RUBRIC.split("/")[-1], LABELS)
        if name in across.files
        for one in read_labelled(across.files[name], name, across.files[ANNOTATIONS])
    }


def _rate(wrong: Callable[[Array], Array], of: Callable[[Array], Array]) -> Value:
    def value(columns: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(wrong(columns) / of(columns), dtype=np.float64)

    return value


# Sums: tp, fp, fn, tn of the judge's PASS against people's.
_AGREEMENT: dict[str, Value] = {
    "accuracy": _rate(lambda c: c[..., 0] + c[..., 3], lambda c: c.sum(axis=-1)),
    "fpr": _rate(lambda c: c[..., 1], lambda c: c[..., 1] + c[..., 3]),
    "fnr": _rate(lambda c: c[..., 2], lambda c: c[..., 0] + c[..., 2]),
}


def _mean_over_rows(value: Value, rows: int) -> Value:
    """Unweighted mean of `value` over `rows` blocks of four sums."""

    def overall(columns: Array) -> Array:
        blocks = columns.reshape(*columns.shape[:-1], rows, 4)
        return np.asarray(value(blocks).mean(axis=-1), dtype=np.float64)

    return overall


def _table1(across: Across) -> list[NamedRow]:
    labels = _labels(across)
    by_explainer: dict[tuple[str, str], list[tuple[Grade, int]]] = {}
    for model in across.models:
        for grade in judged(model.grades):
            key = grade.item_id, (grade.parsed or ("",))[0]
            if key in labels and grade.judge is not None:
                explainer, label = labels[key]
                passed = grade.values["passed"] == 1.0
                cell = (0 if label == "PASS" else 1) if passed else (2 if label == "PASS" else 3)
                by_explainer.setdefault((grade.judge, explainer), []).append((grade, cell))
    if not by_explainer:
        across.notes.append(
            f"No judged explanation has a human label (raw {RUBRIC}, and yours in config/humorbench/{LABELS}: columns "
            "explanation, label, and annotation_row or caption and element)."
        )
    rows = []
    for judge in sorted({judge for judge, _ in by_explainer}):
        groups = {name: found for (who, name), found in sorted(by_explainer.items()) if who == judge}
        blocks = list(groups.items())
        for index, (explainer, found) in enumerate([*blocks, ("Overall", [])]):
            overall = explainer == "Overall"
            members = [(g, c, i) for i, (_, group) in enumerate(blocks) for g, c in group if overall or i == index]
            sums = np.zeros((len(members), 4 * (len(blocks) if overall else 1)))
            for at, (_, cell, block) in enumerate(members):
                sums[at, cell + (4 * block if overall else 0)] = 1.0
            columns: dict[str, Estimate | None] = {
                name: Estimate(
                    sums=sums,
                    value=_mean_over_rows(value, len(blocks)) if overall else value,
                    clusters=[across.items[g.item_id].cluster for g, _, _ in members],
                    grades=[g.digest for g, _, _ in members],
                )
                for name, value in _AGREEMENT.items()
            }
            del found
            rows.append(NamedRow(explainer, Row({"judge": judge}, columns)))
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
                "within_budget": _estimate(grades, across.items, [within, one], mean) if grades else None,
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
        "base": _estimate(grades, items, [passed[0], one], mean),
        "variant": _estimate([second[key] for key in both], items, [passed[1], one], mean),
        "difference": _estimate(grades, items, [passed[1], one, passed[0], one], _difference),
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
            path="results/humorbench/leaderboard.csv",
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
            path="results/humorbench/table1.csv",
            rule="paper",
            keys=("judge",),
            columns=("accuracy", "fpr", "fnr"),
            tasks=_TASKS,
            across=_table1,
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
            path="results/humorbench/table2.csv",
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
            path="results/humorbench/table3.csv",
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
            path="results/humorbench/table4.csv",
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
            path="results/humorbench/table6.csv",
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
            path="results/humorbench/figure5.csv",
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
            path="results/humorbench/figure6.csv",
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
            path="results/humorbench/figure7.csv",
            rule="paper",
            keys=("thinking_budget",),
            columns=("output_tokens", "within_budget"),
            tasks=_TASKS,
            across=_figure7,
            notes=("within_budget: share of explanations with no more output tokens than the budget.",),
        ),
    )
}
