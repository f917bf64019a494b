"""Two models on the same items: paired differences of a table's columns, with what they are worth.

The unit of all statistics is the cluster (a comic, a caption), as in the tables' intervals: its items are swapped and
left out together. docs/compare.md says what the numbers mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from tabulate import tabulate as tabulate_text

from punchline.audit.paired import POWER, Paired, holm, paired_difference
from punchline.bench.frame import Frame, Scope, read_frame
from punchline.bench.table import Across, Model, Row, Table, key_text
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import Benchmark
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import ModelCard, Rule
from punchline.core.stats import ALPHA, Array, Estimate
from punchline.core.storage import read_columns
from punchline.project import paths
from punchline.project.lineage import kind_of
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN
from punchline.project.provenance import Checks
from punchline.project.runs import made_with, making
from punchline.project.selection import read_card, stems
from punchline.stages.cells import scope_of
from punchline.stages.prepare import read_files

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


def compare(
    benchmark: str, table: Table, models: tuple[Model, Model], files: Mapping[str, bytes], seed: int
) -> Comparison:
    """Compare two models in a table, on what both were scored on. Pure.

    Raises PunchlineError when they share nothing, were scored in different ways, or the table has no row of one model.
    """
    _check_graded_table(table)
    names = (models[0].name, models[1].name)
    frames = [table.read_by(model.frame) for model in models]
    if absent := [name for name, frame in zip(names, frames, strict=True) if not len(frame)]:
        raise PunchlineError(f"no grades of {' and '.join(absent)} for {table.name}", file=table.file, way_out=GRADE)
    a, b = (_answers(frame) for frame in frames)
    scored = [{key for key, row in of.items() if frame.scored[row]} for of, frame in zip((a, b), frames, strict=True)]
    both = sorted(scored[0] & scored[1])
    pair = [frame.take(np.array([of[key] for key in both], np.int64)) for of, frame in zip((a, b), frames, strict=True)]
    _check_alike(pair, both, names, table)
    if not both:
        each = ", ".join(f"{name} {len(own):,}" for name, own in zip(names, scored, strict=True))
        what = f"no answer that is scored for both models (scored: {each})"
        raise Unshared(what, file=table.file, way_out="Run both on the same selection, or choose a table: --table")
    restricted, notes = _common(pair)
    compared = [replace(model, frame=frame) for model, frame in zip(models, restricted, strict=True)]
    found, said = _estimates(table, compared, files)
    if not found:
        raise PunchlineError(
            f"{table.name} has no column that is defined for both models",
            file=table.file,
            way_out="Choose another: --table",
        )
    made = [paired_difference(one, other, seed) for _, _, one, other in found]
    tested = [index for index, paired in enumerate(made) if paired.p is not None]
    adjusted = dict(zip(tested, holm([float(made[index].p or 0.0) for index in tested]), strict=True))
    differences = [
        Difference(key, column, (one.n, other.n), made[index], adjusted.get(index))
        for index, (key, column, one, other) in enumerate(found)
    ]
    notes += said
    if few := sum(paired.clusters < FEW for paired in made):
        notes.append(f"Fewer than {FEW} clusters in {few} of {len(made)} lines: little can be found there.")
    judges = tuple(sorted({str(judge) for frame in pair for judge in frame.judge.used() if judge is not None}))
    shared = _shared((a, b), scored, both)
    return Comparison(benchmark, table.name, table.title, table.rule, names, judges, shared, differences, notes)


GRADE = "Make it first: snakemake --cores all, with both among models="
Answer = tuple[str, str, int, str]  # task, condition, sample, item id


def _check_graded_table(table: Table) -> None:
    """Raises PunchlineError for a table that is made of no model's answers."""
    if not table.graded:
        raise PunchlineError(f"{table.name} is made of the released data, of no model's answers", file=table.file)


def _answers(frame: Frame) -> dict[Answer, int]:
    """{answer: its row}."""
    names, tasks, conditions = frame.scope.names, frame.task.words, frame.condition.words
    columns = zip(frame.task.codes, frame.condition.codes, frame.sample.tolist(), frame.item, strict=True)
    return {
        (tasks[task], conditions[condition], sample, names[item]): row
        for row, (task, condition, sample, item) in enumerate(columns)
    }


def _check_alike(pair: Sequence[Frame], both: Sequence[Answer], names: tuple[str, str], table: Table) -> None:
    """Raises PunchlineError where the two models' answers were scored in different ways."""
    said = [list(zip(frame.judge.each(), frame.signature.each(), frame.gold.each(), strict=True)) for frame in pair]
    for place, what in enumerate(("by another judge", "in another way", "against other gold")):
        for key, ours, theirs in zip(both, *said, strict=True):
            one, other = ours[place], theirs[place]
            if one != other:
                raise PunchlineError(
                    f"{names[0]} and {names[1]} were scored {what}: {one or 'nobody'} and {other or 'nobody'}",
                    file=table.file,
                    record=key[3],
                    field=("judge", "signature", "gold")[place],
                    way_out="Make both models' grades in one run: the same judge=, scorers= and data",
                )


