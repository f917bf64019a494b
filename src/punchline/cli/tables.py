"""Commands on tables that were made."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from punchline.cli.base import (
    RUN,
    SELECTION,
    TABLE,
    Model,
    TableName,
    app,
    as_table,
    check_output,
    given,
    overrides,
    overview_path,
    table_names,
    table_path,
)
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError
from punchline.core.files import write_bytes
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN, Paths
from punchline.project.runs import find_root, made_with, making, nothing_scored, run_of
from punchline.project.selection import read_selection

STRICT = Annotated[bool, typer.Option("--strict", help="Status 1 for a table without one scored item")]


@app.command("audit")
def audit_command(
    table: Annotated[str | None, typer.Argument(help=TABLE, autocompletion=table_names)] = None,
    row: Annotated[str | None, typer.Option(help="Only this row: a model, or a whole row name")] = None,
    column: Annotated[str | None, typer.Option(help="Only this column")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: verdict, root, files, cells, findings")] = False,
    expect: Annotated[str | None, typer.Option(help="The root digest that was published or committed")] = None,
    attestation: Annotated[str | None, typer.Option(help="A statement that `attest` wrote, signed or not")] = None,
    published: Annotated[
        Path | None, typer.Option(help="A folder that `publish` wrote; all its tables, if none is named", metavar="DIR")
    ] = None,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Walk a table or overview (cost, yesbut/unread) back to the raw bytes and make it again; status 1: it differs."""
    from punchline.audit import audit, overviews
    from punchline.audit.state import keep_verdict

    if published is not None:
        _audit_published(given(str(published)), table, expect, as_json)
    find_root(Path.cwd())
    if table is None:
        raise PunchlineError("no table is named", way_out="Name one: punchline tables lists them")
    if (overview := overview_path(table, run)) is not None and not (row or column or attestation):
        found = overviews.audit(overview, Project(made_with(run_of(overview) or run)), expect)
    else:
        found = audit.audit(table_path(table, run), expect=expect, attestation=attestation)
    cells = []
    if found.lineage is not None:
        keep_verdict(found.table, found.lineage, found.verdict, found.root)
        chosen = row is not None or column is not None
        cells = audit.cells_of(found.lineage, row, column) if chosen else found.lineage.cells
        if not chosen and not as_json:
            cells = []  # all of them would hide the verdict
    print(json.dumps(audit.as_json(found, cells), indent=1) if as_json else audit.as_text(found, cells))
    raise typer.Exit(0 if found.verdict == "equal" else 1)


def _audit_published(folder: Path, table: str | None, expect: str | None, as_json: bool) -> NoReturn:
    from punchline.audit import audit
    from punchline.audit.published import audit_published

    made = audit_published(folder, table, expect)
    if as_json:
        print(json.dumps([audit.as_json(found, []) for found in made], indent=1))
    else:
        print("\n\n".join(f"table    {found.table}\n{audit.as_text(found, [])}" for found in made))
    raise typer.Exit(0 if all(found.verdict == "equal" for found in made) else 1)


@app.command("attest")
def attest_command(
    table: TableName,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", parser=given, help="Write here, not to standard output")
    ] = None,
    run: RUN = DEFAULT_RUN,
) -> None:
    """A statement (in-toto) about a table and all that it rests on, to be signed; only where the audit is equal."""
    from punchline.audit import attest, audit

    if output is not None:
        check_output(output, attest.BEGINS)
    found = audit.audit(table_path(table, run))
    if found.verdict != "equal" or found.lineage is None:
        raise PunchlineError(
            f"the audit differs in {len(found.findings)} places", way_out=f"See them: punchline audit {table}"
        )
    content = attest.statement(found.lineage)
    if output is None:
        print(content.decode(), end="")
    else:
        write_bytes(output, content)


@app.command("print")
def print_command(
    table: TableName,
    run: RUN = DEFAULT_RUN,
    strict: STRICT = False,
) -> None:
    """Print a table, and where to look next."""
    from punchline.audit.state import again, check_shown, table_states

    path = table_path(table, run)
    run = run_of(path) or run
    text = Path(path).with_suffix(".md")
    if not text.is_file():
        raise PunchlineError(f"no {text}", way_out=f"Make it first: {making(run, path)}")
    check_shown(path)
    states = {state.path: state for state in table_states(Project(made_with(run)))}
    print(text.read_text(encoding="utf-8"))
    if path in states and states[path].reason:
        print(f"STALE: {states[path].reason}; {again(path)}", file=sys.stderr)
    empty = nothing_scored(path)
    if empty:
        typer.secho(f"{path}: not one item is scored", fg="red", err=True)
    print(f"{path}: the same with every digit; .md, .tex and .lineage.json lie beside it")
    print(f"punchline audit {path}: where each number comes from, made again from the raw bytes")
    print("punchline tables | models | show ID: what else there is; README.md: real data and your own models")
    raise typer.Exit(1 if empty and strict else 0)


