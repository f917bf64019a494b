"""Commands on existing tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated

import typer

from punchline.artifacts.project import Project
from punchline.cli.base import (
    JSON,
    RUN,
    SELECTION,
    TABLE,
    Model,
    TableName,
    app,
    find_table,
    given,
    latest_run,
    overrides,
    overview_path,
    print_json,
    print_rows,
    run_of_path,
)
from punchline.config.runs import (
    last_run,
    making,
    nothing_scored,
    run_of,
    runs,
    selection_of,
    selection_text,
    table_named,
)
from punchline.config.selection import read_selection
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN, Paths
from punchline.stats.estimate import ALPHA

ComparedTable = Annotated[str, typer.Option(help=f"{TABLE}; default: each benchmark's main table")]
COMPARED_RUN = "Run of a plain MODEL; default: of TABLE's path, the last, or `default` with RUN:MODEL"
ComparedRun = Annotated[str, typer.Option(help=COMPARED_RUN)]
RankedBy = Annotated[str | None, typer.Option(help="Column to rank by; default: the first")]
Runs = Annotated[list[str] | None, typer.Option(help="Run whose verdicts are used, may be repeated")]
JudgedBenchmark = Annotated[str | None, typer.Option(help="Benchmark; default: all benchmarks of the runs")]
RECORD = "Item id, or the first characters of a request id"
Row = Annotated[str | None, typer.Option(help="Only this row: a model, or a full row name")]
Column = Annotated[str | None, typer.Option(help="Only this column")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON")]
Root = Annotated[str | None, typer.Option(help="Root digest to compare with, as published or committed")]


@app.command("audit", rich_help_panel="Check")
def audit_command(
    table: TableName, row: Row = None, column: Column = None, json: Json = False, expect: Root = None, run: RUN = ""
) -> None:
    """Rebuild a table or overview (cost, yesbut/unread) from the original files and compare; status 1: it differs.

    Example: punchline audit table8
    """
    from punchline.audit.audit import as_json, as_text, audit, audit_overview, cells_of
    from punchline.audit.state import keep_verdict

    chosen = row is not None or column is not None
    if not chosen and (overview := overview_path(table, run)) is not None:
        report = audit_overview(overview, Project(selection_of(run_of(overview, run))), expect)
    else:
        report = audit(find_table(table, run)[-1], expect=expect)
    cells = []
    if (lineage := report.lineage) is not None:
        keep_verdict(report.table, lineage, report.verdict, report.root)
        if chosen or json:  # as text, all cells would hide the verdict
            cells = cells_of(lineage, row, column) if chosen else lineage.cells
    if json:
        print_json(as_json(report, cells))
    else:
        print(as_text(report, cells))
    raise typer.Exit(0 if report.verdict == "equal" else 1)


@app.command("print", rich_help_panel="Look")
def print_command(table: TableName, run: RUN = "") -> None:
    """Print a table and the notes of its run.

    Example: punchline print table8
    """
    from punchline.audit.state import again, check_table, table_states
    from punchline.cli.printing import printed

    run, benchmark, spec, path = find_table(table, run)
    if not Path(path).is_file() or not Path(path).with_suffix(".md").is_file():
        # The command that builds it, also where its benchmark is not selected.
        more = {} if benchmark in selection_of(run).benchmarks else {"benchmarks": f"[{benchmark}]"}
        raise PunchlineError("no such table", file=path, hint=f"Make it first: {making(run, path, **more)}")
    check_table(path)
    for state in table_states(Project(selection_of(run))):
        if state.path == path and state.reason:
            print(f"{path}: stale: {state.reason}. {again(path)}", file=sys.stderr)
    _warn_of_empty([path])
    print(printed(path, spec, get_terminal_size().columns))


def _warn_of_empty(paths: Iterable[str]) -> list[str]:
    """The tables that have no scored item, after a red line for each."""
    empty = [path for path in paths if Path(path).is_file() and nothing_scored(path)]
    for path in empty:
        typer.secho(f"{path}: not one item is scored", fg="red", err=True)
    return empty


@app.command("compare", rich_help_panel="Look")
def compare_command(a: Model, b: Model, table: ComparedTable = "", as_json: JSON = None, run: ComparedRun = "") -> None:
    """Compare two models on their common items: differences, intervals, tests, effect sizes.

    Example: punchline compare random reading-order --table table8
    """
    from punchline.audit import compare

    run = run or run_of_path(table) or (DEFAULT_RUN if ":" in f"{a}{b}" else latest_run(""))
    named = table_named(table, run, given(table)) if table else None
    compared, refused = compare.compare_models((a, b), named, run)
    if as_json is not None:
        print_rows(compare.differences_frame(compared).to_dict("records"), as_json=as_json, data=compared)
    macros = compare.load_macros()
    for comparison in compared if as_json is None else ():
        print(macros.head(comparison))
        differences = compare.differences_frame([comparison]).drop(columns=["benchmark", "table", "rule"])
        print_rows(comparison.shared, differences.dropna(axis="columns", how="all").to_dict("records"))
        print(macros.notes(comparison))
    for why in refused:
        print(f"not compared: {why}", file=sys.stderr)
    raise typer.Exit(1 if refused else 0)


@app.command("ranks", rich_help_panel="Look")
def ranks_command(table: TableName, column: RankedBy = None, as_json: JSON = None, run: RUN = "") -> None:
    """Rank the models of a table, with a 95 % confidence interval of each rank.

    Example: punchline ranks table8 --csv
    """
    from punchline.tabulate.ranks import ranks_of

    run, benchmark, spec, _ = find_table(table, run)
    by, ranked = ranks_of(Project(selection_of(run)), benchmark, spec, column)
    ranks = [one._asdict() for one in ranked]
    data = {"column": by, "level": 1 - ALPHA, "ranks": ranks}
    print_rows(({"column": by, **one} for one in ranks), as_json=as_json, data=data)


@app.command("judges", rich_help_panel="Check")
def judges_command(run: Runs = None, benchmark: JudgedBenchmark = None, as_json: JSON = None) -> None:
    """Compare judges with human labels and with each other; correct accuracies by labels; rank models by each judge.

    Example: punchline judges --run default --run strict
    """
    from punchline.audit import judges

    runs = run or [last_run()]
    agreements, orders = judges.judges(runs, benchmark)
    corrected = judges.corrected(runs, benchmark)
    data = {"level": 1 - ALPHA, "agreement": agreements, "order": orders}
    data |= {"corrected": corrected} if corrected else {}
    rows = [
        {"judge": one["judge"], "reference": one["reference"], "n": one["n"], "measure": name, **of}
        for one in agreements
        for name, of in one["measures"].items()
    ]
    more = []
    for order in orders:
        names = dict(zip(("order by", "and by"), order["judges"], strict=True))
        more += [[names | {"n": order["n"], "measure": "Kendall's tau", **order["tau"]}], judges.order_rows(order)]
    print_rows(rows, *([*more, corrected] if as_json is None else ()), as_json=as_json, data=data)


@app.command("tables", rich_help_panel="Look")
def tables_command(selection: SELECTION = None, run: RUN = "", as_json: JSON = None) -> None:
    """List all tables, their targets, and their state: current, stale (and why), absent.

    Default: the selection of the last run.

    Example: punchline tables benchmarks=all
    """
    from punchline.audit.state import table_states

    chosen = overrides(selection)
    selected = read_selection({**chosen, "run": run})[0] if chosen else selection_of(run)
    states = {(one.benchmark, one.table): one for one in table_states(Project(selected))}
    rows = []
    for name, tables in benchmarks.every(lambda name: benchmarks.load(name).TABLES).items():
        for table in tables.values():
            state, path = states.get((name, table.name)), Paths(run=run).table(table.file)
            known = "not selected" if state is None else state.state
            known += f": {state.reason}" if state is not None and known == "stale" else ""
            row = {"table": table.name, "target": path, "rule": table.published_rule, "state": known}
            rows.append(row | {"title": table.title})
    rows.sort(key=lambda row: row["state"] == "not selected")
    empty = _warn_of_empty([row["target"] for row in rows])
    for row in rows:
        row["state"] += "; not one item is scored" if row["target"] in empty else ""
    print_rows(rows, as_json=as_json, widths={"state": 60})


@app.command("runs", rich_help_panel="Look")
def runs_command(as_json: JSON = None) -> None:
    """List runs: selection, tables, date of the newest table.

    Example: punchline runs
    """
    from punchline.artifacts.lineage import Lineage, lineage_path, read_lineage
    from punchline.audit.state import TableState, table_states

    rows, broken = [], []
    for name, chosen in runs().items():
        made, states = list[Lineage](), list[TableState]()
        try:
            states = table_states(Project(chosen.selection))
        except PunchlineError as error:  # a missing card
            broken.append(f"{name}: {error}")
        for path in (state.path for state in states if Path(state.path).is_file()):
            with suppress(PunchlineError, OSError):
                made.append(read_lineage(lineage_path(path)))
        there = sum(Path(state.path).is_file() for state in states)
        stale = sum(state.state == "stale" for state in states)
        row = {"run": name, "selection": selection_text(chosen.selection)}
        row["tables"] = f"{there} of {len(states)}" + f", {stale} stale" * bool(stale) if states else "not known"
        row["root of the first"] = made[0].root[:16] if made else ""
        row["made (UTC)"] = max((str(lineage.noted.get("made_at"))[:16] for lineage in made), default="")
        rows.append(row)
    print_rows(rows, as_json=as_json, widths={"selection": 60})
    for why in broken:
        print(why, file=sys.stderr)
    raise typer.Exit(1 if broken else 0)


@app.command(rich_help_panel="Look")
def show(record: Annotated[str, typer.Argument(metavar="ID", help=RECORD)], run: RUN = "") -> None:
    """Print an item or request as JSON, with its answers and scores; highlights the parsed text.

    Example: punchline show borderless_1
    """
    from punchline.audit.show import as_text, find

    print(as_text(find(record, run), colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
