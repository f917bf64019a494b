"""Notes of tables: items left out, respondents not asked, warnings of cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from punchline.artifacts.lineage import Asked, Model
from punchline.artifacts.passes import CHAINED, JUDGE
from punchline.artifacts.project import Project
from punchline.config import adapters
from punchline.core.benchmark import SCORERS
from punchline.files import read_records
from punchline.prepare import raw_files, read_selected
from punchline.schema import Item, ModelCard, Rule
from punchline.scores import scores_frame
from punchline.tables.declare import Across, Table
from punchline.tables.declare import Model as TableModel
from punchline.tables.ranks import main_column
from punchline.tables.run import Measured, rows_across, rows_of_model


def trained_on(card: ModelCard, project: Project, benchmark: str) -> list[str]:
    """A note on how many of the items at hand a card's adapter was trained on."""
    name = card.options.get("adapter")
    found = adapters.trained(name) if isinstance(name, str) else None
    if found is None or found.recipe.get("benchmark") != benchmark or found.corpus != project.selection.corpus.name:
        return []
    items = read_selected(project.paths.selected(benchmark))
    known = set(found.trained) & set(items)
    hint = f"subset={adapters.folder_of(found.name)}/{adapters.HELD_OUT} leaves them out"
    return [f"{card.name} was trained on {len(known):,} of these {len(items):,} items; {hint}."] if known else []


def unknown_note(name: str, card: ModelCard, benchmark: str, items: Sequence[str]) -> list[str]:
    """A note on released answers to items that the benchmark does not have."""
    if not items or card.options.get("format", benchmark) != benchmark:
        return []
    some = ", ".join(items[:5]) + (", …" if len(items) > 5 else "")
    return [f"{name}: {len(items):,} answered items do not exist in {benchmark}: {some}."]


def caveats(passes: Iterable[Asked]) -> list[str]:
    judges = {pass_.card.name: pass_.card for pass_ in passes if pass_.card and pass_.pass_ != CHAINED}
    return [f"Judge {card.name}: {card.caveat}." for card in judges.values() if card.caveat]


def unchecked(passes: Iterable[Asked], checked: Collection[str]) -> list[str]:
    """A note on judges without a verdict on a text that people have labeled. `checked`: those with one."""
    judges = {pass_.card.name for pass_ in passes if pass_.card and pass_.pass_ == JUDGE}
    names = ", ".join(sorted(judges - set(checked)))
    return [f"Not checked against people: judge {names} (docs/validity.md#judges)."] if names else []


def chosen_sources(project: Project, benchmark: str) -> Sequence[str] | None:
    """The sources that the corpus keeps of a benchmark; None: all."""
    return (project.selection.corpus.sources or {}).get(benchmark)


def chosen(project: Project, benchmark: str) -> tuple[tuple[str, str] | None, list[str]]:
    """(the user's subset: its name in the column `subset`, and what it is; a note on how many items of how many)."""
    selection = project.selection
    sources = chosen_sources(project, benchmark)
    if selection.subset is None and selection.limit is None and sources is None:
        return None, []
    loaded = project.benchmark(benchmark)
    listed = loaded.listing(raw_files(project, benchmark, loaded.ITEM_FILES))
    of = f"{len(read_selected(project.paths.selected(benchmark))):,} of {len(listed):,}"
    parts = [f"corpus {selection.corpus.name}"] if sources is not None else []
    parts += [f"limit {selection.limit}"] if selection.limit is not None else []
    if selection.subset is None:
        return None, [f"Items: {of} ({', '.join(parts)})."]
    subset = f"subset {selection.subset} (sha256 {(selection.subset_sha256 or '')[:16]}…)"
    return (Path(selection.subset).stem, f"{subset}: {of} items"), [f"Items: {of} ({', '.join([*parts, subset])})."]


def without_pictures(path: str) -> list[str]:
    """A note on the items that models could not be shown, with the most frequent reasons."""
    items = read_records(path, Item)
    reasons = Counter(item.missing for item in items if item.missing is not None)
    if not reasons:
        return []
    some = "; ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(3))
    return [f"{reasons.total():,} of {len(items):,} items have no picture to show: {some}."]


def unasked(
    project: Project, benchmark: str, spec: Table, models: Sequence[Model], compared: Sequence[Asked]
) -> list[str]:
    """Notes on what this selection asks nobody, where a table of models could show it."""
    loaded, selection = project.benchmark(benchmark), project.selection
    if not models and spec.compared is None:
        return []
    answered = {pass_.pass_ for pass_ in (*compared, *(pass_ for model in models for pass_ in model.passes))}
    notes = [
        f"No {pass_} values: choose a scorer of config/judge/ with scorers=[NAME] (docs/models.md)."
        for pass_ in SCORERS
        if pass_ in loaded.JUDGES and pass_ not in answered
    ]
    # A table of several models (`across`) says itself whose answers have no verdict.
    if JUDGE in loaded.JUDGES and spec.rows is not None and JUDGE not in answered:
        notes.append("No judge was asked: choose one of config/judge/ with judge=NAME.")
    left = [name for name in spec.conditions if models and name not in selection.conditions]
    return notes + ([f"Not asked: {', '.join(left)}; conditions=all, or a list, asks them."] if left else [])


def separating(
    table: Table, rows: Sequence[Measured], scores: Mapping[str, str], across: Across, rule: Rule
) -> list[str]:
    """A note on how few items separate the two best models of a main table. `scores`: the models' score files."""
    column = main_column(table)
    measured = [row for row in rows if row.kind == "measured" and row.model in scores]
    if not table.main or column is None or not measured:
        return []
    keys, sign = measured[0].keys, 1 if table.better(column) == "higher" else -1
    values = {
        row.model: sign * value
        for row in measured
        if row.keys == keys and column in row.values and (value := row.values[column].value) is not None
    }
    best = sorted(values, key=lambda name: -values[name])[:2]
    if len(best) < 2:
        return []
    each = []
    for name in best:
        frame, _ = scores_frame(scores[name], across.items, rule)
        own = rows_of_model(table, frame, across.items)
        own += rows_across(table, replace(across, models=[TableModel(name, "measured", "", frame)], notes=[]))
        estimate = next(row for row in own if row.keys == keys).estimates[column]
        if estimate.n != len(estimate.used):  # an item is not one score
            return []
        item = frame["item_id"].to_numpy()[estimate.used]
        each.append(pd.Series(sign * estimate.value(estimate.sums.astype(float)), index=item))
    if not each[0].index.equals(each[1].index):
        return []
    first, second = int((each[0] > each[1]).sum()), int((each[1] > each[0]).sum())
    of = f"{first + second:,} of {len(each[0]):,} items separate the best two in {column}"
    return [f"{of}: {best[0]} is ahead on {first:,}, {best[1]} on {second:,}."]
