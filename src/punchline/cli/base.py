"""The application, and arguments, options and output of its commands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from tabulate import tabulate

import punchline
from punchline.config.runs import find_root, last_run, run_of, table_named
from punchline.config.yaml_files import parse_yaml
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN, Paths

if TYPE_CHECKING:
    from punchline.tables.declare import Table  # which imports pandas

HELP = "Evaluate multimodal models on comic-humor benchmarks. Snakemake builds tables; commands plan and read them."
PANELS = ("Run", "Look", "Check", "Share", "People")

_here = [Path()]  # the current folder: paths of the command line start there

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=HELP)


def _version(is_asked: bool) -> None:
    if is_asked:
        print(f"punchline {punchline.__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version")]
Root = Annotated[Path | None, typer.Option(help="Project folder; default: the nearest one above this one")]
ANYWHERE = ("init", "audit")  # commands that work without a project; an audit does with a published folder


@app.callback()
def root(context: typer.Context, root: Root = None, version: Version = False) -> None:
    """Find the project; commands work in any of its folders."""
    context.call_on_close(partial(print, end="", flush=True))  # typer ends a command without a reader quietly
    _here[:] = [Path.cwd()]
    try:
        os.chdir(find_root(Path.cwd() if root is None else root.resolve(), above=root is None))
    except PunchlineError:
        if root is not None or (context.invoked_subcommand not in ANYWHERE and "--help" not in sys.argv):
            raise


def given(path: str | Path) -> Path:
    """A path of the command line, relative to the root; defaults are already."""
    return path if isinstance(path, Path) else Path(os.path.relpath(_here[0] / path))


def latest_run(run: str) -> str:
    """The run of a command without --run."""
    if not run and (run := last_run()) != DEFAULT_RUN:
        typer.echo(f"of the run {run}, which was made last; --run names another", err=True)
    return run


def _run_named(context: typer.Context, run: str) -> str:
    """The run of a command: of its table's path, of --run, else the one made last."""
    name = str(context.params.get("table") or "")  # before --run, as the command line gives it
    return run_of_path(name, run) or latest_run(run)


def run_of_path(name: str, run: str = "") -> str:
    """The run that a table's path names, with a note where it is not `run` or the one made last; "" for a name."""
    path = given(name)
    found = run_of(name, "") or (run_of(path.as_posix(), "") if name and path.is_file() else "")
    if found and found != (run or last_run()):
        typer.echo(f"of the run {found}, as the path says", err=True)
    return found


RUN = Annotated[str, typer.Option(callback=_run_named, help="Name of the run; default: the one made last")]
TABLE = "Name or path of a table: table8, yesbut/table2, results/table8.csv"
OVERRIDES = "Overrides of config/run.yaml: benchmarks=all models=\\[a,b] judge=c"
SELECTION = Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help=OVERRIDES)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Scored model; RUN:MODEL: of another run")]
TableName = Annotated[str, typer.Argument(help=TABLE)]


def snakemake(*arguments: str, config: Mapping[str, Any] | None = None, **environment: str) -> int:
    """Run Snakemake in the project, with overrides of the selection; its exit status."""
    command = [sys.executable, "-m", "punchline.snakemake", "--cores", "all", *arguments]
    command += ["--config", *(f"{key}={override_text(value)}" for key, value in config.items())] if config else []
    with subprocess.Popen(command, env=os.environ | environment) as process:
        before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is Snakemake's, too: wait for its last line
        ended = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, before)
            signal.signal(signal.SIGTERM, ended)


def override_text(value: Any) -> str:
    """A value as Snakemake takes it after --config: names without quotes and blanks."""
    if isinstance(value, list):
        return f"[{','.join(map(override_text, value))}]"
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w.-]*", value) and parse_yaml(value, "") == value
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def overrides(selection: Sequence[str] | None, run: str = DEFAULT_RUN) -> dict[str, Any]:
    """{key: value} of a command's KEY=VALUE words and its --run. Raises PunchlineError."""
    values = {}
    for text in selection or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise PunchlineError(f"expected key=value, got {text!r}", hint="As snakemake --config takes them")
        try:
            values[key] = parse_yaml(value, text)  # as Snakemake reads it
        except PunchlineError:
            raise PunchlineError(f"no value can be read: {value!r}", file=text, hint=f"A list is {key}=[a,b]") from None
    return values if run == DEFAULT_RUN else {"run": run} | values


JSON = Annotated[bool | None, typer.Option("--json/--csv", help="Print JSON, or CSV", show_default=False)]


def print_json(value: Any) -> None:
    """Print records, rows or plain data as JSON."""
    print(msgspec.json.format(msgspec.json.encode(value, enc_hook=float), indent=1).decode())


def print_rows(
    *tables: Iterable[Mapping[Any, Any]], as_json: bool | None = None, widths: Mapping[str, int] = {}, data: Any = None
) -> None:
    """Print tables of rows for a terminal, as JSON (True) or as CSV (False), without empty tables.

    JSON is `data` if given, else a list of rows, or a list of tables if several are given. `widths`: columns to wrap
    on a terminal.
    """
    import pandas as pd  # slow to import; most commands print no rows

    lists = [list(rows) for rows in tables]
    if as_json:
        print_json(data if data is not None else lists if len(lists) > 1 else lists[0])
        return

    def text(rows: list[Mapping[Any, Any]]) -> str:
        frame = pd.DataFrame(rows, dtype=object)
        frame = frame.where(frame.notna(), "")
        if as_json is False:
            return frame.to_csv(index=False)
        wrapped = [widths.get(str(column)) for column in frame]
        cells = frame.map(lambda value: f"{value:.4g}" if isinstance(value, float) else str(value))
        return tabulate(cells.to_dict("list"), "keys", "plain", disable_numparse=True, maxcolwidths=wrapped) + "\n"

    print("\n".join(map(text, filter(None, lists))), end="")


def find_table(name: str, run: str = DEFAULT_RUN) -> tuple[str, str, Table, str]:
    """(run, benchmark, table, path of its CSV) by path or name, as `table_named`. Raises PunchlineError."""
    run = run_of(name, run)
    benchmark, table = table_named(name, run, given(name))
    spec = benchmarks.load(benchmark).TABLES[table]
    return run, benchmark, spec, Paths(run=run).table(spec.file)


def overview_path(name: str, run: str = DEFAULT_RUN) -> str | None:
    """The file of an overview, by path or name: `cost`, `yesbut/unread`; None for another name."""
    from punchline.artifacts.project import SHARED, VALIDITY

    results = Paths(run=run_of(name, run)).results
    kinds = ("unread", "ranks", "availability", "shortcuts", *VALIDITY)
    stems = {"cost", "discrepancies", *SHARED, *(f"{b}/{kind}" for b in benchmarks.folders() for kind in kinds)}
    for path in (Path(name), given(name)):
        stem = path.as_posix().removeprefix(f"{results}/").removesuffix(".csv")
        if stem in stems:
            return f"{results}/{stem}.csv"
    return None
