"""The application, and arguments, options and output of its commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from tabulate import tabulate

import punchline
from punchline.config.cards import stems
from punchline.config.runs import find_root, named_root, run_of, table_named
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN, Paths

if TYPE_CHECKING:
    import pandas as pd

HELP = (
    "Evaluate multimodal models on comic-humor benchmarks. Snakemake builds tables; these commands plan and read them."
)
PANELS = ("Run", "Look", "Check", "Share", "People")

_here = [Path()]  # the current folder: paths of the command line start there

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=HELP)


def version(asked: bool) -> None:
    if asked:
        print(f"punchline {punchline.__version__}")
        raise typer.Exit


ANYWHERE = ("init", "audit")  # commands that work without a project; an audit does with a published folder


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
    """A path of the command line, relative to the root; defaults are already."""
    return path if isinstance(path, Path) else Path(os.path.relpath(_here[0] / path))


def completes(folder: str) -> Any:
    """Completion of names of cards."""

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
    """Run Snakemake in the project; its exit status."""
    command = [sys.executable, "-m", "snakemake", "--cores", "all", *arguments]
    return subprocess.run(command, env=os.environ | environment, check=False).returncode


def overrides(selection: Sequence[str] | None, run: str = DEFAULT_RUN) -> dict[str, Any]:
    """{key: value} of a command's KEY=VALUE words and its --run. Raises PunchlineError."""
    return dict(_override(text) for text in selection or ()) | ({} if run == DEFAULT_RUN else {"run": run})


def _override(text: str) -> tuple[str, Any]:
    """(key, value) of a word; the value is read as YAML, as Snakemake does."""
    key, equals, value = text.partition("=")
    if not equals:
        raise PunchlineError(f"expected key=value, got {text!r}", hint="As snakemake --config takes them")
    try:
        return key, yaml.safe_load(value)
    except yaml.YAMLError:
        raise PunchlineError(f"no value can be read: {value!r}", file=text, hint=f"A list is {key}=[a,b]") from None


JSON = Annotated[bool | None, typer.Option("--json/--csv", help="Print JSON, or CSV", show_default=False)]


def print_rows(
    *tables: Iterable[Mapping[str, Any]], as_json: bool | None = None, widths: Mapping[str, int] | None = None
) -> None:
    """Print tables of rows for a terminal, as JSON (True) or as CSV (False), without empty tables.

    JSON is a list of rows, or a list of tables if several are given. `widths`: columns to wrap on a terminal.
    """
    import pandas as pd  # slow to import; most commands print no rows

    frames = [pd.DataFrame(list(rows), dtype=object) for rows in tables]
    frames = [frame.where(frame.notna(), None) for frame in frames]
    if as_json:
        lists = [frame.to_dict("records") for frame in frames]
        print(json.dumps(lists if len(tables) > 1 else lists[0], indent=1, ensure_ascii=False))
    elif as_json is False:
        print("\n".join(frame.to_csv(index=False) for frame in frames if len(frame.columns)), end="")
    else:
        print("\n\n".join(_text(frame.map(_cell), widths or {}) for frame in frames if len(frame.columns)))


def _text(frame: pd.DataFrame, widths: Mapping[str, int]) -> str:
    wrapped = [widths.get(str(column)) for column in frame]
    return tabulate(frame.to_dict("list"), "keys", "plain", disable_numparse=True, maxcolwidths=wrapped)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def table_path(name: str, run: str = DEFAULT_RUN) -> str:
    """The CSV of a table, by path or name. Of several tables with one name, that of the run's benchmarks."""
    benchmark, table = table_named(name, run, given(name))
    return Paths(run=run_of(name) or run).table(benchmarks.load(benchmark).TABLES[table].file)


def overview_path(name: str, run: str = DEFAULT_RUN) -> str | None:
    """The file of an overview, by path or name: `cost`, `yesbut/unread`; None for another name."""
    where = Paths(run=run_of(name) or run)
    paths = [where.cost, where.discrepancies]
    paths += [path for b in benchmarks.names() for path in (where.unread(b), where.ranks(b), where.availability(b))]
    names = {path.removeprefix(f"{where.results}/").removesuffix(".csv"): path for path in paths}
    given_as = {Path(name).as_posix(), given(name).as_posix()}
    return names.get(name) or next((path for path in paths if path in given_as), None)
