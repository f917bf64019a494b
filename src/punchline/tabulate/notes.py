"""Notes of tables: items left out, respondents not asked, warnings of cards."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from punchline.artifacts.lineage import Respondent
from punchline.artifacts.passes import CHAINED, JUDGE
from punchline.artifacts.run import Run
from punchline.config import adapters
from punchline.core.benchmark import SCORERS
from punchline.files import read_records
from punchline.prepare import raw_files, read_selected
from punchline.schema import Item, ModelCard
from punchline.tables.declare import Row, Table
from punchline.tables.ranks import main_column


def trained_on(card: ModelCard, run: Run, benchmark: str) -> list[str]:
    """A note on how many of the items at hand a card's adapter was trained on."""
    name = card.options.get("adapter")
    adapter = adapters.trained(name) if isinstance(name, str) else None
    place = (benchmark, run.selection.corpus.name)
    if adapter is None or (adapter.recipe.get("benchmark"), adapter.corpus) != place:
        return []
    items = read_selected(run.paths.selected(benchmark))
    known = set(adapter.trained) & set(items)
    hint = f"subset={adapters.folder_of(adapter.name)}/{adapters.HELD_OUT} leaves them out"
    return [f"{card.name} was trained on {len(known):,} of these {len(items):,} items; {hint}."] if known else []


@functools.lru_cache(maxsize=1)
def _listed(run: Run, benchmark: str) -> list[str]:
    """Ids of the items that a benchmark has."""
    loaded = run.benchmark(benchmark)
    return [item_id for item_id, *_ in loaded.listing(raw_files(run, benchmark, loaded.ITEM_FILES))]


def unknown_items(run: Run, benchmark: str, model: str) -> list[str]:
    """A note on a model's released answers to items that the benchmark does not have."""
    engine = run.engines[model]
    items = engine.unknown(_listed(run, benchmark)) if engine.files and engine.format == benchmark else []
    some = ", ".join(items[:5]) + (", …" if len(items) > 5 else "")
    return [f"{model}: {len(items):,} answered items do not exist in {benchmark}: {some}."] if items else []


def chosen(run: Run, benchmark: str) -> tuple[tuple[str, str] | None, list[str]]:
    """(the user's subset: its name in the column `subset`, and what it is; a note on how many items of how many)."""
    selection = run.selection
    parts = [f"corpus {selection.corpus.name}"] if benchmark in (selection.corpus.sources or {}) else []
    parts += [f"limit {selection.limit}"] if selection.limit is not None else []
    subset = f"subset {selection.subset} (sha256 {(selection.subset_sha256 or '')[:16]}…)" if selection.subset else ""
    parts += [subset] if subset else []
    if not parts:
        return None, []
    of = f"{len(read_selected(run.paths.selected(benchmark))):,} of {len(_listed(run, benchmark)):,}"
    named = (Path(selection.subset).stem, f"{subset}: {of} items") if selection.subset else None
    return named, [f"Items: {of} ({', '.join(parts)})."]


@functools.lru_cache(maxsize=1)
def without_pictures(run: Run, benchmark: str) -> list[str]:
    """A note on the items that models could not be shown, with the most frequent reasons."""
    items = read_records(run.paths.items(benchmark), Item) if run.illustrated(benchmark) else []
    reasons = Counter(item.missing for item in items if item.missing is not None)
    if not reasons:
        return []
    some = "; ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(3))
    return [f"{reasons.total():,} of {len(items):,} items have no picture to show: {some}."]


def unasked(
    run: Run, benchmark: str, table: Table, passes: Sequence[Respondent], checked: Collection[str]
) -> list[str]:
    """Notes on judges, and on what this selection asks nobody, where a table of models could show it.

    `checked`: judges with a verdict on a text that people labeled.
    """
    loaded = run.benchmark(benchmark)
    judges = {one.card.name: one.card for one in passes if one.card and one.pass_ != CHAINED}
    notes = [f"Judge {card.name}: {card.caveat}." for card in judges.values() if card.caveat]
    unchecked = sorted({one.card.name for one in passes if one.card and one.pass_ == JUDGE}.difference(checked))
    if unchecked:
        notes.append(f"Not checked against people: judge {', '.join(unchecked)} (docs/validity.md#judges).")
    if not table.of_models and table.compared is None:
        return notes
    answered = {one.pass_ for one in passes}
    absent = [pass_ for pass_ in SCORERS if pass_ in loaded.JUDGES and pass_ not in answered]
    choice = "choose a scorer of config/judge/ with scorers=[NAME] (docs/models.md)"
    notes += [f"No {pass_} values: {choice}." for pass_ in absent]
    # A table of several models (`across`) says itself whose answers have no verdict.
    if JUDGE in loaded.JUDGES and table.rows is not None and JUDGE not in answered:
        notes.append("No judge was asked: choose one of config/judge/ with judge=NAME.")
    left = [one for one in table.conditions if table.of_models and one not in run.selection.conditions]
    return notes + ([f"Not asked: {', '.join(left)}; conditions=all, or a list, asks them."] if left else [])


def separating(table: Table, rows: Sequence[Row]) -> list[str]:
    """A note on how few items separate the two best models of a main table."""
    column = main_column(table) if table.main else None
    measured = [(row, row.of) for row in rows if row.of is not None and row.of.kind == "measured"]
    points: dict[str, tuple[float, pd.Series]] = {}
    for row, model in measured:
        of, same_keys = row.estimates.get(column or ""), row.keys == measured[0][0].keys
        # Only where an item is one score.
        if of is not None and same_keys and of.n == len(of.used) and (value := of.point()) is not None:
            items = model.scores.set_index("row")["item_id"].astype(object).loc[of.used.tolist()]
            points[row.model] = value, pd.Series(of.value(of.sums.astype(float)), index=items.to_numpy())
    sign = -1 if column and table.better(column) == "lower" else 1
    best = sorted(points, key=lambda name: -sign * points[name][0])[:2]
    each = [sign * points[name][1] for name in best]
    if len(best) < 2 or not each[0].index.equals(each[1].index):
        return []
    ahead = [int((one > other).sum()) for one, other in (each, each[::-1])]
    of_items = f"{sum(ahead):,} of {len(each[0]):,} items separate the best two in {column}"
    return [f"{of_items}: {best[0]} is ahead on {ahead[0]:,}, {best[1]} on {ahead[1]:,}."]
