"""HumorBench's tables and number-bearing figures, from scores of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES, METRICS, NAME, summaries
from punchline.benchmarks.humorbench.agreement import judge_agreement
from punchline.benchmarks.humorbench.correlation import rank_correlation
from punchline.benchmarks.humorbench.dataset import counts, examples_of_paper
from punchline.benchmarks.humorbench.estimates import across_models, cost, output_tokens, standard_error
from punchline.benchmarks.humorbench.hard import RELEASED, all_ranked, categories, hard_subsets
from punchline.benchmarks.humorbench.variants import reasoning_effort, thinking_budgets, tuned_models, web_search
from punchline.scores import ItemColumn
from punchline.stats.functions import mean, total
from punchline.tables.declare import Across, Model, Row, collect


def _category(name: str) -> ItemColumn:
    return lambda item, gold: gold.values[name]


ITEMS: Mapping[str, ItemColumn] = {
    "idx": lambda item, gold: str(item.fields["idx"]),
    "element": lambda item, gold: str(gold.values["element"]),
    "gold_digest": lambda item, gold: gold.digest,
    **{name: _category(name) for name in CATEGORIES},
}


def _judges(model: Model) -> str:
    return " ".join(sorted(model.scores["judge"].dropna().unique()))


def _note_unjudged(across: Across) -> None:
    if unjudged := ", ".join(model.name for model in across.models if not _judges(model)):
        across.notes.append(f"No verdict on {unjudged}: choose a judge with judge=NAME (a file of config/judge/).")


@across_models("leaderboard", runs=(summaries.MAIN,), summed_up=summaries.stated("leaderboard"))
def leaderboard(across: Across) -> Iterator[Row]:
    """Figure 3."""
    _note_unjudged(across)
    for model in across.models:
        scores = model.scores
        row = Row(
            judge=_judges(model),
            accuracy=mean(scores, "passed"),
            se=standard_error(scores),
            accuracy_caption_all=mean(scores, "passed", per="cluster", fold="min"),
            accuracy_caption_some=mean(scores, "passed", per="cluster"),
            output_tokens=output_tokens(scores),
            cost=cost(model),
        )
        yield row.set(of=model)


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


TABLES = collect(
    NAME,
    METRICS,
    ITEMS,
    *(leaderboard, judge_agreement, rank_correlation, categories, hard_subset, examples_of_paper, counts),
    *(web_search, reasoning_effort, tuned_models, thinking_budgets),
)
