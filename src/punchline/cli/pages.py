"""Commands on pages."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from punchline.cli.base import RUN, app, given
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN
from punchline.project.runs import made_with


@app.command("view")
def view_command(
    run: RUN = DEFAULT_RUN,
    port: Annotated[int | None, typer.Option(help="Else 8642, or a free one where that is taken")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it")] = True,
) -> None:
    """Look at a run's report in the browser, with every picture that lies on this machine; for this machine only."""
    from punchline.report import serve

    served = serve.application(Project(made_with(run)))
    listening = serve.listen(serve.HOST, port)
    address = f"http://{serve.HOST}:{listening.getsockname()[1]}/index.html"
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if browser:
        webbrowser.open(address)
    serve.serve(served, listening)


@app.command("publish")
def publish_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new folder, or one that was published before")],
    run: RUN = DEFAULT_RUN,
) -> None:
    """A run as one folder for a static host: report, tables, and of what they rest on all that may be passed on."""
    from punchline.report.publish import publish

    publish(Project(made_with(run)), Path(given(folder)))
