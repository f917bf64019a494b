"""Two models on the same items: paired differences of a table's columns, with what they are worth.

The unit of all statistics is the cluster (a comic, a caption), as in the tables' intervals: its items are drawn,
swapped and left out together. docs/compare.md says what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy import stats as distributions
from tabulate import tabulate as tabulate_text

from punchline.bench.table import Across, Graded, Row, Table, key_text
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import Benchmark
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import Gold, Grade, Item, ModelCard, Rule
from punchline.core.stats import Array, Estimate
from punchline.core.storage import read_records, read_table
from punchline.project import paths
from punchline.project.lineage import kind_of
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN
from punchline.project.provenance import Checks
from punchline.project.runs import made_with
from punchline.project.selection import read_card, stems
from punchline.stages.prepare import read_files

RESAMPLES = 9_999  # of the bootstrap and of the permutation test, which is exact where there are no more swaps
ALPHA = 0.05
POWER = 0.8
FEW = 20  # clusters; with fewer a note warns
ROOM = 4_000_000  # numbers that a batch of resamples may take
EFFECT = "d_z (difference / standard deviation of the clusters' differences)"


class Unshared(PunchlineError):
    """Two models that have no scored answer in common."""


@dataclass(frozen=True)
class Paired:
    """What two estimates over the same clusters say. None: undefined, or nothing to resample."""

    a: float
    b: float
    difference: float  # a - b
    low: float | None
    high: float | None
    p: float | None
    effect: float | None
    detectable: float | None
    clusters: int


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
# Statistics


def paired_differences(
    pairs: Sequence[tuple[Estimate, Estimate]], seed: int, resamples: int = RESAMPLES
) -> list[Paired]:
    """The differences of pairs of estimates whose values are defined. Pairs with the same clusters share draws."""
    names = [_clusters(*pair) for pair in pairs]
    found: dict[int, Paired] = {}
    for alike in sorted(set(names)):
        chosen = [index for index, of in enumerate(names) if of == alike]
        made = _paired([pairs[index] for index in chosen], alike, seed, resamples)
        found |= dict(zip(chosen, made, strict=True))
    return [found[index] for index in range(len(pairs))]


def _paired(
    pairs: Sequence[tuple[Estimate, Estimate]], names: Sequence[str], seed: int, resamples: int
) -> list[Paired]:
    """Of pairs that all have these clusters, at least one."""
    count = len(names)
    points = [(float(a.point() or 0.0), float(b.point() or 0.0)) for a, b in pairs]
    if count < 2:
        return [Paired(a, b, a - b, None, None, None, None, None, count) for a, b in points]
    sums = [(_by_cluster(a, names), _by_cluster(b, names)) for a, b in pairs]
    drawn: list[list[Array]] = [[] for _ in pairs]
    swapped: list[list[Array]] = [[] for _ in pairs]
    with np.errstate(all="ignore"):  # a resample may leave a value undefined
        for weights in _draws(count, seed, resamples):
            for index, ((a, b), (of_a, of_b)) in enumerate(zip(pairs, sums, strict=True)):
                drawn[index].append(a.value(weights @ of_a) - b.value(weights @ of_b))
        for swaps in _swaps(count, seed, resamples):
            for index, ((a, b), (of_a, of_b)) in enumerate(zip(pairs, sums, strict=True)):
                moved = swaps @ (of_b - of_a)
                swapped[index].append(a.value(of_a.sum(axis=0) + moved) - b.value(of_b.sum(axis=0) - moved))
        left_out = [
            a.value(of_a.sum(axis=0) - of_a) - b.value(of_b.sum(axis=0) - of_b)
            for (a, b), (of_a, of_b) in zip(pairs, sums, strict=True)
        ]
    made = []
    for index, (one, other) in enumerate(points):
        low, high = _interval(np.concatenate(drawn[index]), count)
        p = _p_value(one - other, np.concatenate(swapped[index]), exact=_all_swaps(count, resamples))
        effect, detectable = _effect_and_detectable(one - other, left_out[index])
        made.append(Paired(one, other, one - other, low, high, p, effect, detectable, count))
    return made


def _clusters(a: Estimate, b: Estimate) -> tuple[str, ...]:
    """The clusters of two estimates, in order; of ratios, those only that have anything in them.

    A recall of one rare label, say, rests on few clusters. The others change no ratio and would feign a large sample.
    """
    names = tuple(sorted({str(name) for one in (a, b) for name in one.clusters}))
    sums = [_by_cluster(one, names) for one in (a, b)]
    totals = [of.sum(axis=0) for of in sums]
    pairs = zip((a, b), totals, strict=True)
    if not all(math.isclose(float(one.value(2 * of)), float(one.value(of)), rel_tol=1e-9) for one, of in pairs):
        return names
    filled = (sums[0] != 0).any(axis=1) | (sums[1] != 0).any(axis=1)
    return tuple(name for name, kept in zip(names, filled, strict=True) if kept) or names


def _by_cluster(estimate: Estimate, names: Sequence[str]) -> Array:
    """Statistics summed by cluster, [clusters, k], of these only; zeros for one that the estimate has no item of."""
    place = {name: index for index, name in enumerate(names)}
    summed = np.zeros((len(names), estimate.sums.shape[1]))
    places = [place.get(str(name), -1) for name in estimate.clusters]
    kept = [index for index, of in enumerate(places) if of >= 0]
    np.add.at(summed, [places[index] for index in kept], estimate.sums[kept])
    return summed


def _draws(count: int, seed: int, resamples: int) -> Iterator[Array]:
    """How often each cluster is drawn in each resample: [some resamples, clusters], until there are enough."""
    random = np.random.Generator(np.random.PCG64(seed))
    even = np.full(count, 1 / count)
    for size in _sizes(count, resamples):
        yield random.multinomial(count, even, size=size).astype(np.float64)


def _swaps(count: int, seed: int, resamples: int) -> Iterator[Array]:
    """Which clusters change sides, [some, clusters] of 0 and 1: all ways there are, else `resamples` random ones."""
    if _all_swaps(count, resamples):
        yield (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)
        return
    random = np.random.Generator(np.random.PCG64([seed, 1]))  # other draws than the bootstrap's
    for size in _sizes(count, resamples):
        yield random.integers(2, size=(size, count)).astype(np.float64)


def _all_swaps(count: int, resamples: int) -> bool:
    return count < 60 and 2**count <= resamples + 1


def _sizes(count: int, resamples: int) -> Iterator[int]:
    at_a_time = max(1, ROOM // count)
    return (min(at_a_time, resamples - start) for start in range(0, resamples, at_a_time))


def _interval(drawn: Array, clusters: int) -> tuple[float, float] | tuple[None, None]:
    """95 % percentile interval, expanded for few clusters (Hesterberg, The American Statistician 2015)."""
    drawn = drawn[~np.isnan(drawn)]
    if drawn.size == 0:
        return None, None
    quantile = distributions.t.ppf(1 - ALPHA / 2, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    outside = float(distributions.norm.sf(quantile))
    low, high = np.quantile(drawn, [outside, 1 - outside])
    return float(low), float(high)


def _p_value(observed: float, swapped: Array, *, exact: bool) -> float | None:
    """Two-sided: the share of swaps with a difference as large; random ones and the observed (Phipson, Smyth 2010)."""
    swapped = swapped[~np.isnan(swapped)]
    if swapped.size == 0:
        return None
    as_large = np.abs(swapped) >= abs(observed) * (1 - 1e-9) - 1e-12  # equal but for rounding is equal
    return float(as_large.mean()) if exact else float((as_large.sum() + 1) / (swapped.size + 1))


def _effect_and_detectable(observed: float, left_out: Array) -> tuple[float | None, float | None]:
    """d_z, and the smallest difference that is found with POWER at ALPHA.

    `left_out`: [clusters], the difference without each. The jackknife's standard error times the root of the number of
    clusters is the standard deviation of the clusters' differences where the value is a mean over equal clusters.
    """
    count = left_out.size
    error = math.sqrt((count - 1) / count * float(((left_out - left_out.mean()) ** 2).sum()))
    if not math.isfinite(error) or error <= 1e-12 * max(1.0, abs(observed)):
        return None, None
    wanted = distributions.t.ppf(1 - ALPHA / 2, count - 1) + distributions.t.ppf(POWER, count - 1)
    return observed / (error * math.sqrt(count)), float(wanted * error)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number (Holm, Scandinavian Journal of Statistics 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


# ---------------------------------------------------------------------------------------------------------------------
# Two models in one table


def compare(
    benchmark: str,
    table: Table,
    models: tuple[Graded, Graded],
    golds: Mapping[str, Gold],
    items: Mapping[str, Item],
    files: Mapping[str, bytes],
    seed: int,
) -> Comparison:
    """Compare two models in a table, on what both were scored on. Pure.

    Raises PunchlineError when they share nothing, were scored in different ways, or the table has no row of one model.
    """
    names = (models[0].name, models[1].name)
    _check_graded_table(table)
    a, b = (_by_answer(model, table) for model in models)
    if absent := [name for name, found in zip(names, (a, b), strict=True) if not found]:
        raise PunchlineError(f"no grades of {' and '.join(absent)} for {table.name}", file=table.file, way_out=GRADE)
    _check_alike(a, b, names, table)
    both = sorted(key for key in a.keys() & b.keys() if a[key].scored and b[key].scored)
    shared = _shared(a, b, both)
    if not both:
        counts = (sum(grade.scored for grade in of.values()) for of in (a, b))
        each = ", ".join(f"{name} {count:,}" for name, count in zip(names, counts, strict=True))
        what = f"no answer that is scored for both models (scored: {each})"
        raise Unshared(what, file=table.file, way_out="Run both on the same selection, or choose a table: --table")
    notes: list[str] = []
    restricted, uneven = _common([a[key] for key in both], [b[key] for key in both])
    if uneven:
        kinds = ", ".join(f"{name} ({count:,} answers)" for name, count in sorted(uneven.items()))
        notes.append(f"Only one of the two has it, so it is left out of both: {kinds}.")
    pair = (replace(models[0], grades=restricted[0]), replace(models[1], grades=restricted[1]))
    rows = [_rows_of(table, pair, model, golds, items, files) for model in pair]
    found: list[tuple[str, str, Estimate, Estimate]] = []
    for key in [*rows[0], *(key for key in rows[1] if key not in rows[0])]:
        if key not in rows[0] or key not in rows[1]:
            notes.append(f"Row {key or 'all'}: only {names[0] if key in rows[0] else names[1]} has it.")
            continue
        of_a, of_b = rows[0][key], rows[1][key]
        if of_a.items != of_b.items:
            notes.append(f"Row {key or 'all'}: not compared, as it is of other items for each model.")
            continue
        for column in table.columns:
            one, other = of_a.columns.get(column), of_b.columns.get(column)
            if one is None and other is None:
                continue
            if one is None or other is None or one.point() is None or other.point() is None:
                notes.append(f"{key or 'all'}, {column}: not compared, as it is undefined for one of the two.")
                continue
            if one.n != other.n or sorted(map(str, one.clusters)) != sorted(map(str, other.clusters)):
                notes.append(f"{key or 'all'}, {column}: denominators hang on the answers ({one.n:,} and {other.n:,}).")
            found.append((key, column, one, other))
    if not found:
        raise PunchlineError(
            f"{table.name} has no column that is defined for both models",
            file=table.file,
            way_out="Choose another: --table",
        )
    made = paired_differences([(one, other) for _, _, one, other in found], seed)
    tested = [index for index, paired in enumerate(made) if paired.p is not None]
    adjusted = dict(zip(tested, holm([float(made[index].p or 0.0) for index in tested]), strict=True))
    differences = [
        Difference(key, column, (one.n, other.n), made[index], adjusted.get(index))
        for index, (key, column, one, other) in enumerate(found)
    ]
    if few := sum(paired.clusters < FEW for paired in made):
        notes.append(f"Fewer than {FEW} clusters in {few} of {len(made)} lines: little can be found there.")
    judges = tuple(sorted({str(grade.judge) for of in restricted for grade in of if grade.judge is not None}))
    return Comparison(benchmark, table.name, table.title, table.rule, names, judges, shared, differences, notes)


GRADE = "Make it first: snakemake --cores all, with both among models="
Answer = tuple[str, str, int, str]  # task, condition, sample, item id


def _check_graded_table(table: Table) -> None:
    """Raises PunchlineError for a table that is made of no model's answers."""
    if not table.graded:
        raise PunchlineError(f"{table.name} is made of the released data, of no model's answers", file=table.file)


