"""Commands that pass results on: report pages, exports, new projects."""

from __future__ import annotations

import re
import shutil
import webbrowser
from pathlib import Path
from typing import Annotated, Literal

import typer
import yaml

import punchline
from punchline.artifacts.project import Project
from punchline.cli.base import RUN, app, given
from punchline.config.cards import PLAIN_NAME, check_without_secrets
from punchline.config.runs import selection_of
from punchline.errors import PunchlineError
from punchline.export import FORMATS, export
from punchline.files import new_folder

WORKFLOW = Path(punchline.__file__).parent / "template"  # packed by setup.py
PIN = "requirements.txt"  # in place of src/: DVC reruns its stages for another version

FORMAT = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
Format = Annotated[Literal["hf", "inspect"], typer.Argument(metavar="FORMAT", help=FORMAT)]
Output = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="New or empty folder")]
PICTURES = "Images to include; open: those whose license allows sharing"
Shown = Annotated[Literal["own", "open", "all"], typer.Option(help=PICTURES)]
Port = Annotated[int | None, typer.Option(help="Port; default: 8642, or a free one if that is in use")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser")]
Folder = Annotated[str | None, typer.Argument(metavar="DIR", help="New or empty folder")]
MODEL_CARD = "Ask four questions and write a model's card"
Card = Annotated[str | None, typer.Option("--model-card", metavar="FILE", help=MODEL_CARD)]


@app.command(rich_help_panel="Look")
def view(run: RUN = "", port: Port = None, browser: Browser = True) -> None:
    """Open the report of a run in the browser, with all images; on this machine only.

    Example: punchline view --port 8000
    """
    from punchline.report import serve

    project = Project(selection_of(run))
    served = serve.application(project)
    listening = serve.listen(serve.HOST, port)
    address = f"http://{serve.HOST}:{listening.getsockname()[1]}{serve.path_of(project)}/index.html"
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if browser:
        webbrowser.open(address)
    serve.serve(served, listening)


@app.command("export", rich_help_panel="Share")
def export_command(name: Format, output: Output, pictures: Shown = "open", run: RUN = "") -> None:
    """Export a run for another tool.

    Example: punchline export hf --output answers
    """
    export(Project(selection_of(run)), name, given(output), pictures)
    print(f"{output}: {FORMATS[name]}")


@app.command(rich_help_panel="Run")
def init(folder: Folder = None, model_card: Card = None) -> None:
    """Create a project folder (workflow, configuration, manifests), or a model card.

    Example: punchline init my-project
    """
    if model_card is not None:
        _write_card(given(model_card))
        return
    if folder is None:
        raise PunchlineError("no folder is named", hint="punchline init DIR, or punchline init --model-card my.yaml")
    if not WORKFLOW.is_dir():
        hint = f"Work in it, {WORKFLOW.parent.parent.parent}, or git clone it"
        raise PunchlineError("a checkout brings no workflow along", hint=hint)
    target = given(folder).resolve()
    with new_folder(target, "Name a new folder") as new:
        shutil.copytree(WORKFLOW, new)
        stages = new / "dvc.yaml"
        stages.write_text(re.sub(r"(deps: \[.*?)\bsrc\b", rf"\1{PIN}", stages.read_text()))
        (new / PIN).write_text(f"punchline=={punchline.__version__}\n")
    print(f"{target}: a project; run `git init` in it to version it (dvc needs it)")
    print("snakemake --cores all results/table8.csv     # in it: the demo corpus, the baselines")


def _write_card(file: Path) -> None:
    """Ask for server, model, key and input, and write a card of the openai engine. Raises PunchlineError."""
    if file.suffix != ".yaml" or not re.fullmatch(PLAIN_NAME, file.stem):
        raise PunchlineError("expected a model's name and .yaml", file=file, hint="--model-card my-model.yaml")
    if file.exists():
        raise PunchlineError("the file exists", file=file, hint="Choose another name")
    address = typer.prompt("Address of the OpenAI-compatible server", default="http://127.0.0.1:8000/v1")
    name = typer.prompt("Name of the model on that server")
    variable = typer.prompt("Environment variable that holds the key (empty: no key)", default="", show_default=False)
    sees = typer.confirm("Does the model see images?", default=True)
    card = {"engine": "openai", "base_url": address, "id": name} | ({"api_key_env": variable} if variable else {})
    card |= {"modality": ["text", "image"] if sees else ["text"]}
    check_without_secrets(card, str(file))
    file.write_text(yaml.safe_dump(card, sort_keys=False, default_flow_style=None))
    print(f"{file}: a model card. Evaluate it: punchline run {file} --run {file.stem}")
