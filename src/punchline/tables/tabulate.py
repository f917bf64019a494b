"""A finished table: rows measured under both rules, published rows beside them, notes, and a Cell for every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from punchline.grouping import grouped
from punchline.schema import RULES, Cell, Rule
from punchline.tables.declare import PublishedRow, Table
from punchline.tables.run import COUNTED, Measured

RETRY = "punchline retry"
TOLD = 0.01  # the share of answers cut off that a note speaks of
Line = dict[str, str | int | float | None]  # a row as it is written


class Tabulated(NamedTuple):
    """A finished table: its rows as they are written, and a Cell for every computed value."""

    columns: tuple[str, ...]
    rows: list[Line]  # of the rule that is shown, and the paper's
    others: list[Line]  # of the other rule
    cells: list[Cell]
    notes: list[str]


def tabulate(
    table: Table,
    measured: Mapping[Rule, Sequence[Measured]],
    published: Sequence[PublishedRow],
    *,
    rule: Rule,
    complete: bool,
    subset: tuple[str, str] | None = None,
    printed_as: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    retry: str = RETRY,
    extractor: bool = False,
) -> Tabulated:
    """A table of its rows and the paper's: those of the rule that is shown, then those of the other. Pure.

    `printed_as`: {model: name of its row in the paper}; that row then follows the model's own. `complete`: whether the
    selection is all of the paper's items; `subset`: what the user's is called, and what it is. A row of ours is
    comparable when the selection is complete, none of its items is missing or failed, and the rule is the table's own;
    the published rows are when any of ours is. `extractor`: the run has one, so that the column n_extracted is there.
    """
    values = (name for column in table.columns for name in (column, f"{column}_lo", f"{column}_hi"))
    counted = (*COUNTED, "extracted") if extractor else COUNTED
    keys, states = dict.fromkeys(("subset", *table.keys)), (f"n_{name}" for name in counted)
    columns = ("model", "kind", "engine", "scoring", *keys, "n", *states, *values, "comparable", "note")
    lines, cells = {}, {}
    for current in RULES:
        lines[current] = [_written(table, row, current, counted, complete, subset) for row in measured[current]]
        cells[current] = [row.cells[name] for row in measured[current] for name in table.columns if name in row.cells]
    other = RULES[1 - RULES.index(rule)]
    comparable = any(line["comparable"] == "yes" for line in lines[rule])
    papers = published_rows(table, published, comparable=comparable)
    texts = [*table.notes, *notes, *_incomplete(measured[rule], retry)]
    if papers and not comparable:
        same = rule == table.published_rule
        why = "other items than the paper's" if same else f"rule {rule}, the paper's is {table.published_rule}"
        texts.append(f"Published rows are not comparable with ours: {why}.")
    rows = _beside(lines[rule], papers, printed_as or {}, table.keys)
    return Tabulated(columns, rows, lines[other], cells[rule] + cells[other], texts + _methods(cells[rule]))


def _incomplete(rows: Sequence[Measured], retry: str) -> list[str]:
    """Notes on answers that were cut off, and on those that failed."""
    cut = "were cut off by their limit of tokens (n_truncated; docs/models.md)"
    notes = [f"{which} {cut}." for which in _most(rows, "truncated", TOLD)]
    return notes + [f"INCOMPLETE: {which} failed; `{retry}` asks them once more." for which in _most(rows, "failed")]


def _methods(cells: Sequence[Cell]) -> list[str]:
    """A note on how the intervals of which columns were made."""
    pairs = dict.fromkeys((cell.interval.partition("|")[0], cell.column) for cell in cells if cell.interval)
    columns = grouped(pairs, lambda pair: pair[0])
    named = [f"{name} ({', '.join(c for _, c in of)})" if len(columns) > 1 else name for name, of in columns.items()]
    return [f"95 % intervals, by cluster: {'; '.join(named)} (docs/intervals.md)."] if named else []


def _written(
    table: Table, row: Measured, rule: Rule, counted: Sequence[str], complete: bool, subset: tuple[str, str] | None
) -> Line:
    """A row as it is written."""
    cells = {name: row.cells[name] for name in table.columns if name in row.cells}
    counts = {name: cell.n for name, cell in cells.items()}
    n = max(counts.values(), default=0) if table.n_from is None else counts.get(table.n_from, 0)
    absent = row.states.get("missing", 0) + row.states.get("failed", 0)
    if row.items:  # an item that lacks an answer to one of several tasks is counted there, and not in n
        n = min(n, row.items - absent)
    about = {"model": row.model, "kind": row.kind, "engine": row.engine, "scoring": rule, "subset": "all"}
    written: Line = {**about, **row.keys, "n": n}
    notes = [f"{name} n={count}" for name, count in counts.items() if count != n]
    if not notes and row.engine and n == 0:
        notes = [f"nothing to score: {_nothing(table, row, row.items - absent)}"]
    if subset is not None and row.engine:  # of answers: rows of the data itself are of all of it
        written["subset"] = subset[0] if written["subset"] == "all" else f"{subset[0]}: {written['subset']}"
        notes.insert(0, subset[1])
    written |= {f"n_{name}": row.states.get(name, 0) for name in counted}
    for name, cell in cells.items():
        written |= {name: cell.value, f"{name}_lo": cell.lo, f"{name}_hi": cell.hi}
    whole = complete and row.complete and row.cells and rule == table.published_rule and not absent
    return written | {"comparable": "yes" if whole else "no"} | ({"note": "; ".join(notes)} if notes else {})


def _nothing(table: Table, row: Measured, answered: int) -> str:
    """Reason why a row has no scored item: its tasks have no answers, or only answers without a value."""
    tasks = (row.tasks or ",".join(table.tasks)).replace(",", ", ")
    if answered > 0:
        return f"{answered:,} items with answers to {tasks}, and no value for {', '.join(table.columns)} of them"
    return f"no answer to {tasks}" if tasks else "not asked"


def _most(rows: Sequence[Measured], state: str, share: float = 0.0) -> list[str]:
    """Of each model with more than this share of a row's items in a state: how many, in the row where it is most."""
    most: dict[str, tuple[float, str]] = {}
    for row in (row for row in rows if row.items):
        count = row.states.get(state, 0)
        if count / row.items > most.get(row.model, (share, ""))[0]:
            where = f" ({row.key})" if row.key else ""
            most[row.model] = count / row.items, f"{row.model}: answers on {count:,} of {row.items:,} items{where}"
    return [text for _, text in most.values()]