def _by_answer(model: Graded, table: Table) -> dict[Answer, Grade]:
    """The grades that a table reads, under its rule."""
    return {
        (grade.task, grade.condition, grade.sample, grade.item_id): grade
        for grade in model.grades
        if grade.rule == table.rule and grade.task in table.tasks and grade.condition in table.conditions
    }


def _check_alike(a: Mapping[Answer, Grade], b: Mapping[Answer, Grade], names: tuple[str, str], table: Table) -> None:
    """Raises PunchlineError where the two models' answers were scored in different ways."""
    for what, of in (("by another judge", "judge"), ("in another way", "signature"), ("against other gold", "gold")):
        for key in sorted(a.keys() & b.keys()):
            one, other = getattr(a[key], of), getattr(b[key], of)
            if one != other and a[key].scored and b[key].scored:
                raise PunchlineError(
                    f"{names[0]} and {names[1]} were scored {what}: {one or 'nobody'} and {other or 'nobody'}",
                    file=table.file,
                    record=key[3],
                    field=of,
                    way_out="Make both models' grades in one run: the same judge=, scorers= and data",
                )


def _shared(a: Mapping[Answer, Grade], b: Mapping[Answer, Grade], both: Sequence[Answer]) -> list[Shared]:
    """By task and condition: what is shared, and what is left out of each."""
    made = []
    for task, condition in sorted({key[:2] for key in (*a, *b)}):
        mine = [[grade for key, grade in of.items() if key[:2] == (task, condition)] for of in (a, b)]
        count = sum(key[:2] == (task, condition) for key in both)
        scored = [sum(grade.scored for grade in of) for of in mine]
        unscored = (len(mine[0]) - scored[0], len(mine[1]) - scored[1])
        made.append(Shared(task, condition, count, (scored[0] - count, scored[1] - count), unscored))
    return made


