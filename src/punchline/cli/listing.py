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
from punchline.snakemake.preflight import cannot_run


@app.command(rich_help_panel="Run")
def models(
    judges: Annotated[bool, typer.Option("--judges", help="List judges (config/judge/) instead")] = False,
    runnable: Annotated[bool, typer.Option("--runnable", help="Only models that can run on this machine")] = False,
    as_json: JSON = None,
) -> None:
    """List models (config/model/), and which can run on this machine.

    Example: punchline models --runnable
    """
    folder = "config/judge" if judges else "config/model"
    rows = [_model(name, folder) for name in stems(folder)]
    runnable_rows = [row for row in rows if not runnable or row["can run here"].startswith("yes")]
    print_rows(runnable_rows, as_json=as_json, widths={"papers": 22, "can run here": 60})


def _model(name: str, folder: str) -> dict[str, Any]:
    row = dict.fromkeys(("model", "engine", "reads", "papers", "can run here", "licence"), "") | {"model": name}
    try:
        card = read_card(name, folder)
        engine = engines.load(card, seed=0)
        engines.check_files(card, engine)
        why = f"gone: {card.gone}" if card.gone else cannot_run(card, engine)
    except PunchlineError as error:
        return row | {"can run here": f"no: {error}"}
    caveat = f" ({card.caveat})" if card.caveat else ""
    return row | {
        "engine": card.engine,
        "reads": "-" if card.engine == "replay" else "+".join(card.modality),
        "papers": " ".join(sorted(card.papers)) or card.published_as or "",
        "can run here": f"no: {why}" if why else f"yes{caveat}",
        "licence": card.licence or "",
    }


@app.command("benchmarks", rich_help_panel="Run")
def benchmarks_command(as_json: JSON = None) -> None:
    """List benchmarks: conditions, judges, tasks, tables.

    Example: punchline benchmarks --json
    """
    rows = [
        {
            "benchmark": loaded.NAME,
            "conditions": " ".join((*loaded.CONDITIONS, *variants.conditions(loaded))),
            "judges, scorers": " ".join(loaded.JUDGES),
            "tasks": " ".join(loaded.TASKS),
            "tables": " ".join(tables),
        }
        for name, tables in benchmarks.every(lambda name: benchmarks.load(name).TABLES).items()
        for loaded in [benchmarks.load(name)]
    ]
    print_rows(rows, as_json=as_json, widths={"conditions": 24, "judges, scorers": 18, "tasks": 48, "tables": 48})
