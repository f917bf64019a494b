"""One model's part of all tables of a benchmark: its cells under both rules, and who answered. Tables join parts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from punchline.bench.frame import Frame, Scope, read_frame
from punchline.bench.table import Measured, Table, measure
from punchline.core.engine import Released
from punchline.core.errors import PunchlineError
from punchline.core.files import write_bytes
from punchline.core.records import LENGTH, RULES, Gold, Item, Record, Rule
from punchline.core.stats import Kept
from punchline.core.storage import AGAIN, Keyed, rows_in
from punchline.project.needs import Project
from punchline.stages.job import make
from punchline.stages.prepare import read_files
from punchline.stages.unread import Unread, unread


class Answered(Protocol):
    """What is noted of a response."""

    @property
    def engine(self) -> str: ...

    @property
    def engine_version(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def finish_reason(self) -> str | None: ...


class Who(Record, frozen=True, kw_only=True):
    """Who answered a model's requests, or those of a hop: engines with their versions, and why any failed."""

    versions: tuple[str, ...]
    failures: tuple[str, ...]
    truncated: float = 0.0  # share of the answers that were cut off by their limit of tokens


class Cells(Record, frozen=True, kw_only=True):
    """What a model's tables are made of."""

    who: dict[str, Who]  # by hop; "": the model itself
    unknown: list[str]  # items that released answers speak of and the benchmark has not
    tables: dict[str, dict[Rule, list[Measured]]]  # intervals under the rule that is shown
    unread: tuple[Unread, ...] = ()  # what was read of its answers, for people to look at: in no table


def who_answered(responses: Iterable[Answered]) -> Who:
    """Of all responses."""
    versions, failures, finishes = set(), set(), Counter[str | None]()
    for response in responses:
        finishes[response.finish_reason] += 1
        versions.add(f"{response.engine} {response.engine_version}")
        if response.state == "failed":
            failures.add(response.reason or "no reason given")
    share = finishes[LENGTH] / (finishes.total() or 1)
    return Who(versions=tuple(sorted(versions)), failures=tuple(sorted(failures)), truncated=share)


class _Response(msgspec.Struct, frozen=True):
    engine: str
    engine_version: str
    state: str
    reason: str | None
    finish_reason: str | None


def who_in(path: str | Path) -> Who:
    """Of a table of responses."""
    return who_answered(_Response(*row) for row in rows_in(path, _Response.__struct_fields__))


def unknown_items(project: Project, benchmark: str, model: str) -> list[str]:
    """Items that released answers speak of and the benchmark has not."""
    engine, loaded = project.engines[model], project.benchmark(benchmark)
    if not isinstance(engine, Released):
        return []
    files = read_files([project.paths.raw(benchmark, name) for name in loaded.ITEM_FILES])
    return engine.unknown({item_id for item_id, _, _ in loaded.listing(files)})


def scope_of(project: Project, benchmark: str) -> Scope:
    """Items and gold as they lie there, and stay: memory holds their names."""
    return Scope(Keyed(project.paths.items(benchmark), Item), Keyed(project.paths.gold(benchmark), Gold))


def parsed_of(tables: Iterable[Table]) -> set[str]:
    """Tasks of which it matters to these tables what was read."""
    return {task for table in tables for task in table.parsed}


def cells_of(
    tables: Collection[Table],
    frame: Callable[[Rule], Frame],
    who: Mapping[str, Who],
    unknown: Sequence[str],
    scoring: Rule | None,
) -> Cells:
    """A model's rows of these tables; `frame` gives its grades under a rule, which are kept no longer than needed."""
    rows: dict[str, dict[Rule, list[Measured]]] = {table.name: {} for table in tables if table.by_model}
    for rule in RULES if rows else ():
        grades = frame(rule)
        for table in tables:
            if table.by_model:
                shown = rule == (scoring or table.rule)
                own = dataclasses.replace(grades, kept=Kept())  # what a table makes of them goes with it
                rows[table.name][rule] = measure(table.rows(own), shown=shown)
        del grades  # before those of the other rule are read
    return Cells(who=dict(who), unknown=list(unknown), tables=rows)


def unread_of(project: Project, benchmark: str, model: str) -> list[Unread]:
    """What was read of a model's answers, of grades and snapshots as they lie there."""
    where = project.paths
    snapshots = {hop: where.hop_snapshot(benchmark, hop, model) for hop in project.hops(benchmark, model)}
    return unread(where.grades(benchmark, model), {"": where.snapshot(benchmark, model), **snapshots})


def read_cells(path: str | Path) -> Cells:
    """Raises PunchlineError for a file that holds none."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Cells)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PunchlineError(f"not a model's cells: {error}", file=path, way_out=AGAIN) from error


def write_cells(project: Project, benchmark: str, model: str) -> None:
    """One model's part of all tables of a benchmark."""
    step, selection, where = project.cells(benchmark, model), project.selection, project.paths

    def write() -> None:
        unknown = unknown_items(project, benchmark, model)  # first: it takes memory
        tables, scope = project.benchmark(benchmark).TABLES.values(), scope_of(project, benchmark)
        who = {"": who_in(where.snapshot(benchmark, model))}
        who |= {hop: who_in(where.hop_snapshot(benchmark, hop, model)) for hop in project.hops(benchmark, model)}
        grades, parsed = where.grades(benchmark, model), parsed_of(tables)
        made = cells_of(
            tables,
            lambda rule: read_frame(grades, scope, rule, parsed),
            who,
            unknown,
            selection.scoring,
        )
        made = replace(made, unread=tuple(unread_of(project, benchmark, model)))
        write_bytes(step.outputs[0], msgspec.json.encode(made) + b"\n")  # not sorted: columns are in order

    make(step, write)