def _common(a: Sequence[Grade], b: Sequence[Grade]) -> tuple[tuple[list[Grade], list[Grade]], dict[str, int]]:
    """The grades with those values only that both have of an answer, and how often which value was left out.

    A judge or scorer that failed on one model's answer leaves a value out there; it must not count for the other.
    """
    made: tuple[list[Grade], list[Grade]] = ([], [])
    uneven: dict[str, int] = {}
    for one, other in zip(a, b, strict=True):
        odd = one.values.keys() ^ other.values.keys()
        for name in odd:
            uneven[name] = uneven.get(name, 0) + 1
        for grade, of in zip((one, other), made, strict=True):
            kept = {name: value for name, value in grade.values.items() if name not in odd}
            of.append(msgspec.structs.replace(grade, values=kept) if odd else grade)
    return made, uneven


def _rows_of(
    table: Table,
    pair: tuple[Graded, Graded],
    model: Graded,
    golds: Mapping[str, Gold],
    items: Mapping[str, Item],
    files: Mapping[str, bytes],
) -> dict[str, Row]:
    """A model's rows by their keys."""
    rows: list[Row] = []
    if table.rows is not None:
        rows += table.rows(model.grades, golds, items)
    if table.across is not None:  # of both models, as subsets may be made of all there are
        named = table.across(Across(pair, golds, items, files, []))
        rows += [row for _, row, of in named if of is not None and of.name == model.name]
    return {key_text(row.keys): row for row in rows}


