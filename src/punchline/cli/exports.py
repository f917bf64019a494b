"""Commands that hand on what was made."""

from __future__ import annotations

from typing import Annotated

import typer

from punchline.artifacts.project import Project
from punchline.cli.base import RUN, app, given
from punchline.config.runs import made_with
from punchline.export import FORMATS, export
from punchline.paths import DEFAULT_RUN
from punchline.workflow.processes import MODES


@app.command("export", rich_help_panel="Share")
def export_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()),
            autocompletion=lambda: list(FORMATS),
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="New or empty folder")],
    pictures: Annotated[
        str, typer.Option(help=f"Images to include: {', '.join(MODES)}; open: those whose license allows sharing")
    ] = "open",
    run: RUN = DEFAULT_RUN,
) -> None:
    """Export a run for another tool."""
    if pictures not in MODES:
        raise typer.BadParameter(f"one of {', '.join(MODES)}", param_hint="--pictures")
    folder = given(output)
    for line in export(Project(made_with(run)), name, folder, pictures):
        print(line)
    print(f"{output}: {FORMATS[name]}")
