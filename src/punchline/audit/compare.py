"""Paired differences between two models on the same items.

The unit of all statistics is the cluster (a comic, a caption), as in the tables' intervals: its items are swapped and
left out together. docs/compare.md explains the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from punchline import paths
from punchline.artifacts.lineage import kind_of
from punchline.artifacts.project import Project
from punchline.audit.versions import differences, not_current
from punchline.config.cards import read_card, stems
from punchline.config.runs import made_with
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import Benchmark
from punchline.core.benchmark import names as benchmark_names
from punchline.core.storage import read_columns
from punchline.errors import PunchlineError, nearest
from punchline.files import Keyed
from punchline.paths import DEFAULT_RUN
from punchline.prepare import read_files
from punchline.schema import Gold, Item, ModelCard, Rule
from punchline.scores import items_frame, metrics_of, scores_frame
from punchline.stats.estimate import NO_ROWS, Estimate
from punchline.stats.paired import Paired, holm, paired_difference
from punchline.tables.declare import Across, Model, Row, Table
from punchline.tables.run import rows_across, rows_of_model
from punchline.tables.tabulate import key_text

FEW = 20  # clusters; with fewer a note warns
EFFECT = "d_z (difference / standard deviation of the clusters' differences)"


class Unshared(PunchlineError):
    """Two models that have no scored answer in common."""


@dataclass(frozen=True)
class Difference:
    """One cell of a table, of both models."""

    row: str
    column: str
    n: tuple[int, int]  # denominators
    paired: Paired
    p_holm: float | None = None


@dataclass(frozen=True)
class Shared:
    """How many answers to one task both models have, and how many of each are left out because the other has none."""

    task: str
    condition: str
    both: int
    left_out: tuple[int, int]
    unscored: tuple[int, int]  # asked, and not in the denominator: missing, failed, gated


@dataclass(frozen=True)
class Comparison:
    """Two models in one table."""

    benchmark: str
    table: str
    title: str
    rule: Rule
    models: tuple[str, str]
    judges: tuple[str, ...]
    shared: list[Shared]
    differences: list[Difference]
    notes: list[str] = field(default_factory=list)


# ---------------------------------------------------------------------------------------------------------------------
# Two models in one table


def compare(benchmark: str, table: Table, models: tuple[Model, Model], across: Across, seed: int) -> Comparison:
    """Compare two models in a table, on what both were scored on. `across`: items and files for rows of several. Pure.

    Raises PunchlineError when they share nothing, were scored in different ways, or the table has no row of one model.
    """
    _check_table_of_models(table)
    names = (models[0].name, models[1].name)
    frames = [_by_answer(table.read_by(model.scores)) for model in models]
    if absent := [name for name, frame in zip(names, frames, strict=True) if not len(frame)]:
        raise PunchlineError(f"no scores of {' and '.join(absent)} for {table.name}", file=table.file, hint=SCORE)
    scored = [frame.index[frame["scored"]] for frame in frames]
    both = scored[0].intersection(scored[1]).sort_values()
    pair = [frame.loc[both] for frame in frames]
    _check_alike(pair, names, table)
    if both.empty:
        each = ", ".join(f"{name} {len(own):,}" for name, own in zip(names, scored, strict=True))
        what = f"no answer that is scored for both models (scored: {each})"
        raise Unshared(what, file=table.file, hint="Run both on the same selection, or choose a table: --table")
    restricted, notes = _common(pair)
    compared = [replace(model, scores=frame) for model, frame in zip(models, restricted, strict=True)]
    found, said = _estimates(table, compared, across)
    if not found:
        what = f"{table.name} has no column that is defined for both models"
        raise PunchlineError(what, file=table.file, hint="Choose another: --table")
    differences = _tested(found, seed)
    notes += said
    if few := sum(one.paired.clusters < FEW for one in differences):
        notes.append(f"Fewer than {FEW} clusters in {few} of {len(differences)} lines: little can be found there.")
    judges = tuple(sorted({str(judge) for frame in pair for judge in frame["judge"].dropna().unique()}))
    shared = _shared([frame.index for frame in frames], scored, both)
    rule = table.published_rule
    return Comparison(benchmark, table.name, table.title, rule, names, judges, shared, differences, notes)


SCORE = "Make it first: snakemake --cores all, with both among models="
ANSWER = ["task", "condition", "sample", "item_id"]


def _check_table_of_models(table: Table) -> None:
    """Raises PunchlineError for a table that is made of no model's answers."""
    if not table.of_models:
        raise PunchlineError(f"{table.name} is made of the released data, of no model's answers", file=table.file)


