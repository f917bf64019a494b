"""Commands that hand on what was made."""

from __future__ import annotations

from typing import Annotated

import typer

from punchline.cli.base import RUN, app, given
from punchline.export import FORMATS, export
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN
from punchline.project.processes import MODES
from punchline.project.runs import made_with


@app.command("export")
def export_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()),
            autocompletion=lambda: list(FORMATS),
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="A folder that is empty or not there")],
    pictures: Annotated[
        str, typer.Option(help=f"{', '.join(MODES)}: which may be passed on; `all` is for yourself")
    ] = "open",
    run: RUN = DEFAULT_RUN,
) -> None:
    """A run in the format of another tool."""
    if pictures not in MODES:
        raise typer.BadParameter(f"one of {', '.join(MODES)}", param_hint="--pictures")
    folder = given(output)
    for line in export(Project(made_with(run)), name, folder, pictures):
        print(line)
    print(f"{output}: {FORMATS[name]}")
