"""Paired differences between two models on the same items.

The unit of all statistics is the cluster (a comic, a caption), as in the tables' intervals: its items are swapped and
left out together. docs/intervals.md explains the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from punchline.artifacts.project import Project
from punchline.audit.versions import SCORE, check_scores, differences
from punchline.config.cards import read_card
from punchline.config.runs import selection_of
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import Benchmark
from punchline.core.benchmark import names as benchmark_names
from punchline.core.pages import templates
from punchline.errors import PunchlineError
from punchline.files import Keyed
from punchline.prepare import paths_of_table, read_files
from punchline.schema import Gold, Item, Rule
from punchline.scores import items_frame, metrics_of
from punchline.stats.estimate import ALPHA, NO_ROWS, Estimate
from punchline.stats.paired import POWER, holm, paired_difference
from punchline.tables.declare import Across, Model, Row, Table
from punchline.tables.run import rows_of
from punchline.tabulate.ranks import read_model

FEW = 20  # clusters; with fewer a note warns
ANSWER = ["task", "condition", "sample", "item_id"]
ALIKE_HINT = "Make both models' scores in one run: the same judge=, scorers= and data"
ALIKE = {"judge": "by another judge", "signature": "in another way", "gold_digest": "against other gold"}

Pairs = list[tuple[str, str, Estimate, Estimate]]  # row, column, estimate of each model


class Unshared(PunchlineError):
    """Two models that have no scored answer in common."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models in one table. Pairs of numbers are in the order of `models`."""

    benchmark: str
    table: str
    title: str
    rule: Rule
    models: tuple[str, str]
    judges: list[str]
    notes: list[str]
    effect: str = "d_z (difference / standard deviation of the clusters' differences)"
    alpha: float = ALPHA
    power: float = POWER
    tests: int  # that Holm's correction is over
    shared: list[dict[str, Any]]  # task, condition, answers scored for both, left_out, unscored
    differences: list[dict[str, Any]]  # row, column, n, those of stats.paired.Paired, p_holm


DIFFERENCES = (
    *("benchmark", "table", "rule", "row", "column", "n_a", "n_b", "clusters", "a", "b"),
    *("difference", "difference_lo", "difference_hi", "p", "p_holm", "effect", "detectable"),
)


def differences_frame(comparisons: Iterable[Comparison]) -> pd.DataFrame:
    """A row per difference, with the columns DIFFERENCES."""
    frame = pd.DataFrame([{**vars(made), **one} for made in comparisons for one in made.differences])
    frame[["n_a", "n_b"]] = frame["n"].tolist()
    frame = frame.rename(columns={"low": "difference_lo", "high": "difference_hi"})
    return frame.reindex(columns=DIFFERENCES)


def clusters_needed(difference: Mapping[str, Any]) -> int | None:
    """Clusters with which a difference of this size is found with POWER; None if its interval excludes 0."""
    if not difference["difference"] or not difference["detectable"] or difference["low"] > 0 or difference["high"] < 0:
        return None
    return math.ceil(float(difference["clusters"] * (difference["detectable"] / difference["difference"]) ** 2))


def load_macros() -> Any:
    """Macros that give a comparison as text: `head`, and `notes` on its differences."""
    environment = templates(Path(__file__).parent / "templates")
    environment.filters["clusters_needed"] = clusters_needed
    return environment.get_template("compare.txt").module


# ---------------------------------------------------------------------------------------------------------------------
# Two models in one table


