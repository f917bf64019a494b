"""What there is: models, benchmarks."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from punchline.cli.base import app, as_table
from punchline.config.cards import read_card, stems
from punchline.config.schema import KINDS, schema
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError, nearest
from punchline.snakemake.preflight import cannot_run


@app.command("models", rich_help_panel="Run")
def models_command(
    judges: Annotated[bool, typer.Option("--judges", help="List judges (config/judge/) instead")] = False,
    runnable: Annotated[bool, typer.Option("--runnable", help="Only models that can run on this machine")] = False,
) -> None:
    """List models (config/model/), and which can run on this machine."""
    folder = "config/judge" if judges else "config/model"
    rows = []
    for name in stems(folder):
        try:
            card = read_card(name, folder)
            engine = engines.load(card, seed=0)
            engines.check_files(card, engine)
            why = f"gone: {card.gone}" if card.gone else cannot_run(card, engine)
        except PunchlineError as error:
            if not runnable:
                rows.append((name, "", "", "", f"no: {error}", ""))
            continue
        if why and runnable:
            continue
        reads = "+".join(card.modality) if card.engine not in ("replay",) else "-"
        papers = " ".join(sorted(card.papers)) or card.published_as or ""
        caveat = f" ({card.caveat})" if card.caveat else ""
        rows.append((name, card.engine, reads, papers, f"no: {why}" if why else f"yes{caveat}", card.licence or ""))
    headers = ("model", "engine", "reads", "papers", "can run here", "licence")
    print(as_table(rows, headers, (None, None, None, 22, 60, None)))


@app.command("schema", rich_help_panel="Run")
def schema_command(
    kind: Annotated[str, typer.Argument(help=", ".join(KINDS), autocompletion=lambda: list(KINDS))] = "run",
) -> None:
    """Print the JSON schema of a kind of configuration file, for editors."""
    if kind not in KINDS:
        raise PunchlineError(f"no schema {kind!r}", hint=nearest(kind, KINDS))
    print(json.dumps(schema(kind), indent=1))


@app.command("benchmarks", rich_help_panel="Run")
def benchmarks_command() -> None:
    """List benchmarks: conditions, judges, tasks, tables."""
    loaded = [benchmarks.load(name) for name in benchmark_names()]
    rows = [(b.NAME, " ".join(b.CONDITIONS), " ".join(b.JUDGES), " ".join(b.TASKS), " ".join(b.TABLES)) for b in loaded]
    headers = ("benchmark", "conditions", "judges, scorers", "tasks", "tables")
    print(as_table(rows, headers, (None, 24, 18, 48, 48)))
