"""Tables: what a benchmark declares, and how it becomes CSV, Markdown and LaTeX with intervals and published rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate as tabulate_text

from punchline.core.errors import PunchlineError
from punchline.core.outside import visible
from punchline.core.records import RULES, STATES, Cell, Gold, Grade, Item, ModelCard, Rule, Scalar, State, digest_of_all
from punchline.core.stats import Estimate, interval
from punchline.core.storage import csv_text, parse_csv


@dataclass(frozen=True)
class Row:
    """One row of a table for one model (or, in a table of the data itself, for one row name)."""

    keys: Mapping[str, str | int]  # the table's key columns, e.g. {"subset": "all"}
    columns: Mapping[str, Estimate | None]  # None: not attempted, the cell stays empty
    items: frozenset[str] = frozenset()  # item ids that the row speaks of; its states are counted over them
    tasks: tuple[str, ...] = ()  # tasks that the row rests on
    whole: bool = True  # False: it rests on less than the paper's, whatever its states say
    condition: str = "default"  # in which those tasks were asked
    asked: tuple[tuple[str, str], ...] = ()  # (task, condition) that it rests on besides
    never_asked: int = 0  # items that were not asked because what they hang on is not there; counted as missing


@dataclass(frozen=True)
class Table:
    """One table of a paper. `rows` is pure: grades of ONE model under ONE rule, gold and items in; rows out.

    `data_rows` serves tables of the data itself: raw annotation files in; (row name, row) out. A table may have both
    (PixelHumor table 4: its ground-truth row and the models').
    """

    name: str  # table8
    title: str
    file: str  # its CSV, below the folder of a run's results: table8.csv
    rule: Rule  # the rule that the published values follow
    keys: tuple[str, ...]  # key columns between `subset` and the metrics
    columns: tuple[str, ...]  # metric columns
    whole: tuple[str, ...] = ()  # those that are counts, for people to read
    tasks: tuple[str, ...] = ()  # tasks whose grades it reads
    conditions: tuple[str, ...] = ("default",)  # conditions whose grades it reads
    rows: Callable[[Sequence[Grade], Mapping[str, Gold], Mapping[str, Item]], list[Row]] | None = None
    data_rows: Callable[[Mapping[str, bytes]], list[tuple[str, Row]]] | None = None
    across: Callable[[Across], list[NamedRow]] | None = None  # rows that need several models, prices, the user's files
    files: tuple[str, ...] = ()  # raw files that data_rows or across reads
    own: tuple[str, ...] = ()  # files that are the user's, in config/<benchmark>/; absent ones leave their rows out
    notes: tuple[str, ...] = field(default=())
    kind: str = "measured"  # of the rows of data_rows: measured | baseline | human
    prices: bool = False  # whether it shows what answers cost
    n_from: str | None = None  # the column whose denominator is a row's n; None: the largest of them

    @property
    def graded(self) -> bool:
        """Whether it reads grades at all."""
        return self.rows is not None or self.across is not None


class NamedRow(NamedTuple):
    """A row of `across`: `model` is the model that its items and tasks speak of, or None for a row of several."""

    name: str
    row: Row
    model: Graded | None = None


@dataclass(frozen=True)
class Across:
    """What `across` gets: every model's grades under one rule, what is known of the models, and files by name."""

    models: Sequence[Graded]
    golds: Mapping[str, Gold]
    items: Mapping[str, Item]
    files: Mapping[str, bytes]
    notes: list[str]  # across may add to them


PublishedRow = dict[str, str]  # paper, table, row, key, column, value, n, note

_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_BREAK = re.compile("[ \t]*[\n\r\x0b\x0c\x85\u2028\u2029]\\s*")
_BAR = re.compile(r"(\\*)\|")
# A word in angle brackets, as <benchmark>, is no tag unless HTML has it.
_HTML = (
    "script|style|iframe|frame|frameset|noframes|noscript|noembed|plaintext|xmp|listing|textarea|title|template|select|"
    "option|svg|math|object|embed|applet|head|body|html|base|form|table|video|audio|canvas|dialog|marquee|img|a|button"
)
_TAG = re.compile(rf"<(?!(?!(?:{_HTML})>)[a-z]+>)(?=[A-Za-z/!?])", re.IGNORECASE)

STATE_COLUMNS = tuple(f"n_{state}" for state in STATES if state != "ok")


@dataclass(frozen=True)
class Graded:
    """One model's part of a table."""

    name: str
    kind: str  # measured | baseline
    engine: str
    grades: Sequence[Grade]  # of every rule, or those of one
    card: ModelCard | None = None
    judge: ModelCard | None = None  # None: no judge, or one whose verdicts were released


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


def tabulate(
    table: Table,
    models: Sequence[Graded],
    golds: Mapping[str, Gold],
    items: Mapping[str, Item],
    files: Mapping[str, bytes],
    published: Sequence[PublishedRow],
    *,
    scoring: Rule | None,
    seed: int,
    complete: bool,
    printed_as: Mapping[str, str] | None = None,
) -> Tabulated:
    """Compute a table. Pure: equal input gives equal output.

    `printed_as`: {model: name of its row in the paper}; that row then follows the model's own.

    `scoring`: rule asked for, None for the table's own. `complete`: whether the selection is all of the paper's items.
    A row of ours is comparable when it is, none of its items is missing or failed, and the rule is the table's own; the
    published rows are when any of ours is. `files`: raw files for a table of the data itself.
    """
    rule = scoring or table.rule
    extra = tuple(key for key in table.keys if key != "subset")
    columns = ("model", "kind", "engine", "scoring", "subset", *extra, "n", *STATE_COLUMNS)
    for column in table.columns:
        columns += (column, f"{column}_lo", f"{column}_hi")
    columns += ("comparable", "note")
    rows: list[dict[str, str | int | float | None]] = []
    cells: list[Cell] = []
    failed = 0

    def add(
        name: str, kind: str, engine: str, row: Row, states: Mapping[str, int], grades_filter: dict[str, Scalar]
    ) -> None:
        estimates = {column: row.columns.get(column) for column in table.columns}
        counts = {column: estimate.n for column, estimate in estimates.items() if estimate is not None}
        n = max(counts.values(), default=0) if table.n_from is None else counts.get(table.n_from, 0)
        written: dict[str, str | int | float | None] = {"model": name, "kind": kind, "engine": engine, "scoring": rule}
        written |= {"subset": "all", **row.keys, "n": n, **{f"n_{s}": states.get(s, 0) for s in STATES if s != "ok"}}
        for column, estimate in estimates.items():
            if estimate is None:
                continue
            value = estimate.point()
            low, high = interval(estimate, seed)
            written |= {column: value, f"{column}_lo": low, f"{column}_hi": high}
            cells.append(
                Cell(
                    table=table.name,
                    row="|".join(part for part in (name, key_text(row.keys)) if part),
                    column=column,
                    value=value,
                    lo=low,
                    hi=high,
                    n=estimate.n,
                    states=dict(states),
                    grades=digest_of_all(estimate.grades),
                    filter=grades_filter | dict(row.keys),
                )
            )
        whole = complete and row.whole and rule == table.rule and not (states.get("missing") or states.get("failed"))
        written["comparable"] = "yes" if whole else "no"
        fewer = [f"{column} n={count}" for column, count in counts.items() if count != n]
        if fewer:
            written["note"] = "; ".join(fewer)
        elif row.tasks and n == 0:
            written["note"] = f"nothing to score: no answer to {', '.join(row.tasks)}"
        rows.append(written)

    def of_rule(model: Graded) -> list[Grade]:
        return [g for g in model.grades if g.rule == rule and g.task in table.tasks and g.condition in table.conditions]

    if table.data_rows is not None:
        for name, row in table.data_rows(files):
            add(name, table.kind, "", row, {}, {})
    for model in models if table.rows is not None else ():
        assert table.rows is not None
        grades = of_rule(model)
        state_of_model = states_of(grades)
        for row in table.rows(grades, golds, items):
            states = count_states(state_of_model, row)
            failed += states.get("failed", 0)
            chosen: dict[str, Scalar] = {"model": model.name, "rule": rule, "tasks": ",".join(row.tasks)}
            chosen |= _where(row)
            add(model.name, model.kind, model.engine, row, states, chosen)
    notes = list(table.notes)
    if table.across is not None:
        graded = [replace(model, grades=of_rule(model)) for model in models]
        state_of = {model.name: states_of(model.grades) for model in graded}
        for name, row, of in table.across(Across(graded, golds, items, files, notes)):
            states = count_states(state_of[of.name], row) if of is not None else {}
            failed += states.get("failed", 0)
            which: dict[str, Scalar] = {"rule": rule, "tasks": ",".join(row.tasks)}
            which |= _where(row)
            which |= {"model": of.name} if of is not None else {}
            kind, engine = (of.kind, of.engine) if of is not None else ("measured", "")
            add(name, kind, engine, row, states, which)
    comparable = any(row.get("comparable") == "yes" for row in rows)
    rows = _beside(rows, published_rows(table, published, comparable=comparable), printed_as or {})
    if failed:
        notes.append(f"INCOMPLETE: {failed:,} answers failed; `punchline retry` asks them once more.")
    if any(row["kind"] == "published" for row in rows) and not comparable:
        why = f"rule {rule}, the paper's is {table.rule}" if rule != table.rule else "other items than the paper's"
        notes.append(f"Published rows are not comparable with ours: {why}.")
    return Tabulated(columns, rows, cells, notes)


def _where(row: Row) -> dict[str, Scalar]:
    """In which conditions a row's tasks were asked, where it is not the default one."""
    where: dict[str, Scalar] = {} if row.condition == "default" else {"condition": row.condition}
    return where | ({"asked": ",".join("@".join(pair) for pair in row.asked)} if row.asked else {})


def _beside(
    ours: list[dict[str, str | int | float | None]],
    papers: list[dict[str, str | int | float | None]],
    printed_as: Mapping[str, str],
) -> list[dict[str, str | int | float | None]]:
    """Our rows in their order, each model's followed by its row in the paper; the paper's others come last."""
    last = {row["model"]: index for index, row in enumerate(ours)}
    after: dict[int, list[dict[str, str | int | float | None]]] = {}
    rest: list[dict[str, str | int | float | None]] = []
    index_of = {printed: last[name] for name, printed in printed_as.items() if name in last}
    for row in papers:
        index = index_of.get(str(row["model"]))
        (rest if index is None else after.setdefault(index, [])).append(row)
    return [row for index, own in enumerate(ours) for row in (own, *after.get(index, ()))] + rest


StatesOf = Mapping[tuple[str, str, str], set[State]]  # of all samples, by item, task, condition


def states_of(grades: Iterable[Grade]) -> StatesOf:
    """The states of every item's answers to a task in a condition, over all its samples."""
    found: dict[tuple[str, str, str], set[State]] = {}
    for grade in grades:
        found.setdefault((grade.item_id, grade.task, grade.condition), set()).add(grade.state)
    return found


def count_states(state_of: StatesOf, row: Row) -> dict[str, int]:
    """For each state but ok, the row's items with at least one answer in it.

    A task without a single answer was not attempted and does not count, unless none was. What has no state was not
    asked; where nothing has one, all is missing.
    """
    pairs = [*((task, row.condition) for task in row.tasks), *row.asked]
    by_pair = {
        (task, condition): {
            item: state_of[item, task, condition] for item in row.items if (item, task, condition) in state_of
        }
        for task, condition in pairs
    }
    if row.items and pairs and not any(by_pair.values()):
        return {"missing": len(row.items)}
    attempted = [pair for pair in pairs if any(states - {"missing"} for states in by_pair[pair].values())]
    counts: dict[str, int] = {"missing": row.never_asked} if row.never_asked else {}
    for item in row.items:
        for state in {state for pair in attempted or pairs for state in by_pair[pair].get(item, ())} - {"ok"}:
            counts[state] = counts.get(state, 0) + 1
    return counts


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


def as_csv(made: Tabulated) -> str:
    """The tidy table: values in full precision, empty cells where there is none.

    A text that a spreadsheet would take for a formula has an apostrophe before it, as spreadsheets have it.
    """
    return csv_text(made.columns, [{key: _cell(value) for key, value in row.items()} for row in made.rows])


def _cell(value: str | int | float | None) -> str | int | float | None:
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _line(text: str) -> str:
    """Text on one line, where what steers a page or a terminal is shown."""
    return visible(_BREAK.sub(" ", text))


def _in_markdown(text: str) -> str:
    """Text within a line of Markdown: neither a column nor a tag begins in it."""
    return _TAG.sub("&lt;", _BAR.sub(r"\1\1\\|", _line(text)))


def _for_people(made: Tabulated, table: Table) -> tuple[list[str], list[list[str]]]:
    """Headers and cells for reading: three digits, intervals beside the value, columns that hold nothing left out."""
    shown = [c for c in made.columns if not c.endswith(("_lo", "_hi")) and any(row.get(c) for row in made.rows)]
    shown = [c for c in shown if c not in ("comparable", "note")]

    def text(row: Mapping[str, str | int | float | None], column: str) -> str:
        value = row.get(column)
        if isinstance(value, float):
            low, high = row.get(f"{column}_lo"), row.get(f"{column}_hi")
            whole = column in table.whole
            shown_value = f"{value:,.0f}" if whole else f"{value:.3f}"
            if isinstance(low, float) and isinstance(high, float):
                shown_value += f" [{low:,.0f}, {high:,.0f}]" if whole else f" [{low:.3f}, {high:.3f}]"
            return shown_value
        return "" if value is None else _line(str(value))

    return shown, [[text(row, column) for column in shown] for row in made.rows]


def as_markdown(made: Tabulated, table: Table) -> str:
    """The table for reading, with its notes."""
    headers, cells = _for_people(made, table)
    cells = [[_in_markdown(cell) for cell in row] for row in cells]
    body = tabulate_text(cells, headers, tablefmt="github", disable_numparse=True)
    notes = "".join(f"\n- {_in_markdown(note)}" for note in made.notes)
    return f"# {table.title}\n\n{body}\n{notes}\n"


def as_latex(made: Tabulated, table: Table) -> str:
    """The table for a paper: booktabs."""
    headers, cells = _for_people(made, table)
    body = tabulate_text(cells, headers, tablefmt="latex_booktabs", disable_numparse=True)
    notes = "".join(f"% {_line(note)}\n" for note in made.notes)
    return f"% {table.title}\n{notes}{body}\n"


def read_published(path: str | Path) -> list[PublishedRow]:
    """A file of config/published/. Raises PunchlineError for a file that is not one."""
    columns = ("paper", "table", "row", "key", "column", "value", "n", "note")
    rows = []
    for line, cells in parse_csv(Path(path).read_bytes(), columns, file=path):
        for column, pattern, expected in (
            ("key", r"(?:[^=;]+=[^=;]*(?:;[^=;]+=[^=;]*)*)?", "nothing, or name=value;name=value"),
            ("value", r"-?\d+(?:\.\d+)?", "a number"),
            ("n", r"\d*", "a whole number, or nothing"),
        ):
            if not re.fullmatch(pattern, cells[column], re.ASCII):
                raise PunchlineError(
                    f"{cells[column]!r} cannot be read",
                    file=path,
                    line=line,
                    record=cells["row"],
                    field=column,
                    way_out=f"Expected {expected}",
                )
        rows.append(cells)
    return rows


DISCREPANCIES = (
    "benchmark",
    "table",
    "model",
    "row",
    "column",
    "released",
    "n_released",
    "paper",
    "n_paper",
    "difference",
)


def discrepancies(
    benchmark: str,
    table: Table,
    model: Graded,
    golds: Mapping[str, Gold],
    items: Mapping[str, Item],
) -> list[dict[str, str | int | float | None]]:
    """Cells of a table whose value under rule `released` is not that under rule `paper`, on the same answers."""
    if table.rows is None:
        return []
    values: dict[tuple[str, str], dict[Rule, tuple[float | None, int]]] = {}
    for rule in RULES:
        grades = [
            g for g in model.grades if g.rule == rule and g.task in table.tasks and g.condition in table.conditions
        ]
        for row in table.rows(grades, golds, items):
            for column, estimate in row.columns.items():
                if estimate is not None:
                    values.setdefault((key_text(row.keys), column), {})[rule] = (estimate.point(), estimate.n)
    found: list[dict[str, str | int | float | None]] = []
    for (row_name, column), by_rule in values.items():
        (released, n_released), (paper, n_paper) = (by_rule.get(rule, (None, 0)) for rule in RULES)
        if released != paper:
            difference = None if released is None or paper is None else released - paper
            place = (benchmark, table.name, model.name, row_name, column)
            numbers = (released, n_released, paper, n_paper, difference)
            found.append(dict(zip(DISCREPANCIES, (*place, *numbers), strict=True)))
    return found