def compare(benchmark: str, table: Table, models: Sequence[Model], across: Across, seed: int) -> Comparison:
    """Compare two models in a table, on what both were scored on. `across`: items and files for rows of several. Pure.

    Raises PunchlineError when they share nothing, were scored in different ways, or the table has no row of one model.
    """
    a, b = models
    frames = [_answers(model, table) for model in models]
    scored = [frame[frame["scored"]] for frame in frames]
    both = scored[0].index.intersection(scored[1].index).sort_values()
    pair = [frame.loc[both] for frame in frames]
    _check_alike(pair, f"{a.name} and {b.name}", table)
    if both.empty:
        each = ", ".join(f"{model.name} {len(own):,}" for model, own in zip(models, scored, strict=True))
        what = f"no answer that is scored for both models (scored: {each})"
        raise Unshared(what, file=table.file, hint="Run both on the same selection, or choose a table: --table")
    restricted, notes = _common(pair)
    compared = [replace(model, scores=frame) for model, frame in zip(models, restricted, strict=True)]
    estimates, more = _estimates(table, compared, across)
    if not estimates:
        what = f"{table.name} has no column that is defined for both models"
        raise PunchlineError(what, file=table.file, hint="Choose another: --table")
    results = [
        {"row": row, "column": column, "n": (one.n, other.n), **asdict(paired_difference(one, other, seed))}
        for row, column, one, other in estimates
    ]
    tested = [one["p"] for one in results if one["p"] is not None]
    adjusted = iter(holm(tested))
    results = [one | {"p_holm": None if one["p"] is None else next(adjusted)} for one in results]
    if few := sum(one["clusters"] < FEW for one in results):
        more.append(f"Fewer than {FEW} clusters in {few} of {len(results)} lines: little can be found there.")
    return Comparison(
        benchmark=benchmark,
        table=table.name,
        title=table.title,
        rule=table.published_rule,
        models=(a.name, b.name),
        judges=sorted({str(judge) for frame in pair for judge in frame["judge"].dropna().unique()}),
        notes=[*notes, *more],
        tests=len(tested),
        shared=_shared([*frames, *scored, pair[0]]),
        differences=results,
    )


def _answers(model: Model, table: Table) -> pd.DataFrame:
    """A model's scores that a table reads, indexed by ANSWER. Raises PunchlineError if there are none."""
    scores = table.read_by(model.scores)
    if scores.empty:
        raise PunchlineError(f"no scores of {model.name} for {table.name}", file=table.file, hint=SCORE)
    return scores.set_index(pd.MultiIndex.from_frame(scores[ANSWER].astype(object)))


def _check_alike(pair: Sequence[pd.DataFrame], names: str, table: Table) -> None:
    """Raises PunchlineError where the two models' answers were scored in different ways."""
    for column, how in ALIKE.items():
        ours, theirs = (frame[column].astype(object).fillna("nobody") for frame in pair)
        for key in ours.index[(ours != theirs).to_numpy()][:1]:
            what = f"{names} were scored {how}: {ours[key]} and {theirs[key]}"
            raise PunchlineError(what, file=table.file, record=key[3], hint=ALIKE_HINT)


def _shared(parts: Sequence[pd.DataFrame]) -> list[dict[str, Any]]:
    """Counts by task and condition; `parts`: answers of a and of b, the scored ones of each, those scored of both."""
    counts = pd.concat([part.groupby(level=ANSWER[:2]).size() for part in parts], axis=1).fillna(0).astype(int)
    rows = []
    for (task, condition), a, b, scored_a, scored_b, both in counts.sort_index().itertuples(name=None):
        row = {"task": task, "condition": condition, "both": both, "left_out": (scored_a - both, scored_b - both)}
        rows.append(row | {"unscored": (a - scored_a, b - scored_b)})
    return rows


def _common(pair: Sequence[pd.DataFrame]) -> tuple[list[pd.DataFrame], list[str]]:
    """The scores with those metrics only that both have of an answer, and a note on what was left out.

    A judge or scorer that failed on one model's answer leaves a metric out there; it must not count for the other.
    """
    first, second = pair
    names = sorted({*metrics_of(first), *metrics_of(second)})
    odd = first[names].isna() ^ second[names].isna()
    restricted = [frame.assign(**frame[names].mask(odd)).reset_index(drop=True) for frame in pair]
    kinds = ", ".join(f"{name} ({count:,} answers)" for name, count in odd.sum().items() if count)
    return restricted, [f"Only one of the two has it, so it is left out of both: {kinds}."] if kinds else []


def _estimates(table: Table, pair: Sequence[Model], across: Across) -> tuple[Pairs, list[str]]:
    """(row, column, estimate of each) of all that both have, and notes on what only one has."""
    all_rows = [row for row in rows_of(table, replace(across, models=pair)) if row.of]  # subsets may be made of both
    rows = [{row.key: row for row in all_rows if row.of and row.of.name == model.name} for model in pair]
    estimates, notes = Pairs(), list[str]()
    for key in dict.fromkeys([*rows[0], *rows[1]]):
        named = {model.name: of[key] for model, of in zip(pair, rows, strict=True) if key in of}
        if len(named) == 1:
            notes.append(f"Row {key or 'all'}: only {next(iter(named))} has it.")
            continue
        ours, theirs = (_items_of(row, model.scores) for model, row in zip(pair, named.values(), strict=True))
        if ours != theirs:
            notes.append(f"Row {key or 'all'}: not compared, as it is of other items for each model.")
            continue
        for column in table.columns:
            given = [row.estimates.get(column) for row in named.values()]
            if not any(estimate and estimate.n for estimate in given):
                continue
            one, other = (estimate if estimate and estimate.point() is not None else None for estimate in given)
            if one is None or other is None:
                notes.append(f"{key or 'all'}, {column}: not compared, as it is undefined for one of the two.")
                continue
            if one.n != other.n or sorted(one.clusters) != sorted(other.clusters):
                what = f"denominators depend on the answers ({one.n:,} and {other.n:,})"
                notes.append(f"{key or 'all'}, {column}: {what}.")
            estimates.append((key, column, one, other))
    return estimates, notes


