"""Tables: what a benchmark declares, and how it becomes CSV, Markdown and LaTeX with intervals and published rows."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from punchline.bench.chart import Chart
from punchline.bench.column import Better, Column, estimates
from punchline.bench.frame import TRUNCATED, Flags, Frame, Scope
from punchline.core.benchmark import DEFAULT, Verdict
from punchline.core.intervals import NONE, interval
from punchline.core.records import STATES, Cell, ModelCard, Rule, Scalar, digest_of_all, sha256
from punchline.core.stats import Estimate


@dataclass(frozen=True)
class Row:
    """One row of a table for one model (or, in a table of the data itself, for one row name)."""

    keys: Mapping[str, str | int]  # the table's key columns, e.g. {"subset": "all"}
    columns: Mapping[str, Estimate | None] = field(default_factory=dict)  # None: not attempted, the cell stays empty
    items: Flags | None = None  # of the scope: what the row speaks of; its states are counted over them
    tasks: tuple[str, ...] | None = None  # tasks that the row rests on; None: the table's
    whole: bool = True  # False: it rests on less than the paper's, whatever its states say
    condition: str = DEFAULT  # in which those tasks were asked
    asked: tuple[tuple[str, str], ...] = ()  # (task, condition) that it rests on besides
    never_asked: int = 0  # items that were not asked because what they hang on is not there; counted as missing
    frame: Frame | None = None  # the answers that its columns are of


@dataclass(frozen=True)
class Table:
    """One table of a paper: its columns, and its rows.

    `split` says which rows one model has, without their columns; by default one, of all items. `across` makes rows that
    need several models, prices or the user's files; `data_rows` those of the data itself, from raw files, with their
    names; `compared` those that need a scorer besides: of the files, the printed rows, and what scorers said. A table
    may have several of them (PixelHumor table 4: a row of the labels, and the models').
    """

    name: str  # table8
    title: str
    columns: Sequence[Column | str]  # names only where they are not made of one model's answers
    file: str = ""  # its CSV, below the folder of a run's results: table8.csv
    rule: Rule = "paper"  # the rule that the published values follow
    keys: tuple[str, ...] = ()  # key columns between `subset` and the metrics
    whole: tuple[str, ...] = ()  # columns that are counts, for people to read
    tasks: tuple[str, ...] = ()  # tasks whose grades it reads
    conditions: tuple[str, ...] = (DEFAULT,)  # conditions whose grades it reads
    split: Callable[[Frame], Iterable[Row]] | None = None
    data_rows: Callable[[Mapping[str, bytes]], list[tuple[str, Row]]] | None = None
    across: Callable[[Across], list[NamedRow]] | None = None
    compared: Callable[[Mapping[str, bytes], Sequence[PublishedRow], Verdicts], list[tuple[str, Row]]] | None = None
    files: tuple[str, ...] = ()  # raw files that data_rows, compared or across reads
    runs: tuple[str, ...] = ()  # files of the released runs that across reads, where a selected card replays one
    summed_up: Callable[[Mapping[str, bytes]], list[PublishedRow]] | None = None  # rows that those files state
    own: tuple[str, ...] = ()  # files that are the user's, in config/<benchmark>/; absent ones leave their rows out
    notes: tuple[str, ...] = ()
    kind: str = "measured"  # of the rows of data_rows: measured | baseline | human
    prices: bool = False  # whether it shows what answers cost
    order: tuple[str, ...] = ()  # names of the columns as the CSV has them, where that is another order
    ways: Mapping[str, Better] = field(default_factory=dict)  # what is better in columns that are names only
    n_from: str | None = None  # the column whose denominator is a row's n; None: the largest of them
    main: bool = False  # whether models are compared by it; without any, by the benchmark's first of models
    chart: Chart | None = None  # how it is drawn, where the paper draws it; None: its first column, a line a model

    def __post_init__(self) -> None:
        if not self.tasks:
            tasks = dict.fromkeys(task for column in self.measured for task in column.tasks)
            object.__setattr__(self, "tasks", tuple(tasks))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its metric columns, in the order of the CSV."""
        return self.order or tuple(map(str, self.columns))

    @property
    def measured(self) -> list[Column]:
        """Columns that are made of a model's answers."""
        return [column for column in self.columns if isinstance(column, Column)]

    def better(self, column: str) -> Better:
        """What is better in one of its columns; of names only it is more, counts and rows of no models apart."""
        if not self.graded or column in self.whole:
            return "neither"
        own: dict[str, Better] = {one.name: one.better for one in self.measured}
        return {**own, **self.ways}.get(column, "higher")

    @property
    def by_model(self) -> bool:
        """Whether it has rows that need one model only."""
        return bool(self.measured) or self.split is not None

    @property
    def graded(self) -> bool:
        """Whether it reads grades at all."""
        return self.by_model or self.across is not None

    @property
    def parsed(self) -> tuple[str, ...]:
        """Tasks of which it matters what was read out of the answers."""
        looks = [column.parsed for column in self.measured]
        return self.tasks if any(looks) or not looks else ()

    def read_by(self, frame: Frame) -> Frame:
        """The grades of a model that it reads."""
        return frame.of(self.tasks, self.conditions)

    def rows(self, frame: Frame) -> Iterator[Row]:
        """A model's rows, each made when it is taken: their sums take much memory."""
        if not self.by_model:
            return
        own = self.read_by(frame)
        rows = [Row({})] if self.split is None else self.split(own)
        every = frame.scope.everything
        for row in rows:
            of = own if row.frame is None else row.frame
            items = every if row.items is None else row.items
            columns = estimates(self.measured, of, items)
            tasks = self.tasks if row.tasks is None else row.tasks
            yield replace(row, columns={**columns, **row.columns}, items=items, tasks=tasks, frame=own)


def tables(benchmark: str, *made: Table) -> dict[str, Table]:
    """A benchmark's tables by name; a file is named after its table."""
    return {one.name: replace(one, file=one.file or f"{benchmark}/{one.name}.csv") for one in made}


class NamedRow(NamedTuple):
    """A row of `across`: `model` is the model that its items and tasks speak of, or None for a row of several."""

    name: str
    row: Row
    model: Model | None = None


@dataclass(frozen=True)
class Model:
    """One model's grades, for a table."""

    name: str
    kind: str  # measured | baseline
    engine: str
    frame: Frame
    card: ModelCard | None = None
    judge: ModelCard | None = None  # None: no judge, or one whose verdicts were released


@dataclass(frozen=True)
class Across:
    """What `across` gets: every model's grades under one rule, what is known of the models, and files by name."""

    models: Sequence[Model]
    scope: Scope
    files: Mapping[str, bytes]
    notes: list[str]  # across may add to them


Verdicts = Mapping[str, Verdict]  # by id of a request
PublishedRow = dict[str, str]  # paper, table, row, key, column, value, n, note

# The first of these that an answer to one of a row's tasks is in is the item's state in that row.
WORST = ("failed", "missing", "refused", "unparsable")
COUNTED = (*(state for state in STATES if state != "ok"), "truncated")
RETRY = "punchline retry"
TOLD = 0.01  # the share of answers cut off that a note speaks of


class Value(msgspec.Struct, frozen=True, array_like=True):
    """One cell, measured."""

    n: int
    value: float | None
    lo: float | None
    hi: float | None
    grades: str  # digest_of_all of the grades' digests
    interval: str = ""  # signature of the interval's method


class Measured(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of one model, or of the data, as plain data: all that a table shows of it."""

    keys: dict[str, str | int]
    values: dict[str, Value]
    items: int = 0  # that it speaks of, each sample by itself; 0 for rows of the data
    states: dict[str, int] = {}
    tasks: tuple[str, ...] = ()
    whole: bool = True
    filter: dict[str, Scalar] = {}  # what selects its grades


@dataclass(frozen=True)
class Part:
    """A model's rows of one table."""

    name: str
    kind: str  # measured | baseline | human
    engine: str
    rows: Sequence[Measured]


@dataclass(frozen=True)
class Tabulated:
    """A finished table: its rows as they are written, and a Cell for every computed value."""

    columns: tuple[str, ...]
    rows: list[dict[str, str | int | float | None]]
    cells: list[Cell]
    notes: list[str]


def key_text(keys: Mapping[str, str | int]) -> str:
    """Key columns as one text, e.g. `style=pun`; as in the column `key` of config/published/."""
    return ";".join(f"{name}={value}" for name, value in keys.items())


def measure(rows: Iterable[Row], *, shown: bool = True) -> list[Measured]:
    """Rows as plain data: points, states and, where they are shown, intervals and what names their grades."""
    digests: dict[int, tuple[object, str]] = {}  # with what has that id, so that nothing else gets it

    def value(estimate: Estimate) -> Value:
        of = estimate.grades
        if id(of) not in digests:
            digests[id(of)] = of, _digest_of_all(of) if shown else ""
        low, high = interval(estimate) if shown else NONE
        method = "" if low is None else estimate.signature
        return Value(estimate.n, estimate.point(), low, high, digests[id(of)][1], method)

    made = []
    for row in rows:
        values = {name: value(found) for name, found in row.columns.items() if found is not None}
        tasks = row.tasks or ()
        items, states = (0, {}) if row.frame is None else count_states(row.frame, row)
        where: dict[str, Scalar] = {"tasks": ",".join(tasks)} if row.frame is not None else {}
        where |= {} if row.condition == DEFAULT else {"condition": row.condition}
        where |= {"asked": ",".join("@".join(pair) for pair in row.asked)} if row.asked else {}
        one = Measured(keys=dict(row.keys), values=values, items=items, states=states, tasks=tasks, filter=where)
        made.append(msgspec.structs.replace(one, whole=row.whole))
    return made


def _digest_of_all(digests: Sequence[str] | npt.NDArray[np.void]) -> str:
    if isinstance(digests, np.ndarray):
        return sha256(np.sort(digests).tobytes().hex("\n", digests.itemsize).encode())
    return digest_of_all(digests)


def tabulate(
    table: Table,
    parts: Sequence[Part],
    published: Sequence[PublishedRow],
    *,
    rule: Rule,
    complete: bool,
    subset: tuple[str, str] | None = None,
    printed_as: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    retry: str = RETRY,
) -> Tabulated:
    """A table of its rows and the paper's. Pure: equal input gives equal output.

    `printed_as`: {model: name of its row in the paper}; that row then follows the model's own. `complete`: whether the
    selection is all of the paper's items; `subset`: what the user's is called, and what it is. A row of ours is
    comparable when the selection is complete, none of its items is missing or failed, and the rule is the table's own;
    the published rows are when any of ours is.
    """
    extra = tuple(key for key in table.keys if key != "subset")
    columns = ("model", "kind", "engine", "scoring", "subset", *extra, "n", *(f"n_{name}" for name in COUNTED))
    for column in table.names:
        columns += (column, f"{column}_lo", f"{column}_hi")
    columns += ("comparable", "note")
    rows: list[dict[str, str | int | float | None]] = []
    cells: list[Cell] = []
    for part in parts:
        for row in part.rows:
            rows.append(_written(table, part, row, rule, complete=complete, subset=subset))
            cells += _cells(table, part, row, rule)
    comparable = any(row.get("comparable") == "yes" for row in rows)
    rows = _beside(rows, published_rows(table, published, comparable=comparable), printed_as or {}, table.keys)
    said = [*table.notes, *notes]
    cut = "were cut off by their limit of tokens (n_truncated; docs/models.md)"
    said += [f"{which} {cut}." for which in _most(parts, "truncated", TOLD)]
    said += [f"INCOMPLETE: {which} failed; `{retry}` asks them once more." for which in _most(parts, "failed")]
    if any(row["kind"] == "published" for row in rows) and not comparable:
        why = f"rule {rule}, the paper's is {table.rule}" if rule != table.rule else "other items than the paper's"
        said.append(f"Published rows are not comparable with ours: {why}.")
    return Tabulated(columns, rows, cells, [*said, *_methods(cells)])


def _methods(cells: Sequence[Cell]) -> list[str]:
    """A note on how the intervals of which columns were made."""
    columns: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.interval:
            columns.setdefault(cell.interval.partition("|")[0], {})[cell.column] = None
    named = [f"{method} ({', '.join(of)})" if len(columns) > 1 else method for method, of in columns.items()]
    return [f"95 % intervals, by cluster: {'; '.join(named)} (docs/intervals.md)."] if named else []


def _written(
    table: Table, part: Part, row: Measured, rule: Rule, *, complete: bool, subset: tuple[str, str] | None
) -> dict[str, str | int | float | None]:
    """A row as it is written."""
    values = {name: row.values[name] for name in table.names if name in row.values}
    counts = {name: value.n for name, value in values.items()}
    n = max(counts.values(), default=0) if table.n_from is None else counts.get(table.n_from, 0)
    written: dict[str, str | int | float | None] = {"model": part.name, "kind": part.kind, "engine": part.engine}
    absent = row.states.get("missing", 0) + row.states.get("failed", 0)
    if row.items:  # an item that lacks an answer to one of several tasks is counted there, and not in n
        n = min(n, row.items - absent)
    written |= {"scoring": rule, "subset": "all", **row.keys, "n": n}
    said = []
    if subset is not None and row.filter:  # of answers: rows of the data itself are of all of it
        written["subset"] = subset[0] if written["subset"] == "all" else f"{subset[0]}: {written['subset']}"
        said.append(subset[1])
    written |= {f"n_{name}": row.states.get(name, 0) for name in COUNTED}
    for name, value in values.items():
        written |= {name: value.value, f"{name}_lo": value.lo, f"{name}_hi": value.hi}
    whole = complete and row.whole and rule == table.rule and not absent
    written["comparable"] = "yes" if whole else "no"
    fewer = [f"{name} n={count}" for name, count in counts.items() if count != n]
    if not fewer and row.tasks and n == 0:
        tasks, columns = ", ".join(row.tasks), ", ".join(table.names)
        fewer = [f"nothing to score: no answer to {tasks}"]
        if answered := max(0, row.items - absent):
            fewer = [
                f"nothing to score: {answered:,} items with answers to {tasks}, and no value for {columns} of them"
            ]
    if said or fewer:
        written["note"] = "; ".join([*said, *fewer])
    return written


def _most(parts: Sequence[Part], state: str, share: float = 0.0) -> list[str]:
    """Of each model with more than this share of a row's items in a state: how many, in the row where it is most."""
    most: dict[str, tuple[float, str]] = {}
    for part in parts:
        for row in part.rows:
            count, known = row.states.get(state, 0), most.get(part.name, (share, ""))
            if row.items and count / row.items > known[0]:
                where = f" ({key_text(row.keys)})" if row.keys else ""
                text = f"{part.name}: answers on {count:,} of {row.items:,} items{where}"
                most[part.name] = count / row.items, text
    return [text for _, text in most.values()]


def _cells(table: Table, part: Part, row: Measured, rule: Rule) -> list[Cell]:
    """Every computed value of a row."""
    chosen: dict[str, Scalar] = {"model": part.name, "rule": rule} if row.filter else {}
    return [
        Cell(
            table=table.name,
            row="|".join(text for text in (part.name, key_text(row.keys)) if text),
            column=name,
            value=value.value,
            lo=value.lo,
            hi=value.hi,
            n=value.n,
            states=row.states,
            grades=value.grades,
            interval=value.interval,
            filter={**chosen, **row.filter, **row.keys},
        )
        for name in table.names
        if (value := row.values.get(name)) is not None
    ]


def _beside(
    ours: list[dict[str, str | int | float | None]],
    papers: list[dict[str, str | int | float | None]],
    printed_as: Mapping[str, str],
    keys: Sequence[str] = (),
) -> list[dict[str, str | int | float | None]]:
    """Our rows in their order, each followed by its row in the paper; the paper's others come last.

    A row is a model's where it is `printed_as` that; of those, the one with the paper's keys, or else the last.
    """
    after: dict[int, list[dict[str, str | int | float | None]]] = {}
    rest: list[dict[str, str | int | float | None]] = []
    for paper in papers:
        known = {key: paper[key] for key in keys if key in paper}
        of_model = [at for at, own in enumerate(ours) if printed_as.get(str(own["model"])) == paper["model"]]
        like = [at for at in of_model if all(str(ours[at].get(key)) == value for key, value in known.items())]
        (after.setdefault((like or of_model)[-1], []) if of_model else rest).append(paper)
    return [row for at, own in enumerate(ours) for row in (own, *after.get(at, ()))] + rest


def count_states(frame: Frame, row: Row) -> tuple[int, dict[str, int]]:
    """(items that the row speaks of, {state but ok, or truncated: items}), each sample of an item by itself.

    An item is in one state, the worst of its answers to the row's tasks; beside it, it is truncated where one of them
    is. A task without a single answer was not attempted and does not count, unless none was. What has no state was not
    asked; where nothing has one, all is missing.
    """
    assert row.items is not None
    pairs = [*((task, row.condition) for task in row.tasks or ()), *row.asked]
    found = [frame.states(*pair)[row.items] for pair in pairs]
    if not any(bits.any() for bits in found):
        items = int(row.items.sum()) if pairs else 0
        return items, {"missing": items} if items else {}
    missing = np.uint8(1 << STATES.index("missing"))
    attempted = [bits for bits in found if (bits & ~missing).any()]
    every = functools.reduce(np.bitwise_or, attempted or found)
    left, never = every[every > 0], row.never_asked * frame.samples
    counts, items = Counter({"missing": never}), len(left) + never
    counts["truncated"] = int((left & TRUNCATED > 0).sum())
    for state in WORST:
        here = (left >> STATES.index(state) & 1).astype(np.bool_)
        counts[state] += int(here.sum())
        left = left[~here]
    return items, {name: counts[name] for name in COUNTED if counts[name]}


def published_rows(
    table: Table, published: Sequence[PublishedRow], *, comparable: bool
) -> list[dict[str, str | int | float | None]]:
    """The paper's rows of a table, values as printed."""
    rows: dict[tuple[str, str], dict[str, str | int | float | None]] = {}
    for cell in published:
        if cell["table"] != table.name:
            continue
        row = rows.setdefault((cell["row"], cell["key"]), {})
        if not row:
            keys = dict(part.split("=", 1) for part in cell["key"].split(";") if part)
            row |= {"model": cell["row"], "kind": "published", "scoring": table.rule, "subset": "all", **keys}
            row |= {"n": cell["n"], "comparable": "yes" if comparable else "no"}
        if cell["note"]:
            row["note"] = cell["note"]
        row[cell["column"]] = cell["value"]
    return list(rows.values())


def all_parts(
    table: Table,
    by_model: Iterable[Part],
    models: Sequence[Model],
    scope: Scope,
    files: Mapping[str, bytes],
) -> tuple[list[Part], list[str]]:
    """(rows of the data, those of each model, those that need several), and notes on the last."""
    parts: list[Part] = []
    notes: list[str] = []
    data = [] if table.data_rows is None else table.data_rows(files)
    for (name, _), row in zip(data, measure([row for _, row in data]), strict=True):
        parts.append(Part(name, table.kind, "", [row]))
    parts += by_model
    if table.across is not None:
        own = [replace(model, frame=table.read_by(model.frame)) for model in models]
        named = table.across(Across(own, scope, files, notes))
        rows = [row if of is None else replace(row, frame=of.frame) for _, row, of in named]
        for (name, _, of), row in zip(named, measure(rows), strict=True):
            kind, engine = ("measured", "") if of is None else (of.kind, of.engine)
            parts.append(Part(name, kind, engine, [row]))
    return parts, notes
