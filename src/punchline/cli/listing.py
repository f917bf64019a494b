"""Commands that list models and benchmarks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from punchline.cli.base import JSON, app, print_rows
from punchline.config.cards import read_card, stems
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core import variants
from punchline.errors import PunchlineError
from punchline.schema import ModelCard
from punchline.snakemake.preflight import cannot_run

Judges = Annotated[bool, typer.Option("--judges", help="List judges (config/judge/) instead")]
Runnable = Annotated[bool, typer.Option("--runnable", help="Only models that can run on this machine")]
COLUMNS = ("model", "engine", "reads", "papers", "can run here", "licence")


@app.command(rich_help_panel="Run")
def models(judges: Judges = False, runnable: Runnable = False, as_json: JSON = None) -> None:
    """List models (config/model/), and which can run on this machine.

    Example: punchline models --runnable
    """
    folder = "config/judge" if judges else "config/model"
    rows, broken = list[dict[str, Any]](), list[str]()
    for name in stems(folder):
        try:
            card = read_card(name, folder)
            rows.append(_model(card, engines.load(card, seed=0)))
        except PunchlineError as error:
            rows.append(_unavailable(name, error))
            broken.append(name)
    runnable_rows = [row for row in rows if not runnable or row["can run here"].startswith("yes")]
    print_rows(runnable_rows, as_json=as_json, widths={"papers": 22, "can run here": 60})
    if broken:
        what = f"cards that cannot be read: {', '.join(broken)}"
        raise PunchlineError(what, file=folder, hint="punchline models says why")


def _unavailable(name: str, error: PunchlineError) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS, "") | {"model": name, "can run here": f"no: {error}"}


def _model(card: ModelCard, engine: engines.Engine) -> dict[str, Any]:
    try:
        engines.check_files(card, engine)
        why = f"gone: {card.gone}" if card.gone else cannot_run(card, engine)
    except PunchlineError as error:
        return _unavailable(card.name, error)
    reads = "-" if card.engine == "replay" else "+".join(card.modality)
    papers = " ".join(sorted(card.papers)) or card.published_as or ""
    can_run = f"no: {why}" if why else f"yes ({card.caveat})" if card.caveat else "yes"
    return dict(zip(COLUMNS, (card.name, card.engine, reads, papers, can_run, card.licence or ""), strict=True))


@app.command("benchmarks", rich_help_panel="Run")
def benchmarks_command(as_json: JSON = None) -> None:
    """List benchmarks: conditions, judges, tasks, tables.

    Example: punchline benchmarks --json
    """
    rows = []
    for name, tables in benchmarks.every(lambda name: benchmarks.load(name).TABLES).items():
        loaded = benchmarks.load(name)
        conditions = [*loaded.CONDITIONS, *variants.conditions(loaded)]
        lists = {"conditions": conditions, "judges, scorers": loaded.JUDGES, "tasks": loaded.TASKS, "tables": tables}
        rows.append({"benchmark": name} | {column: " ".join(names) for column, names in lists.items()})
    print_rows(rows, as_json=as_json, widths={"conditions": 24, "judges, scorers": 18, "tasks": 48, "tables": 48})