def _items_of(row: Row, scores: pd.DataFrame) -> set[str]:
    """Items that a row was made of."""
    given = np.concatenate([NO_ROWS, *(estimate.given for estimate in row.estimates.values())])
    return set(scores.loc[scores["row"].isin(given), "item_id"])


# ---------------------------------------------------------------------------------------------------------------------
# From the files


def compare_models(names: Sequence[str], table: tuple[str, str] | None, run: str) -> tuple[list[Comparison], list[str]]:
    """Compare two models in one table (benchmark, name), else in the main table of every benchmark that has both.

    A model is a name, or RUN:NAME for its answers in another run. Gives comparisons, and why others were
    refused. Raises PunchlineError when there is none at all.
    """
    project = Project(selection_of(run))
    a, b = names
    if a == b:
        raise PunchlineError(f"{a} is one model; name two")
    if table is not None:
        benchmark = benchmarks.load(table[0])
        return [compare_files(benchmark, benchmark.TABLES[table[1]], names, project)], []
    placed = [in_run(name, project) for name in names]
    comparisons, refused = list[Comparison](), list[str]()
    for of in benchmark_names():
        if all(Path(own.paths.scores(of, name)).is_file() for own, name in placed):
            try:
                comparisons.append(_compare_in_first(benchmarks.load(of), names, project))
            except PunchlineError as error:
                refused.append(str(error))
    if not comparisons:
        what = "; ".join(refused) or f"no benchmark has scores of both {a} and {b}"
        raise PunchlineError(what, hint=None if refused else SCORE)
    return comparisons, refused


def _compare_in_first(benchmark: Benchmark, models: Sequence[str], project: Project) -> Comparison:
    """Compare in the main table, else in the first in which both models have scored answers."""
    tables = sorted(benchmark.TABLES.values(), key=lambda table: not table.main)
    unshared: list[Unshared] = []
    for table in (table for table in tables if table.main or table.rows is not None):
        try:
            return compare_files(benchmark, table, models, project)
        except Unshared as error:
            unshared.append(error)
    raise unshared[0]


def main_table(benchmark: Benchmark) -> Table:
    """The table by which models are compared."""
    tables: Iterable[Table] = benchmark.TABLES.values()
    return next(table for table in tables if table.main)


def in_run(model: str, project: Project) -> tuple[Project, str]:
    """(the run that its answers are of, the model's name) of NAME or RUN:NAME. Raises PunchlineError."""
    run, _, name = model.rpartition(":")
    chosen = selection_of(run) if run else project.selection
    if name not in chosen.models:  # asked before
        read_card(name)
        chosen = msgspec.structs.replace(chosen, models=[*chosen.models, name])
    return Project(chosen), name


def compare_files(benchmark: Benchmark, table: Table, models: Sequence[str], project: Project) -> Comparison:
    """Compare from score files, items, gold and released files."""
    of = benchmark.NAME
    placed = [in_run(model, project) for model in models]
    notes = [note for own, name in placed for note in check_scores(of, name, own)]
    items, golds = dict[str, Item](), dict[str, Gold]()
    for where in dict.fromkeys(own.paths for own, _ in reversed(placed)):  # of two runs what both have, each its own
        items |= Keyed(where.items(of), Item)
        golds |= Keyed(where.gold(of), Gold)
    of_items = items_frame(items, golds, benchmark.ITEMS)
    files = read_files(paths_of_table(project, of, table.name)) if table.across is not None else {}
    pair = [
        replace(read_model(own, of, name, of_items, table.published_rule)[0], name=label)
        for label, (own, name) in zip(models, placed, strict=True)
    ]
    comparison = compare(of, table, pair, Across([], of_items, files), project.selection.seed)
    notes += differences(of, [(own.paths, name) for own, name in placed])
    return replace(comparison, notes=[*notes, *comparison.notes])
