"""`punchline run`: evaluate models in one command, and say who leads and how certain that is."""

from __future__ import annotations

import itertools
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from punchline.artifacts.project import Project
from punchline.cli.base import app, given, override_text, overrides, snakemake
from punchline.config.cards import MODELS, read_card
from punchline.config.runs import selection_of
from punchline.config.yaml_files import read_yaml
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN

Models = Annotated[list[str], typer.Argument(metavar="MODEL…", help="Names of models, or paths of cards")]


@app.command("run", rich_help_panel="Run")
def run_command(
    models: Models,
    benchmark: Annotated[list[str] | None, typer.Option(help="Benchmark, may be repeated; `all`")] = None,
    corpus: Annotated[str | None, typer.Option(help="demo, open or full; default: that of config/run.yaml")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first items of each benchmark")] = None,
    run: Annotated[str, typer.Option(help="Name of the run: results in results/runs/NAME/")] = DEFAULT_RUN,
    judge: Annotated[str | None, typer.Option(help="Judge, a card of config/judge/")] = None,
    condition: Annotated[list[str] | None, typer.Option(help="Condition, may be repeated; `all`")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if an answer failed")] = False,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Other overrides")] = None,
) -> None:
    """Evaluate models: run Snakemake, print each benchmark's main table and who leads, and name the report.

    The same as the snakemake command that it prints first.

    Example: punchline run random reading-order --run first --limit 8

    Example: punchline run random echo --benchmark pixelhumor --limit 10
    """
    chosen = overrides(config)
    named: dict[str, Any] = {"run": None if run == DEFAULT_RUN else run, "models": [_model(name) for name in models]}
    named |= {"benchmarks": _list(benchmark), "corpus": corpus, "limit": limit, "judge": judge}
    named |= {"conditions": _list(condition), "strict": strict or None}
    chosen |= {key: value for key, value in named.items() if value is not None}
    words = [f"{key}={override_text(value)}" for key, value in chosen.items()]
    print(f"snakemake --cores all all report --config {shlex.join(words)}", flush=True)
    if status := snakemake("all", "report", config=chosen):
        raise typer.Exit(status)
    _print_tables(Project(selection_of(run)))


def _list(names: list[str] | None) -> list[str] | str | None:
    return "all" if names == ["all"] else names


def _model(name: str) -> str:
    """A model's name; the card of a path outside config/model/ is copied there. Raises PunchlineError."""
    if not name.endswith((".yaml", ".yml")):
        return read_card(name).name
    card = given(name)
    target = Path(MODELS) / f"{card.stem}.yaml"
    if not card.is_file():
        raise PunchlineError("no such card", file=name, hint="punchline init --model-card FILE writes one")
    if target.resolve() != card.resolve():
        read_yaml(card)  # what cannot be read is not copied
        if target.is_file() and target.read_bytes() != card.read_bytes():
            raise PunchlineError("another card has this name", file=target, hint="Rename yours, or remove that one")
        shutil.copyfile(card, target)
        print(f"{target}: copied from {name}")
    return read_card(card.stem).name


def _print_tables(project: Project) -> None:
    """Print the main table of each benchmark and who leads there."""
    from punchline.audit.compare import main_table
    from punchline.cli.printing import printed

    for name in project.selection.benchmarks:
        table = main_table(benchmarks.load(name))
        print(f"\n{printed(project.paths.table(table.file), table, get_terminal_size().columns)}")
        for line in leaders(project, name):
            print(line)
    option = "" if project.selection.run == DEFAULT_RUN else f" --run {project.selection.run}"
    print(f"\nReport: {project.paths.report}/index.html (open it: punchline view{option})")


def leaders(project: Project, name: str) -> Iterator[str]:
    """Sentences on the differences between the best three models of a benchmark's main table, neighbor by neighbor."""
    from punchline.audit.compare import compare_files, main_table
    from punchline.tables.ranks import main_column
    from punchline.tabulate.ranks import ranks_of

    benchmark = benchmarks.load(name)
    table = main_table(benchmark)
    column = main_column(table)
    if column is None or len(project.selection.models) < 2:
        return
    try:
        ranked = ranks_of(project, name, table, column)[1]
    except PunchlineError:  # fewer than two models have a value
        return
    rows = list(dict.fromkeys(one.row for one in ranked))
    row = max(reversed(rows), key=lambda key: sum(one.row == key for one in ranked))
    best = sorted((one for one in ranked if one.row == row), key=lambda one: one.rank)[:3]
    for first, second in itertools.pairwise(best):
        try:
            compared = compare_files(benchmark, table, (first.model, second.model), project)
        except PunchlineError as error:
            yield f"{first.model} and {second.model}: not compared: {error}"
            continue
        differences = [one for one in compared.differences if (one["row"], one["column"]) == (row, column)]
        yield from (_sentence(first.model, second.model, one, column in table.percents) for one in differences)


def _sentence(first: str, second: str, difference: dict[str, Any], percent: bool) -> str:
    """One difference in words: `A ahead of B by 4.1 points, 95 % interval 1.2 to 7.0, on 400 comics`."""
    scale = 1 if percent else 100
    sign = -1 if difference["difference"] < 0 else 1
    row = ", ".join(part.partition("=")[2] for part in difference["row"].split(";") if part)
    what = difference["column"] + (f" ({row})" if row else "")
    units = "items" if difference["clusters"] == difference["n"][0] else "groups of items"
    if difference["difference"] == 0 or difference["low"] is None:
        return f"{first} and {second}: no difference in {what} on {difference['clusters']:,} {units}."
    low, high = sorted((sign * difference["low"] * scale, sign * difference["high"] * scale))
    text = f"{first} ahead of {second} by {abs(difference['difference']) * scale:.1f} points of {what},"
    text += f" 95 % interval {low:.1f} to {high:.1f}, on {difference['clusters']:,} {units}"
    from punchline.audit.compare import clusters_needed

    needed = clusters_needed(difference)
    return f"{text}." if needed is None else f"{text}; not settled: that needs about {needed:,}."
