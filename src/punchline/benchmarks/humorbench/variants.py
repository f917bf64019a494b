"""HumorBench's thinking, tuned and searching models (table 6, figures 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.humorbench.estimates import has_output_tokens, output_tokens, within_budget
from punchline.benchmarks.humorbench.hard import all_ranked, hard_subsets
from punchline.stats.estimate import Estimate
from punchline.stats.functions import mean, paired
from punchline.tables.declare import Across, Model, Row


def _option(model: Model, name: str) -> str:
    value = model.card.options.get(name) if model.card is not None else None
    return "" if value is None or value is False else str(value)


def effort_rows(across: Across) -> Iterator[Row]:
    """Figure 5: reasoning effort or thinking budget against accuracy and output tokens."""
    bases = {m.card.base for m in across.models if m.card is not None and _option(m, "thinking_budget")}
    shown = False
    for model in across.models:
        effort, budget = (_option(model, name) for name in ("reasoning_effort", "thinking_budget"))
        budget = "0" if model.name in bases else budget
        if effort or budget:
            shown, scores = True, model.scores
            row = Row(
                reasoning_effort=effort,
                thinking_budget=budget,
                accuracy=mean(scores, "passed"),
                output_tokens=output_tokens(scores),
            )
            yield row.set(of=model)
    if not shown:
        across.notes.append("No selected model's card has reasoning_effort or thinking_budget.")


def budget_rows(across: Across) -> Iterator[Row]:
    """Figure 7: output tokens under a thinking budget."""
    shown = False
    for model in across.models:
        budget, scores = _option(model, "thinking_budget"), model.scores
        if budget and has_output_tokens(scores):
            shown = True
            within = within_budget(scores, float(budget))
            yield Row(thinking_budget=budget, output_tokens=output_tokens(scores), within_budget=within).set(of=model)
    if not shown:
        across.notes.append("No selected model's card has a thinking_budget.")


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


def tuning_rows(across: Across) -> Iterator[Row]:
    """Figure 6: a tuned or thinking model and its base, on the elements that both have a verdict on."""
    for variant, base in _pairs(across, searching=False):
        accuracy, of_base, difference = paired(variant.scores, base.scores, "passed")
        row = Row(base=base.name, base_accuracy=of_base, accuracy=accuracy, difference=difference)
        yield row.set(of=variant)


def search_rows(across: Across) -> Iterator[Row]:
    """Table 6: a searching model and its base, overall and on the hard subset."""
    pairs = _pairs(across, searching=True)
    hard = hard_subsets(across).get("elements") if pairs else None
    complete = hard is None or all_ranked(across)
    for variant, base in pairs:
        subsets = {"overall": across.items.index} | ({} if hard is None else {"hard": hard})
        cells: dict[str, Estimate] = {}
        for name, items in subsets.items():
            own, others = (model.scores[model.scores["item_id"].isin(items)] for model in (variant, base))
            search, of_base, difference = paired(own, others, "passed")
            cells |= {f"{name}_base": of_base, f"{name}_search": search, f"{name}_difference": difference}
        yield Row(base=base.name, **cells).set(of=variant, complete=complete)
