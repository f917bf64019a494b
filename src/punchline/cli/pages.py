"""Commands on pages."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from punchline.artifacts.project import Project
from punchline.cli.base import RUN, app, given
from punchline.config.runs import made_with
from punchline.paths import DEFAULT_RUN


@app.command("view", rich_help_panel="Look")
def view_command(
    run: RUN = DEFAULT_RUN,
    port: Annotated[int | None, typer.Option(help="Port; default: 8642, or a free one if that is in use")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser")] = True,
) -> None:
    """Open the report of a run in the browser, with all images; on this machine only."""
    from punchline.report import serve

    served = serve.application(Project(made_with(run)))
    listening = serve.listen(serve.HOST, port)
    address = f"http://{serve.HOST}:{listening.getsockname()[1]}/index.html"
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if browser:
        webbrowser.open(address)
    serve.serve(served, listening)


@app.command("publish", rich_help_panel="Share")
def publish_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="New folder, or one published before")],
    run: RUN = DEFAULT_RUN,
) -> None:
    """Write the report, tables and shareable files of a run into one folder for a static web host."""
    from punchline.report.publish import publish

    publish(Project(made_with(run)), Path(given(folder)))
