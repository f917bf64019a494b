"""HumorBench's leaderboard, hard subset, and tables of thinking, tuned and searching models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from punchline.benchmarks.humorbench import ANNOTATIONS, METRICS, NAME, summaries
from punchline.benchmarks.humorbench.agreement import judge_agreement
from punchline.benchmarks.humorbench.correlation import rank_correlation
from punchline.benchmarks.humorbench.dataset import counts, examples_of_paper
from punchline.benchmarks.humorbench.estimates import (
    across_models,
    cost,
    has_output_tokens,
    output_tokens,
    standard_error,
    within_budget,
)
from punchline.benchmarks.humorbench.hard import RELEASED, all_ranked, categories, hard_subsets
from punchline.scores import ItemColumn
from punchline.stats.estimate import Estimate
from punchline.stats.functions import mean, mean_of_clusters, paired, total
from punchline.tables.declare import Across, Model, Row, collect

ITEMS: Mapping[str, ItemColumn] = {
    "idx": lambda item, gold: str(item.fields["idx"]),
    "element": lambda item, gold: str(gold.values["element"]),
    "gold_digest": lambda item, gold: gold.digest,
    "wordplay": lambda item, gold: gold.values["wordplay"],
    "cultural_reference": lambda item, gold: gold.values["cultural_reference"],
    "toxic_or_shocking": lambda item, gold: gold.values["toxic_or_shocking"],
}


def _judges(model: Model) -> str:
    return " ".join(sorted(model.scores["judge"].dropna().unique()))


def _note_unjudged(across: Across) -> None:
    if unjudged := ", ".join(model.name for model in across.models if not _judges(model)):
        across.notes.append(f"No verdict on {unjudged}: choose a judge with judge=NAME (a file of config/judge/).")


@across_models("leaderboard", runs=(summaries.MAIN,), summed_up=summaries.stated)
def leaderboard(across: Across) -> Iterator[Row]:
    """Figure 3."""
    _note_unjudged(across)
    for model in across.models:
        scores = model.scores
        yield Row(
            judge=_judges(model),
            accuracy=mean(scores, "passed"),
            se=standard_error(scores),
            accuracy_caption_all=mean_of_clusters(scores, "passed", "min"),
            accuracy_caption_some=mean_of_clusters(scores, "passed"),
            output_tokens=output_tokens(scores),
            cost=cost(model),
        ).set(of=model)


@across_models("table4", files=(ANNOTATIONS,), runs=(RELEASED,))
def hard_subset(across: Across) -> Iterator[Row]:
    """Table 4."""
    _note_unjudged(across)
    subsets = hard_subsets(across)
    complete = bool(subsets) and all_ranked(across)
    for definition, hard in subsets.items():
        for model in across.models:
            part = model.scores[model.scores["item_id"].isin(hard)]
            row = Row(definition=definition, accuracy=mean(part, "passed"), passed=total(part, "passed"))
            yield row.set(of=model, complete=complete)


def _option(model: Model, name: str) -> str:
    value = model.card.options.get(name) if model.card is not None else None
    return "" if value is None or value is False else str(value)


@across_models("figure5", runs=tuple(summaries.EXPERIMENTS), summed_up=summaries.stated)
def reasoning_effort(across: Across) -> Iterator[Row]:
    """Figure 5: reasoning effort or thinking budget against accuracy and output tokens."""
    bases = {m.card.base for m in across.models if m.card is not None and _option(m, "thinking_budget")}
    for model in across.models:
        effort = _option(model, "reasoning_effort")
        budget = "0" if model.name in bases else _option(model, "thinking_budget")
        if effort or budget:
            values = {"accuracy": mean(model.scores, "passed"), "output_tokens": output_tokens(model.scores)}
            yield Row(reasoning_effort=effort, thinking_budget=budget, **values).set(of=model)


@across_models("figure7", runs=tuple(summaries.EXPERIMENTS), summed_up=summaries.stated)
def thinking_budgets(across: Across) -> Iterator[Row]:
    """Figure 7: output tokens under a thinking budget."""
    for model in across.models:
        budget, scores = _option(model, "thinking_budget"), model.scores
        if budget and has_output_tokens(scores):
            values = {"output_tokens": output_tokens(scores), "within_budget": within_budget(scores, float(budget))}
            yield Row(thinking_budget=budget, **values).set(of=model)


@across_models("figure6")
def tuned_models(across: Across) -> Iterator[Row]:
    """Figure 6: a tuned or thinking model and its base, on the elements that both have a verdict on."""
    for variant, base in (pair for pair in across.with_base if not _option(pair[0], "search")):
        accuracy, of_base, difference = paired(variant.scores, base.scores, "passed")
        yield Row(base=base.name, base_accuracy=of_base, accuracy=accuracy, difference=difference).set(of=variant)


@across_models("table6")
def web_search(across: Across) -> Iterator[Row]:
    """Table 6: a searching model and its base, overall and on the hard subset."""
    pairs = [pair for pair in across.with_base if _option(pair[0], "search")]
    hard = hard_subsets(across).get("elements") if pairs else None
    complete = hard is None or all_ranked(across)
    for variant, base in pairs:
        subsets = {"overall": across.items.index} | ({} if hard is None else {"hard": hard})
        cells: dict[str, Estimate] = {}
        for name, items in subsets.items():
            with_search, without = (model.scores[model.scores["item_id"].isin(items)] for model in (variant, base))
            search, of_base, difference = paired(with_search, without, "passed")
            cells |= {f"{name}_base": of_base, f"{name}_search": search, f"{name}_difference": difference}
        yield Row(base=base.name, **cells).set(of=variant, complete=complete)


TABLES = collect(
    NAME,
    METRICS,
    ITEMS,
    *(leaderboard, judge_agreement, rank_correlation, categories, hard_subset, examples_of_paper, counts),
    *(web_search, reasoning_effort, tuned_models, thinking_budgets),
)