# ---------------------------------------------------------------------------------------------------------------------
# From the files


def compare_models(
    models: Sequence[str], table: str | None = None, run: str = DEFAULT_RUN
) -> tuple[list[Comparison], list[str]]:
    """Compare two models in the table with this path, else in the main table of every benchmark that has both.

    Comparisons, and why others were refused. Raises PunchlineError when there is none at all.
    """
    project = Project(made_with(run))
    a, b = models
    if a == b:
        raise PunchlineError(f"{a} is one model; name two")
    if table is not None:
        places = [
            (of, found) for of in _loaded() for found in of.TABLES.values() if project.paths.table(found.file) == table
        ]
        return [_compare_files(of, found, (a, b), project) for of, found in places[:1]], []
    graded = [of for of in _loaded() if all(Path(project.paths.grades(of.NAME, name)).is_file() for name in (a, b))]
    if not graded:
        for name in (a, b):
            _check_graded(name, project)
        raise PunchlineError(f"no benchmark has grades of both {a} and {b}", way_out=GRADE)
    made: list[Comparison] = []
    refused: list[str] = []
    for of in graded:
        try:
            made.append(_compare_somewhere(of, (a, b), project))
        except PunchlineError as error:
            if len(graded) == 1:
                raise
            refused.append(str(error))
    if not made:
        raise PunchlineError("; ".join(refused))
    return made, refused


