"""The application, and what its commands share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from tabulate import tabulate

import punchline
from punchline.config.cards import stems
from punchline.config.runs import find_root, named_root, run_of, table_named
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN, Paths

HELP = (
    "Evaluate multimodal models on comic-humor benchmarks. Snakemake builds tables; these commands plan and read them."
)
PANELS = ("Run", "Look", "Check", "Share", "People")

_here = [Path()]  # where the user is: paths of the command line start there

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=HELP)


def version(asked: bool) -> None:
    if asked:
        print(f"punchline {punchline.__version__}")
        raise typer.Exit


ANYWHERE = ("init", "audit")  # commands that work without a project; an audit, on a published folder


@app.callback()
def root(
    context: typer.Context,
    root: Annotated[
        Path | None, typer.Option(help="Project folder; default: the nearest one above the current folder")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version and exit")
    ] = False,
) -> None:
    """Find the project; commands work in any of its folders."""
    _here[:] = [Path.cwd()]
    try:
        os.chdir(named_root(root.resolve()) if root is not None else find_root(Path.cwd()))
    except PunchlineError:
        if root is not None or (context.invoked_subcommand not in ANYWHERE and "--help" not in sys.argv):
            raise


def given(path: str | Path) -> Path:
    """A path of the command line, from the root; a default is one already."""
    return path if isinstance(path, Path) else Path(os.path.relpath(_here[0] / path))


def completes(folder: str) -> Any:
    """Completion of the names of cards."""

    def names(incomplete: str) -> list[str]:
        return [name for name in stems(find_root(Path.cwd()) / folder) if name.startswith(incomplete)]

    return names


def table_names(incomplete: str) -> list[str]:
    """Completion of names of tables."""
    of = [(b, table) for b in benchmarks.names() for table in benchmarks.load(b).TABLES]
    names = sorted({table for _, table in of} | {f"{b}/{table}" for b, table in of})
    return [name for name in names if name.startswith(incomplete)]


RUN = Annotated[str, typer.Option(help="Name of the run")]
TABLE = "Name or path of a table: table8, yesbut/table2, results/table8.csv"
SELECTION = Annotated[
    list[str] | None,
    typer.Argument(
        help="Overrides of config/run.yaml, as for snakemake --config: benchmarks=all models=\\[a,b] judge=c",
        metavar="KEY=VALUE",
    ),
]
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Name of a scored model; RUN:MODEL for another run",
        autocompletion=completes("config/model"),
    ),
]
TableName = Annotated[str, typer.Argument(help=TABLE, autocompletion=table_names)]


def snakemake(*arguments: str, **environment: str) -> int:
    """Run Snakemake in the project; its status."""
    command = [sys.executable, "-m", "snakemake", "--cores", "all", *arguments]
    return subprocess.run(command, env=os.environ | environment, check=False).returncode


def overrides(selection: Sequence[str] | None) -> dict[str, Any]:
    """What key=value words of a command override. Raises PunchlineError."""
    return dict(_override(text) for text in selection or ())


def _override(text: str) -> tuple[str, Any]:
    """key=value of --config, its value read as YAML, as Snakemake does."""
    key, equals, value = text.partition("=")
    if not equals:
        raise PunchlineError(f"expected key=value, got {text!r}", hint="As snakemake --config takes them")
    try:
        return key, yaml.safe_load(value)
    except yaml.YAMLError:
        raise PunchlineError(f"no value can be read: {value!r}", file=text, hint=f"A list is {key}=[a,b]") from None


def as_table(rows: Sequence[Sequence[Any]], headers: Sequence[str], widths: Sequence[int | None] | None = None) -> str:
    """Rows in columns for a terminal."""
    return tabulate(rows, headers, tablefmt="plain", disable_numparse=True, maxcolwidths=widths)


def table_path(name: str, run: str = DEFAULT_RUN) -> str:
    """The CSV of a table that is named by path or by name. Of several tables of one name, the run's own benchmark's."""
    benchmark, table = table_named(name, run, given(name))
    return Paths(run=run_of(name) or run).table(benchmarks.load(benchmark).TABLES[table].file)


def overview_path(name: str, run: str = DEFAULT_RUN) -> str | None:
    """The file of what is said over all tables, named by path or by name: `cost`, `yesbut/unread`; None for another."""
    where = Paths(run=run_of(name) or run)
    paths = [where.cost, where.discrepancies]
    paths += [path for b in benchmarks.names() for path in (where.unread(b), where.ranks(b), where.availability(b))]
    names = {path.removeprefix(f"{where.results}/").removesuffix(".csv"): path for path in paths}
    given_as = {Path(name).as_posix(), given(name).as_posix()}
    return names.get(name) or next((path for path in paths if path in given_as), None)
