"""Commands on existing tables."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated

import typer

from punchline.cli.base import (
    JSON,
    RUN,
    SELECTION,
    TABLE,
    Model,
    TableName,
    app,
    given,
    overrides,
    overview_path,
    print_rows,
    table_names,
    table_path,
)
from punchline.config.runs import (
    find_root,
    made_with,
    making,
    nothing_scored,
    run_of,
    runs,
    selection_text,
    table_named,
)
from punchline.config.selection import read_selection
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN, Paths
from punchline.project.needs import Project

STRICT = Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a table has no scored item")]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print JSON")]


@app.command("audit", rich_help_panel="Check")
def audit_command(
    table: Annotated[str, typer.Argument(help=TABLE, autocompletion=table_names)] = "",
    row: Annotated[str | None, typer.Option(help="Only this row: a model, or a full row name")] = None,
    column: Annotated[str | None, typer.Option(help="Only this column")] = None,
    as_json: AS_JSON = False,
    expect: Annotated[str | None, typer.Option(help="Root digest to compare with, as published or committed")] = None,
    published: Annotated[str, typer.Option(help="A folder that `publish` wrote: one or all of its tables")] = "",
    run: RUN = DEFAULT_RUN,
) -> None:
    """Rebuild a table or overview (cost, yesbut/unread) from the original files and compare; status 1: it differs."""
    from punchline.audit import audit, overviews
    from punchline.audit.published import audit_published
    from punchline.audit.state import keep_verdict

    if published:
        audits = audit_published(given(published), table or None, expect)
        text = "\n\n".join(f"table    {one.table}\n{audit.as_text(one, [])}" for one in audits)
        print(json.dumps([audit.as_json(one, []) for one in audits], indent=1) if as_json else text)
        raise typer.Exit(0 if all(one.verdict == "equal" for one in audits) else 1)
    find_root(Path.cwd())
    if not table:
        raise PunchlineError("no table is named", hint="Name one: punchline tables lists them")
    chosen = row is not None or column is not None
    if not chosen and (overview := overview_path(table, run)) is not None:
        found = overviews.audit(overview, Project(made_with(run_of(overview) or run)), expect)
    else:
        found = audit.audit(table_path(table, run), expect=expect)
    cells = []
    if found.lineage is not None:
        keep_verdict(found.table, found.lineage, found.verdict, found.root)
        if chosen:
            cells = audit.cells_of(found.lineage, row, column)
        elif as_json:  # as text, all cells would hide the verdict
            cells = found.lineage.cells
    print(json.dumps(audit.as_json(found, cells), indent=1) if as_json else audit.as_text(found, cells))
    raise typer.Exit(0 if found.verdict == "equal" else 1)


@app.command("print", rich_help_panel="Look")
def print_command(table: TableName, run: RUN = DEFAULT_RUN, strict: STRICT = False) -> None:
    """Print a table, its best model, and what to do next."""
    from punchline.audit.state import again, check_shown, table_states
    from punchline.cli.printing import printed

    path = table_path(table, run)
    run = run_of(path) or run
    if not Path(path).is_file() or not Path(path).with_suffix(".md").is_file():
        raise PunchlineError("no such table", file=path, hint=f"Make it first: {making(run, path)}")
    check_shown(path)
    states = {state.path: state for state in table_states(Project(made_with(run)))}
    if path in states and states[path].reason:
        print(f"{path}: stale: {states[path].reason}. {again(path)}", file=sys.stderr)
    empty = nothing_scored(path)
    if empty:
        typer.secho(f"{path}: not one item is scored", fg="red", err=True)
    name, key = table_named(path, run)
    print(printed(path, benchmarks.load(name).TABLES[key], get_terminal_size().columns))
    raise typer.Exit(1 if empty and strict else 0)


@app.command("compare", rich_help_panel="Look")
def compare_command(
    a: Model,
    b: Model,
    table: Annotated[
        str, typer.Option(help=f"{TABLE}; default: each benchmark's main table", autocompletion=table_names)
    ] = "",
    as_json: AS_JSON = False,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Compare two models on their common items: differences, intervals, tests, effect sizes."""
    from punchline.audit import compare, compare_text

    compared, refused = compare.compare_models((a, b), table_path(table, run) if table else None, run)
    if as_json:
        print(json.dumps([compare_text.as_json(one) for one in compared], indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(compare_text.as_text(one) for one in compared))
    for why in refused:
        print(f"not compared: {why}", file=sys.stderr)
    raise typer.Exit(1 if refused else 0)


@app.command("ranks", rich_help_panel="Look")
def ranks_command(
    table: TableName,
    column: Annotated[str | None, typer.Option(help="Column to rank by; default: the first")] = None,
    lowest: Annotated[bool | None, typer.Option("--lowest/--highest", help="Best value; default: the table's")] = None,
    as_json: JSON = None,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Rank the models of a table, with a 95 % confidence interval of each rank."""
    from punchline.audit import ranks

    path = table_path(table, run)
    by, ranked = ranks.ranks(path, run_of(path) or run, column, lowest=lowest)
    if as_json is False:
        print_rows(({"column": by, **asdict(rank)} for rank in ranked), as_json=False)
    else:
        print(json.dumps(ranks.as_json(by, ranked), indent=1) if as_json else ranks.as_text(by, ranked))


@app.command("judges", rich_help_panel="Check")
def judges_command(
    run: Annotated[list[str] | None, typer.Option(help="Run whose verdicts are used, may be repeated")] = None,
    benchmark: Annotated[str | None, typer.Option(help="Benchmark; default: all benchmarks of the runs")] = None,
    as_json: AS_JSON = False,
) -> None:
    """Compare judges with human labels and with each other, and the model ranking under each judge."""
    from punchline.audit import judges

    found = judges.judges(run or [DEFAULT_RUN], benchmark)
    print(json.dumps(judges.as_json(*found), indent=1) if as_json else judges.as_text(*found))


@app.command("tables", rich_help_panel="Look")
def tables_command(
    selection: SELECTION = None, run: RUN = DEFAULT_RUN, strict: STRICT = False, as_json: JSON = None
) -> None:
    """List all tables, their targets, and their state: current, stale (and why), absent.

    Default: the selection of the last run.
    """
    from punchline.audit.state import table_states

    chosen = overrides(selection)
    selected = read_selection({**chosen, "run": run})[0] if chosen else made_with(run)
    states = {(one.benchmark, one.table): one for one in table_states(Project(selected))}
    rows, empty = [], []
    for name in benchmark_names():
        for table in benchmarks.load(name).TABLES.values():
            state = states.get((name, table.name))
            path = Paths(run=run).table(table.file)
            known = "not selected" if state is None else state.state
            known += f": {state.reason}" if state is not None and known == "stale" else ""
            if Path(path).is_file() and nothing_scored(path):
                empty.append(path)
                known += "; not one item is scored"
            row = {"table": table.name, "target": path, "rule": table.published_rule, "state": known}
            rows.append(row | {"title": table.title})
    print_rows(rows, as_json=as_json, widths={"state": 60})
    for path in empty:
        typer.secho(f"{path}: not one item is scored", fg="red", err=True)
    raise typer.Exit(1 if empty and strict else 0)


@app.command("runs", rich_help_panel="Look")
def runs_command(as_json: JSON = None) -> None:
    """List runs: selection, tables, date of the newest table."""
    from punchline.audit.state import read_lineage, table_states

    rows, broken = [], []
    for name, chosen in runs().items():
        row = dict.fromkeys(("run", "selection", "tables", "root of the first", "made (UTC)"), "")
        row |= {"run": name, "selection": selection_text(chosen.selection), "tables": "not known"}
        rows.append(row)
        try:
            states = table_states(Project(chosen.selection))
        except PunchlineError as error:  # a missing card
            broken.append(f"{name}: {error}")
            continue
        there = [state.path for state in states if Path(state.path).is_file()]
        stale = sum(state.state == "stale" for state in states)
        row["tables"] = f"{len(there)} of {len(states)}" + f", {stale} stale" * bool(stale)
        for path in there:
            with suppress(PunchlineError):
                lineage = read_lineage(path)
                row["root of the first"] = row["root of the first"] or lineage.root[:16]
                row["made (UTC)"] = max(row["made (UTC)"], str(lineage.noted.get("made_at"))[:16])
    print_rows(rows, as_json=as_json, widths={"selection": 60})
    for why in broken:
        print(why, file=sys.stderr)
    raise typer.Exit(1 if broken else 0)


@app.command("diff", rich_help_panel="Check")
def diff_command(
    a: Annotated[str, typer.Argument(metavar="RUN", help="Name of a run; `default` for the default run")],
    b: Annotated[str, typer.Argument(metavar="RUN", help="Name of the other run")],
    as_json: JSON = None,
) -> None:
    """Compare the tables of two runs: the cells that differ, and why."""
    from punchline.audit.diff import diff

    found = diff(a, b)
    if as_json:
        print(json.dumps([{**one._asdict(), "cells": [c._asdict() for c in one.cells]} for one in found], indent=1))
    elif as_json is False:
        print_rows(({"table": one.table, **cell._asdict()} for one in found for cell in one.cells), as_json=False)
    for one in found if as_json is None else ():
        print(f"{one.table}: {len(one.cells):,} cells differ, {one.same:,} are equal")
        print("".join(f"  because  {why}\n" for why in one.why), end="")
        print_rows(cell._asdict() for cell in one.cells[:20])
        if len(one.cells) > 20:
            print(f"  … and {len(one.cells) - 20:,} more: --csv has all")


@app.command(rich_help_panel="Look")
def show(
    record: Annotated[str, typer.Argument(metavar="ID", help="Item id, or the first characters of a request id")],
    run: RUN = DEFAULT_RUN,
) -> None:
    """Print an item or request as JSON, with its answers and scores; highlights the parsed text."""
    from punchline.audit.show import as_text, find

    print(as_text(find(record, run), colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