def _by_answer(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores by what they are of: task, condition, sample, item."""
    return scores.set_index(pd.MultiIndex.from_frame(scores[ANSWER].astype(object)))


def _tested(found: Sequence[tuple[str, str, Estimate, Estimate]], seed: int) -> list[Difference]:
    """Differences with their tests, corrected for how many there are."""
    made = [paired_difference(one, other, seed) for _, _, one, other in found]
    tested = [index for index, paired in enumerate(made) if paired.p is not None]
    adjusted = dict(zip(tested, holm([float(made[index].p or 0.0) for index in tested]), strict=True))
    return [
        Difference(key, column, (one.n, other.n), made[index], adjusted.get(index))
        for index, (key, column, one, other) in enumerate(found)
    ]


def _check_alike(pair: Sequence[pd.DataFrame], names: tuple[str, str], table: Table) -> None:
    """Raises PunchlineError where the two models' answers were scored in different ways."""
    what = {"judge": "by another judge", "signature": "in another way", "gold_digest": "against other gold"}
    for column, how in what.items():
        ours, theirs = (frame[column].astype(object).fillna("nobody") for frame in pair)
        for key in ours.index[(ours != theirs).to_numpy()][:1]:
            raise PunchlineError(
                f"{names[0]} and {names[1]} were scored {how}: {ours[key]} and {theirs[key]}",
                file=table.file,
                record=key[3],
                field=column.removesuffix("_digest"),
                hint="Make both models' scores in one run: the same judge=, scorers= and data",
            )


def _shared(answers: Sequence[pd.Index], scored: Sequence[pd.Index], both: pd.Index) -> list[Shared]:
    """By task and condition: what is shared, and what is left out of each."""
    counts = [
        Counter(zip(*map(index.get_level_values, ANSWER[:2]), strict=True)) for index in (*answers, *scored, both)
    ]
    made = []
    for task, condition in sorted(counts[0].keys() | counts[1].keys()):
        a, b, scored_a, scored_b, common = (count[task, condition] for count in counts)
        made.append(
            Shared(task, condition, common, (scored_a - common, scored_b - common), (a - scored_a, b - scored_b))
        )
    return made


def _common(pair: Sequence[pd.DataFrame]) -> tuple[list[pd.DataFrame], list[str]]:
    """The scores with those metrics only that both have of an answer, and a note on what was left out.

    A judge or scorer that failed on one model's answer leaves a metric out there; it must not count for the other.
    """
    one, other = pair
    uneven: dict[str, int] = {}
    for name in sorted({*metrics_of(one), *metrics_of(other)}):
        odd = one[name].isna() ^ other[name].isna()
        if odd.any():
            uneven[name] = int(odd.sum())
            one, other = (frame.assign(**{name: frame[name].mask(odd)}) for frame in (one, other))
    kinds = ", ".join(f"{name} ({count:,} answers)" for name, count in uneven.items())
    notes = [f"Only one of the two has it, so it is left out of both: {kinds}."] if uneven else []
    return [frame.reset_index(drop=True) for frame in (one, other)], notes


def _estimates(
    table: Table, pair: Sequence[Model], across: Across
) -> tuple[list[tuple[str, str, Estimate, Estimate]], list[str]]:
    """(row, column, estimate of each) of all that both have, and notes on what only one has."""
    names = [model.name for model in pair]
    rows = [_rows_of(table, pair, model, across) for model in pair]
    found: list[tuple[str, str, Estimate, Estimate]] = []
    notes = []
    for key in [*rows[0], *(key for key in rows[1] if key not in rows[0])]:
        if key not in rows[0] or key not in rows[1]:
            notes.append(f"Row {key or 'all'}: only {names[0] if key in rows[0] else names[1]} has it.")
            continue
        items = [_items_of(row[key], model.scores) for row, model in zip(rows, pair, strict=True)]
        if items[0] != items[1]:
            notes.append(f"Row {key or 'all'}: not compared, as it is of other items for each model.")
            continue
        for column in table.columns:
            one, other = (row[key].estimates.get(column) for row in rows)
            if not any(of is not None and of.n for of in (one, other)):
                continue
            if one is None or other is None or one.point() is None or other.point() is None:
                notes.append(f"{key or 'all'}, {column}: not compared, as it is undefined for one of the two.")
                continue
            if one.n != other.n or sorted(one.clusters) != sorted(other.clusters):
                notes.append(
                    f"{key or 'all'}, {column}: denominators depend on the answers ({one.n:,} and {other.n:,})."
                )
            found.append((key, column, one, other))
    return found, notes


def _items_of(row: Row, scores: pd.DataFrame) -> set[str]:
    """Items that a row was made of."""
    given = np.concatenate([NO_ROWS, *(estimate.given for estimate in row.estimates.values())])
    return set(scores.loc[scores["row"].isin(given), "item_id"])


def _rows_of(table: Table, pair: Sequence[Model], model: Model, across: Across) -> dict[str, Row]:
    """A model's rows by their keys; subsets may be made of both models."""
    rows = rows_of_model(table, model.scores, across.items)
    rows += [row for row in rows_across(table, replace(across, models=pair)) if row.of and row.of.name == model.name]
    return {key_text(row.keys): row for row in rows}


# ---------------------------------------------------------------------------------------------------------------------
# From the files


def compare_models(
    models: Sequence[str], table: str | None = None, run: str = DEFAULT_RUN
) -> tuple[list[Comparison], list[str]]:
    """Compare two models in the table with this path, else in the main table of every benchmark that has both.

    A model is a name, or RUN:NAME for its answers in another run. Gives comparisons, and why others were
    refused. Raises PunchlineError when there is none at all.
    """
    project = Project(made_with(run))
    a, b = models
    if a == b:
        raise PunchlineError(f"{a} is one model; name two")
    if table is not None:
        places = [
            (of, found) for of in _loaded() for found in of.TABLES.values() if project.paths.table(found.file) == table
        ]
        return [compare_files(of, found, (a, b), project) for of, found in places[:1]], []
    placed = [in_run(name, project) for name in (a, b)]
    scored = [of for of in _loaded() if all(Path(own.paths.scores(of.NAME, name)).is_file() for own, name in placed)]
    if not scored:
        for own, name in placed:
            _check_scored(name, own)
        raise PunchlineError(f"no benchmark has scores of both {a} and {b}", hint=SCORE)
    made: list[Comparison] = []
    refused: list[str] = []
    for of in scored:
        try:
            made.append(compare_somewhere(of, (a, b), project))
        except PunchlineError as error:
            if len(scored) == 1:
                raise
            refused.append(str(error))
    if not made:
        raise PunchlineError("; ".join(refused))
    return made, refused


def compare_somewhere(benchmark: Benchmark, models: tuple[str, str], project: Project) -> Comparison:
    """In the main table, else in the first in which both models have scored answers."""
    first = main_table(benchmark)
    try:
        return compare_files(benchmark, first, models, project)
    except Unshared:
        for table in benchmark.TABLES.values():
            if table.rows is not None and table is not first:
                with suppress(Unshared):
                    return compare_files(benchmark, table, models, project)
        raise


def main_table(benchmark: Benchmark) -> Table:
    """What a benchmark's models are compared by: the table it names, else the first with rows of single models."""
    tables: list[Table] = [table for table in benchmark.TABLES.values() if table.of_models]
    return max(tables, key=lambda table: (table.main, table.rows is not None))  # of equals the first


def in_run(model: str, project: Project) -> tuple[Project, str]:
    """(the run that its answers are of, the model's name) of NAME or RUN:NAME. Raises PunchlineError."""
    run, _, name = model.rpartition(":")
    project = Project(made_with(run)) if run else project
    chosen = project.selection
    if name in chosen.models or name not in stems("config/model"):
        return project, name
    return Project(msgspec.structs.replace(chosen, models=[*chosen.models, name])), name  # asked before


def _loaded() -> list[Benchmark]:
    return [benchmarks.load(name) for name in benchmark_names()]


def _check_scored(model: str, project: Project) -> None:
    """Raises PunchlineError for a model without scores in any benchmark."""
    folders = [Path(project.paths.scores(name, model)).parent for name in benchmark_names()]
    known = {path.stem for folder in folders for path in folder.glob("*.parquet")}
    if model not in known:
        hint = nearest(model, known) if known else SCORE
        raise PunchlineError(f"no scores of {model} in {project.paths.results}/*/scores/", hint=hint)


def compare_files(benchmark: Benchmark, table: Table, models: tuple[str, str], project: Project) -> Comparison:
    """Compare from score files, items, gold and released files."""
    of = benchmark.NAME
    _check_table_of_models(table)
    placed = [in_run(model, project) for model in models]
    notes = [note for own, name in placed for note in _check_scores(of, name, own)]
    items = _items(benchmark, [own for own, _ in placed])
    scored = []
    for label, (own, name) in zip(models, placed, strict=True):
        path = own.paths.scores(of, name)
        _check_items(path, own.paths.items(of))
        frame, _ = scores_frame(path, items, table.published_rule)
        card = read_card(name) if name in stems("config/model") else None
        kind, engine = (kind_of(card), card.engine) if card is not None else ("measured", "")
        scored.append(Model(label, kind, engine, frame, card, _judge_card(frame)))
    raw = [project.paths.raw(of, name) for name in table.files] if table.across is not None else []
    users = [path for name in table.own if Path(path := paths.own(of, name)).is_file()]
    if absent := [path for path in raw if not Path(path).is_file()]:
        raise PunchlineError("no such file", file=absent[0], hint=SCORE)
    across = Across([], items, read_files([*raw, *users]))
    made = compare(of, table, (scored[0], scored[1]), across, project.selection.seed)
    (one, model), (other, another) = placed
    notes += differences(of, (model, another), one.paths, other.paths)
    return replace(made, notes=[*notes, *made.notes])


def _check_scores(benchmark: str, model: str, project: Project) -> list[str]:
    """Notes on a model's scores. Raises PunchlineError where they, items or gold are not there, or not as made."""
    where, path = project.paths, project.paths.scores(benchmark, model)
    if not Path(path).is_file():
        _check_scored(model, project)
        raise PunchlineError(f"no scores of {model}", file=path, hint=SCORE)
    for needed in (where.items(benchmark), where.gold(benchmark)):
        if not Path(needed).is_file():
            raise PunchlineError("no such file", file=needed, hint=SCORE)
    return not_current(benchmark, model, project)


def _items(benchmark: Benchmark, projects: Sequence[Project]) -> pd.DataFrame:
    """Items that models were asked about: of two runs what both have, each its own."""
    items: dict[str, Item] = {}
    golds: dict[str, Gold] = {}
    for where in dict.fromkeys(own.paths for own in reversed(projects)):
        items |= Keyed(where.items(benchmark.NAME), Item)
        golds |= Keyed(where.gold(benchmark.NAME), Gold)
    return items_frame(items, golds, benchmark.ITEMS)


def _check_items(path: str, file: str) -> None:
    """Raises PunchlineError for scores of items that are not in a file of items."""
    if unknown := sorted(set(read_columns(path, ["item_id"])["item_id"]) - Keyed(file, Item).keys()):
        what = f"{len(unknown):,} scored items are not in {file}, e.g. {unknown[0]}"
        raise PunchlineError(what, file=path, hint="The scores are of another selection: make them again")


def _judge_card(scores: pd.DataFrame) -> ModelCard | None:
    """The card of the one judge whose verdicts were read, for its price; None where there is none."""
    judges = scores["judge"].dropna().unique().tolist()
    name = judges[0] if len(judges) == 1 else ""
    return read_card(name, "config/judge") if name in stems("config/judge") else None