@app.command("compare")
def compare_command(
    a: Model,
    b: Model,
    table: Annotated[
        str | None, typer.Option(help=f"{TABLE}; else each benchmark's main table", autocompletion=table_names)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of comparisons")] = False,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=given, help="Write an HTML page besides: answers that part, side by side"),
    ] = None,
    run: RUN = DEFAULT_RUN,
) -> None:
    """Two models on the items that both answered: differences, intervals, tests, effect sizes."""
    from punchline.audit import compare

    if page is not None:
        from punchline.report import beside

        check_output(page, beside.BEGINS)
    made, refused = compare.compare_models((a, b), None if table is None else table_path(table, run), run)
    if as_json:
        print(json.dumps([compare.as_json(one) for one in made], indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(compare.as_text(one) for one in made))
    if page is not None:
        beside.write_page(page, made, refused, run)
        print(f"{page}: the same as a page, with the answers that part", file=sys.stderr)
    for why in refused:
        print(f"not compared: {why}", file=sys.stderr)
    raise typer.Exit(1 if refused else 0)


@app.command("ranks")
def ranks_command(
    table: TableName,
    column: Annotated[str | None, typer.Option(help="By this column; else the table's first")] = None,
    lowest: Annotated[
        bool | None, typer.Option("--lowest/--highest", help="Which value is the best; else as the table says")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    run: RUN = DEFAULT_RUN,
) -> None:
    """The models of a table in order, each with the 95 % range of its rank."""
    from punchline.audit import ranks

    path = table_path(table, run)
    by, made = ranks.ranks(path, run_of(path) or run, column, lowest=lowest)
    print(json.dumps(ranks.as_json(by, made), indent=1) if as_json else ranks.as_text(by, made))


@app.command("judges")
def judges_command(
    run: Annotated[list[str] | None, typer.Option(help="A run whose verdicts count; several may be given")] = None,
    benchmark: Annotated[str | None, typer.Option(help="Else every one of the runs")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Judges against people's labels and each other, and how the order of models changes with the judge."""
    from punchline.audit import judges

    made = judges.judges(run or [DEFAULT_RUN], benchmark)
    print(json.dumps(judges.as_json(*made), indent=1) if as_json else judges.as_text(*made))


@app.command("tables")
def tables_command(
    selection: SELECTION = None,
    run: RUN = DEFAULT_RUN,
    strict: STRICT = False,
) -> None:
    """The tables there are, the targets that make them, and whether what lies there is current: current, stale, absent.

    Without a selection, in that which the run was last made with.
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
            known = "" if state is None else state.state + (f": {state.reason}" if state.state == "stale" else "")
            if Path(path).is_file() and nothing_scored(path):
                empty.append(path)
                known = f"{known or 'not selected'}; not one item is scored"
            rows.append((table.name, path, table.rule, known or "not selected", table.title))
    print(as_table(rows, ("table", "target", "rule", "state", "title"), (None, None, None, 60, None)))
    for path in empty:
        typer.secho(f"{path}: not one item is scored", fg="red", err=True)
    raise typer.Exit(1 if empty and strict else 0)


@app.command("runs")
def runs_command() -> None:
    """The runs that were made: their selection, how many tables are current, and when the newest was made."""
    from punchline.audit.state import table_states
    from punchline.project.runs import runs, selection_text

    rows, broken = [], []
    for name, chosen in runs().items():
        try:
            states = table_states(Project(chosen.selection))
        except PunchlineError as error:  # a card that is gone
            rows.append((name, selection_text(chosen.selection), "not known", "", ""))
            broken.append(f"{name}: {error}")
            continue
        there = [Path(state.path) for state in states if Path(state.path).is_file()]
        lineages = [lineage for path in there if (lineage := _lineage(path.as_posix())) is not None]
        when = max((str(lineage.noted.get("made_at")) for lineage in lineages), default="")[:16]
        stale = sum(state.state == "stale" for state in states)
        tables = f"{len(there)} of {len(states)}" + (f", {stale} stale" if stale else "")
        root = lineages[0].root if lineages else ""
        rows.append((name, selection_text(chosen.selection), tables, root[:16], when))
    print(
        as_table(rows, ("run", "selection", "tables", "root of the first", "made (UTC)"), (None, 60, None, None, None))
    )
    for why in broken:
        print(why, file=sys.stderr)
    raise typer.Exit(1 if broken else 0)


def _lineage(path: str) -> Lineage | None:
    from punchline.audit.state import read_lineage

    try:
        return read_lineage(path)
    except PunchlineError:
        return None


@app.command("diff")
def diff_command(
    a: Annotated[str, typer.Argument(metavar="RUN", help="A run; `default` is the default one")],
    b: Annotated[str, typer.Argument(metavar="RUN", help="Another")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Which cells of two runs' tables differ, and why: selection, models, data, code."""
    from punchline.audit.diff import diff

    found = diff(a, b)
    if as_json:
        print(json.dumps([{**one._asdict(), "cells": [c._asdict() for c in one.cells]} for one in found], indent=1))
        return
    for one in found:
        print(f"{one.table}: {len(one.cells):,} cells differ, {one.same:,} are equal")
        for why in one.why:
            print(f"  because  {why}")
        for cell in one.cells[:20]:
            values = " → ".join("-" if value is None else f"{value:.6g}" for value in (cell.a, cell.b))
            print(f"  {cell.row} · {cell.column}: {values}")
        if len(one.cells) > 20:
            print(f"  … and {len(one.cells) - 20:,} more: --json has all")


@app.command()
def show(
    record: Annotated[str, typer.Argument(metavar="ID", help="An item id, or the start of a request id")],
    run: RUN = DEFAULT_RUN,
) -> None:
    """One record in full, with what it comes from and what was made of it, as JSON; marks what was read of answers."""
    from punchline.audit.show import as_text, find

    print(as_text(find(record, run), colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