def _shared(
    answers: tuple[Mapping[Answer, int], Mapping[Answer, int]],
    scored: Sequence[Collection[Answer]],
    both: Sequence[Answer],
) -> list[Shared]:
    """By task and condition: what is shared, and what is left out of each."""
    counts = [Counter(key[:2] for key in keys) for keys in (*answers, *scored, both)]
    made = []
    for task, condition in sorted(counts[0].keys() | counts[1].keys()):
        a, b, scored_a, scored_b, common = (count[task, condition] for count in counts)
        made.append(
            Shared(task, condition, common, (scored_a - common, scored_b - common), (a - scored_a, b - scored_b))
        )
    return made


def _common(pair: Sequence[Frame]) -> tuple[list[Frame], list[str]]:
    """The grades with those values only that both have of an answer, and a note on values that were left out.

    A judge or scorer that failed on one model's answer leaves a value out there; it must not count for the other.
    """
    made: list[dict[str, Array]] = [{}, {}]
    uneven: dict[str, int] = {}
    for name in sorted({name for frame in pair for name in frame.data}):
        values = [frame.value(name) for frame in pair]
        odd = np.isnan(values[0]) ^ np.isnan(values[1])
        if odd.any():
            uneven[name] = int(odd.sum())
        for kept, value in zip(made, values, strict=True):
            kept[name] = np.where(odd, np.nan, value)
    kinds = ", ".join(f"{name} ({count:,} answers)" for name, count in uneven.items())
    notes = [f"Only one of the two has it, so it is left out of both: {kinds}."] if uneven else []
    return [frame.having(values) for frame, values in zip(pair, made, strict=True)], notes


def _estimates(
    table: Table, pair: Sequence[Model], files: Mapping[str, bytes]
) -> tuple[list[tuple[str, str, Estimate, Estimate]], list[str]]:
    """(row, column, estimate of each) of all that both have, and notes on what only one has."""
    names = [model.name for model in pair]
    rows = [_rows_of(table, pair, model, files) for model in pair]
    found: list[tuple[str, str, Estimate, Estimate]] = []
    notes = []
    for key in [*rows[0], *(key for key in rows[1] if key not in rows[0])]:
        if key not in rows[0] or key not in rows[1]:
            notes.append(f"Row {key or 'all'}: only {names[0] if key in rows[0] else names[1]} has it.")
            continue
        of_a, of_b = rows[0][key], rows[1][key]
        if not np.array_equal(of_a.items, of_b.items):  # type: ignore[arg-type]
            notes.append(f"Row {key or 'all'}: not compared, as it is of other items for each model.")
            continue
        for column in table.names:
            one, other = of_a.columns.get(column), of_b.columns.get(column)
            if one is None and other is None:
                continue
            if one is None or other is None or one.point() is None or other.point() is None:
                notes.append(f"{key or 'all'}, {column}: not compared, as it is undefined for one of the two.")
                continue
            if one.n != other.n or sorted(one.clusters) != sorted(other.clusters):
                notes.append(f"{key or 'all'}, {column}: denominators hang on the answers ({one.n:,} and {other.n:,}).")
            found.append((key, column, one, other))
    return found, notes


def _rows_of(table: Table, pair: Sequence[Model], model: Model, files: Mapping[str, bytes]) -> dict[str, Row]:
    """A model's rows by their keys."""
    rows = list(table.rows(model.frame))
    if table.across is not None:  # of both models, as subsets may be made of all there are
        named = table.across(Across(pair, model.frame.scope, files, []))
        rows += [row for _, row, of in named if of is not None and of.name == model.name]
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
    graded = [of for of in _loaded() if all(Path(own.paths.grades(of.NAME, name)).is_file() for own, name in placed)]
    if not graded:
        for own, name in placed:
            _check_graded(name, own)
        raise PunchlineError(f"no benchmark has grades of both {a} and {b}", way_out=GRADE)
    made: list[Comparison] = []
    refused: list[str] = []
    for of in graded:
        try:
            made.append(compare_somewhere(of, (a, b), project))
        except PunchlineError as error:
            if len(graded) == 1:
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
            if table.by_model and table is not first:
                with suppress(Unshared):
                    return compare_files(benchmark, table, models, project)
        raise


def main_table(benchmark: Benchmark) -> Table:
    """What a benchmark's models are compared by: the table it names, else the first with rows of single models."""
    tables: list[Table] = [table for table in benchmark.TABLES.values() if table.graded]
    return max(tables, key=lambda table: (table.main, table.by_model))  # of equals the first


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