def _compare_somewhere(benchmark: Benchmark, models: tuple[str, str], project: Project) -> Comparison:
    """In the main table, else in the first in which both models have scored answers."""
    first = main_table(benchmark)
    try:
        return _compare_files(benchmark, first, models, project)
    except Unshared:
        for table in benchmark.TABLES.values():
            if table.graded and table.rows is not None and table is not first:
                with suppress(Unshared):
                    return _compare_files(benchmark, table, models, project)
        raise


def main_table(benchmark: Benchmark) -> Table:
    """The first of a benchmark's tables that has rows of single models."""
    tables: list[Table] = [table for table in benchmark.TABLES.values() if table.graded]
    return next((table for table in tables if table.rows is not None), tables[0])


def _loaded() -> list[Benchmark]:
    return [benchmarks.load(name) for name in benchmark_names()]


def _check_graded(model: str, project: Project) -> None:
    """Raises PunchlineError for a model without grades in any benchmark."""
    folders = [Path(project.paths.grades(name, model)).parent for name in benchmark_names()]
    known = {path.stem for folder in folders for path in folder.glob("*.parquet")}
    if model not in known:
        way_out = nearest(model, known) if known else GRADE
        raise PunchlineError(f"no grades of {model} in {project.paths.results}/*/grades/", way_out=way_out)


def _check_current(benchmark: str, model: str, project: Project) -> None:
    """Raises PunchlineError for grades that are not what the run's selection gives now."""
    if benchmark in project.selection.benchmarks and model in project.selection.models:
        why = Checks()(project.grade(benchmark, model)).reason
        if why is not None:
            path = project.paths.grades(benchmark, model)
            way_out = "Make them again: snakemake --cores all"
            raise PunchlineError(f"these grades are not current: {why}", file=path, way_out=way_out)


def _compare_files(benchmark: Benchmark, table: Table, models: tuple[str, str], project: Project) -> Comparison:
    """Compare from grades, items, gold and files as they lie there."""
    of, where = benchmark.NAME, project.paths
    _check_graded_table(table)
    for name in models:
        if not Path(where.grades(of, name)).is_file():
            _check_graded(name, project)
            raise PunchlineError(f"no grades of {name}", file=where.grades(of, name), way_out=GRADE)
        _check_current(of, name, project)
    for path in (where.items(of), where.gold(of)):
        if not Path(path).is_file():
            raise PunchlineError("no such file", file=path, way_out=GRADE)
    items = {item.item_id: item for item in read_records(where.items(of), Item)}
    golds = {gold.item_id: gold for gold in read_records(where.gold(of), Gold)}
    read: dict[str, Collection[str]] = {"rule": {table.rule}, "task": set(table.tasks)}
    graded = []
    for name in models:
        grades = read_table(where.grades(of, name), Grade, read)
        if unknown := sorted({grade.item_id for grade in grades} - items.keys()):
            raise PunchlineError(
                f"{len(unknown):,} graded items are not in {where.items(of)}, e.g. {unknown[0]}",
                file=where.grades(of, name),
                way_out="The grades are of another selection: make them again",
            )
        card = read_card(name) if name in stems("config/model") else None
        engine = card.engine if card is not None else ""
        kind = kind_of(card) if card is not None else "measured"
        graded.append(Graded(name, kind, engine, grades, card, _judge_card(grades)))
    needed = [where.raw(of, name) for name in table.files] if table.across is not None else []
    own = [path for name in table.own if Path(path := paths.own(of, name)).is_file()]
    if absent := [path for path in needed if not Path(path).is_file()]:
        raise PunchlineError("no such file", file=absent[0], way_out=GRADE)
    files = read_files([*needed, *own])
    return compare(of, table, (graded[0], graded[1]), golds, items, files, project.selection.seed)


