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
from punchline.core import benchmark as benchmarks
from punchline.core.errors import PunchlineError, nearest
from punchline.project.paths import DEFAULT_RUN, RUNS, Paths
from punchline.project.runs import made_with
from punchline.project.selection import stems

HELP = "`punchline`: audit, compare, restore, and what there is."

_here = [Path()]  # where the user is: paths of the command line start there

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=HELP)


def find_root(start: Path) -> Path:
    """The project that a folder lies in. Raises PunchlineError."""
    for folder in (start, *start.parents):
        if (folder / "Snakefile").is_file() and (folder / "config" / "run.yaml").is_file():
            return folder
    raise PunchlineError(f"no Snakefile in {start} or above it", way_out="Go to the project, or name its root: --root")


def version(asked: bool) -> None:
    if asked:
        print(f"punchline {punchline.__version__}")
        raise typer.Exit


@app.callback()
def root(
    root: Annotated[Path | None, typer.Option(help="The project's root; else the one above this folder")] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Say it and exit")
    ] = False,
) -> None:
    """Commands work from any folder of the project."""
    _here[:] = [Path.cwd()]
    os.chdir(find_root(root.resolve() if root is not None else Path.cwd()))


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


RUN = Annotated[str, typer.Option(help="A named run; else the default one")]
TABLE = "A path, results/table8.csv, or a name: table8, yesbut/table2"
SELECTION = Annotated[
    list[str] | None,
    typer.Argument(help="As snakemake --config: benchmarks=all models=[a,b] judge=c", metavar="KEY=VALUE"),
]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model that has grades", autocompletion=completes("config/model"))
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
        raise PunchlineError(f"expected key=value, got {text!r}", way_out="As snakemake --config takes them")
    return key, yaml.safe_load(value)


def as_table(rows: Sequence[Sequence[Any]], headers: Sequence[str], widths: Sequence[int | None] | None = None) -> str:
    """Rows in columns for a terminal."""
    return tabulate(rows, headers, tablefmt="plain", disable_numparse=True, maxcolwidths=widths)


def run_of(name: str) -> str:
    """The named run that a path lies in; "" for another path or a name."""
    parts, folder = Path(name).parts, Path(RUNS[1]).parts
    return parts[len(folder)] if parts[: len(folder)] == folder and len(parts) > len(folder) else ""


def table_path(name: str, run: str = DEFAULT_RUN) -> str:
    """The CSV of a table that is named by path or by name. Of several tables of one name, the run's own benchmark's."""
    run = run_of(name) or run
    where, chosen = Paths(run=run), made_with(run).benchmarks
    paths = {where.table(t.file): (b, t.name) for b in benchmarks.names() for t in benchmarks.load(b).TABLES.values()}
    for path in (Path(name), given(name)):
        if path.as_posix() in paths:
            return path.as_posix()
    of = [target for target, (benchmark, table) in paths.items() if name in (table, f"{benchmark}/{table}")]
    if len(of) > 1:
        of = [target for target in of if paths[target][0] in chosen] or of
    if len(of) > 1:
        raise PunchlineError(f"several benchmarks have a {name}", way_out=f"Say which: {', '.join(of)}")
    if of:
        return of[0]
    raise PunchlineError(f"no table {name!r}", way_out=nearest(name, [*paths, *(t for _, t in paths.values())]))


def overview_path(name: str, run: str = DEFAULT_RUN) -> str | None:
    """The file of what is said over all tables, named by path or by name: `cost`, `yesbut/unread`; None for another."""
    where = Paths(run=run_of(name) or run)
    paths = [where.cost, where.discrepancies]
    paths += [path for b in benchmarks.names() for path in (where.unread(b), where.availability(b))]
    names = {path.removeprefix(f"{where.results}/").removesuffix(".csv"): path for path in paths}
    given_as = {Path(name).as_posix(), given(name).as_posix()}
    return names.get(name) or next((path for path in paths if path in given_as), None)