def _check_graded(model: str, project: Project) -> None:
    """Raises PunchlineError for a model without grades in any benchmark."""
    folders = [Path(project.paths.grades(name, model)).parent for name in benchmark_names()]
    known = {path.stem for folder in folders for path in folder.glob("*.parquet")}
    if model not in known:
        way_out = nearest(model, known) if known else GRADE
        raise PunchlineError(f"no grades of {model} in {project.paths.results}/*/grades/", way_out=way_out)


def _check_current(benchmark: str, model: str, project: Project) -> None:
    """Raises PunchlineError for grades that are not what the run's selection gives now."""
    selection = project.selection
    if benchmark in selection.benchmarks and model in stems("config/model"):
        why = Checks()(project.grade(benchmark, model)).reason
        if why is not None:
            path = project.paths.grades(benchmark, model)
            way_out = f"Make them again: {making(selection.run)}"
            raise PunchlineError(f"these grades are not current: {why}", file=path, way_out=way_out)


def compare_files(benchmark: Benchmark, table: Table, models: tuple[str, str], project: Project) -> Comparison:
    """Compare from grades, items, gold and files as they lie there."""
    of = benchmark.NAME
    _check_graded_table(table)
    placed = [in_run(model, project) for model in models]
    scopes: dict[str, Scope] = {}
    for own, name in placed:
        where, path = own.paths, own.paths.grades(of, name)
        if not Path(path).is_file():
            _check_graded(name, own)
            raise PunchlineError(f"no grades of {name}", file=path, way_out=GRADE)
        _check_current(of, name, own)
        for needed in (where.items(of), where.gold(of)):
            if not Path(needed).is_file():
                raise PunchlineError("no such file", file=needed, way_out=GRADE)
        scope = scopes.get(where.results) or scope_of(own, of)
        scopes[where.results] = scope
        if unknown := sorted(set(read_columns(path, ["item_id"])["item_id"]) - scope.place.keys()):
            raise PunchlineError(
                f"{len(unknown):,} graded items are not in {where.items(of)}, e.g. {unknown[0]}",
                file=path,
                way_out="The grades are of another selection: make them again",
            )
    if len(scopes) > 1:  # what two runs have, each its own
        one, other = scopes.values()
        scope = Scope({**other.items, **one.items}, {**other.golds, **one.golds})
    graded = []
    for label, (own, name) in zip(models, placed, strict=True):
        path = own.paths.grades(of, name)
        frame = read_frame(path, scope, table.rule, table.parsed)
        card = read_card(name) if name in stems("config/model") else None
        engine = card.engine if card is not None else ""
        kind = kind_of(card) if card is not None else "measured"
        graded.append(Model(label, kind, engine, frame, card, _judge_card(frame)))
    raw = [project.paths.raw(of, name) for name in table.files] if table.across is not None else []
    users = [path for name in table.own if Path(path := paths.own(of, name)).is_file()]
    if absent := [path for path in raw if not Path(path).is_file()]:
        raise PunchlineError("no such file", file=absent[0], way_out=GRADE)
    files = read_files([*raw, *users])
    return compare(of, table, (graded[0], graded[1]), files, project.selection.seed)


def _judge_card(frame: Frame) -> ModelCard | None:
    """The card of the one judge whose verdicts were read, for its price; None where there is none."""
    judges = [name for name in frame.judge.used() if name is not None]
    name = judges[0] if len(judges) == 1 else ""
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
    heads, body = lines_of(comparison)
    lines = [
        f"{comparison.benchmark} {comparison.table}: {comparison.title}",
        f"A = {a}, B = {b}; rule {comparison.rule}{judges}",
        *shared_lines(comparison),
        "",
        tabulate_text(body, heads, tablefmt="plain", disable_numparse=True),
        "",
        *(f"- {note}" for note in [*comparison.notes, closing_note(comparison)]),
    ]
    return "\n".join(lines)


def shared_lines(comparison: Comparison) -> list[str]:
    """What both were scored on, and what is left out, tasks that have the same counts together."""
    lines = []
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
    return lines


def lines_of(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """(heads, cells) of the differences; columns that are empty are left out."""
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
    return [headers[index] for index in shown], [[cell[index] for index in shown] for cell in cells]


def closing_note(comparison: Comparison) -> str:
    """How the tests were corrected, and what the last columns are."""
    return (
        f"Holm's correction is over the {_tests(comparison)} tests of this table; {EFFECT}; detectable: the smallest"
        f" difference found with power {POWER} at alpha {ALPHA}, uncorrected."
    )


def _tests(comparison: Comparison) -> int:
    return sum(one.p_holm is not None for one in comparison.differences)


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _p_text(value: float | None) -> str:
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