def _judge_card(grades: Sequence[Grade]) -> ModelCard | None:
    """The card of the one judge whose verdicts were read, for its price; None where there is none."""
    judges = {grade.judge for grade in grades if grade.judge is not None}
    name = next(iter(judges)) if len(judges) == 1 else ""
    return read_card(name, "config/judge") if name in stems("config/judge") else None


# ---------------------------------------------------------------------------------------------------------------------
# For people and for programs


def as_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data; `models` names a and b, `left_out` and `n` are in that order."""
    plain = {
        name: getattr(comparison, name) for name in ("benchmark", "table", "title", "rule", "models", "judges", "notes")
    }
    constants = {"effect": EFFECT, "alpha": ALPHA, "power": POWER, "tests": _tests(comparison)}
    differences = [
        {"row": one.row, "column": one.column, "n": one.n, **asdict(one.paired), "p_holm": one.p_holm}
        for one in comparison.differences
    ]
    return plain | constants | {"shared": [asdict(one) for one in comparison.shared], "differences": differences}


def as_text(comparison: Comparison) -> str:
    """A comparison for reading."""
    a, b = comparison.models
    judges = f", judged by {', '.join(comparison.judges)}" if comparison.judges else ""
    lines = [
        f"{comparison.benchmark} {comparison.table}: {comparison.title}",
        f"A = {a}, B = {b}; rule {comparison.rule}{judges}",
    ]
    alike: dict[tuple[int, tuple[int, int], tuple[int, int]], list[str]] = {}
    for one in comparison.shared:
        name = one.task if one.condition == "default" else f"{one.task} ({one.condition})"
        alike.setdefault((one.both, one.left_out, one.unscored), []).append(name)
    for (both, left_out, unscored), names in alike.items():
        shared = f"{', '.join(names)}: {both:,} answers{' each' if len(names) > 1 else ''} scored for both"
        lines.append(
            f"{shared}; left out, as the other has none: {left_out[0]:,} of A,"
            f" {left_out[1]:,} of B; not scored: {unscored[0]:,} of A, {unscored[1]:,} of B"
        )
    headers = [
        "row",
        "column",
        "n",
        "clusters",
        "A",
        "B",
        "A - B",
        "95 % interval",
        "p",
        "p (Holm)",
        "d_z",
        "detectable",
    ]
    cells = []
    for row in comparison.differences:
        paired = row.paired
        n = f"{row.n[0]:,}" if row.n[0] == row.n[1] else f"{row.n[0]:,} / {row.n[1]:,}"
        interval = "" if paired.low is None or paired.high is None else f"{_short(paired.low)} to {_short(paired.high)}"
        numbers = [_short(value) for value in (paired.a, paired.b, paired.difference)]
        tests = [_p_text(paired.p), _p_text(row.p_holm), _short(paired.effect), _short(paired.detectable)]
        cells.append([row.row, row.column, n, f"{paired.clusters:,}", *numbers, interval, *tests])
    shown = [index for index in range(len(headers)) if any(cell[index] for cell in cells)]
    body = [[cell[index] for index in shown] for cell in cells]
    lines += ["", tabulate_text(body, [headers[index] for index in shown], tablefmt="plain", disable_numparse=True), ""]
    lines += [f"- {note}" for note in comparison.notes]
    lines.append(
        f"- Holm's correction is over the {_tests(comparison)} tests of this table; {EFFECT}; detectable: the smallest"
        f" difference found with power {POWER} at alpha {ALPHA}, uncorrected."
    )
    return "\n".join(lines)


def _tests(comparison: Comparison) -> int:
    return sum(one.p_holm is not None for one in comparison.differences)


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _p_text(value: float | None) -> str:
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