def _beside(ours: list[Line], papers: list[Line], printed_as: Mapping[str, str], keys: Sequence[str]) -> list[Line]:
    """Our rows in their order, each followed by its row in the paper; the paper's others come last.

    A row is a model's where it is `printed_as` that; of those, the one with the paper's keys, or else the last.
    """
    after: dict[int, list[Line]] = {}
    rest: list[Line] = []
    for paper in papers:
        known = {key: paper[key] for key in keys if key in paper}
        of_model = [at for at, own in enumerate(ours) if printed_as.get(str(own["model"])) == paper["model"]]
        like = [at for at in of_model if all(str(ours[at].get(key)) == value for key, value in known.items())]
        (after.setdefault((like or of_model)[-1], []) if of_model else rest).append(paper)
    return [row for at, own in enumerate(ours) for row in (own, *after.get(at, ()))] + rest


def published_rows(table: Table, published: Sequence[PublishedRow], *, comparable: bool) -> list[Line]:
    """The paper's rows of a table, values as printed."""
    rows: dict[tuple[str, str], Line] = {}
    about = {"kind": "published", "scoring": table.published_rule, "subset": "all"}
    about["comparable"] = "yes" if comparable else "no"
    for cell in (cell for cell in published if cell["table"] == table.name):
        keys = dict(part.split("=", 1) for part in cell["key"].split(";") if part)
        first: Line = {"model": cell["row"], **about, **keys, "n": cell["n"]}
        row = rows.setdefault((cell["row"], cell["key"]), first)
        row |= {cell["column"]: cell["value"]} | ({"note": cell["note"]} if cell["note"] else {})
    return list(rows.values())
