"""Commands that run Snakemake or DVC."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from punchline.artifacts.passes import ALL
from punchline.artifacts.project import Project
from punchline.cli.base import JSON, RUN, SELECTION, app, overrides, print_rows, snakemake
from punchline.cli.tables import tables_command
from punchline.config.selection import EXECUTION_KEYS, named_run, read_chosen, read_selection
from punchline.core.storage import values_in
from punchline.errors import PunchlineError
from punchline.fetch.commands import RETRY
from punchline.files import read_records
from punchline.paths import DEFAULT_RUN, Paths
from punchline.schema import FetchEntry
from punchline.workflow.processes import AGAIN

Images = Annotated[bool, typer.Option("--images", help="Fetch images recorded as missing, not answers")]


@app.command(rich_help_panel="Share")
def restore(pull: Annotated[bool, typer.Option(help="Run `dvc pull`")] = True) -> None:
    """Download the data of dvc.lock with `dvc pull`, and list the tables with their state.

    Example: punchline restore
    """
    if not Path("dvc.lock").is_file():
        raise PunchlineError("no dvc.lock: no run was ever recorded", hint="Run dvc repro, or clone a project with one")
    dvc = [sys.executable, "-m", "dvc"]
    if pull and subprocess.run([*dvc, "pull"], check=False).returncode != 0:
        raise PunchlineError("dvc pull failed", hint="See above; docs/data.md says how to add a remote")
    status = subprocess.run([*dvc, "status", "--json"], capture_output=True, text=True, check=False)
    if status.returncode:
        raise PunchlineError(f"dvc status failed: {status.stderr.strip()}")
    if changed := json.loads(status.stdout):
        hint = "See `dvc status`. Undo your changes and run `dvc checkout`, or run `dvc repro` instead of restoring"
        raise PunchlineError(f"the files are not those of dvc.lock (stages {', '.join(sorted(changed))})", hint=hint)
    tables_command(run=DEFAULT_RUN)


@app.command(rich_help_panel="Run")
def plan(selection: SELECTION = None, run: RUN = DEFAULT_RUN, as_json: JSON = None) -> None:
    """Estimate requests, images, tokens and cost of a run before it starts; no request is sent.

    Example: punchline plan models=echo benchmarks=humorbench judge=overlap
    """
    from punchline.plan import PLAN, plan

    chosen = overrides(selection, run)
    if "run" in chosen:
        chosen = named_run(chosen)[1] | {key: value for key, value in chosen.items() if key != "run"}
    if chosen.keys() <= EXECUTION_KEYS:  # a run without changes cannot have a name
        chosen |= {"benchmarks": read_selection({})[0].benchmarks}
    name = f"plan-{os.getpid()}"  # a run of its own: it touches no other run, and may go on at the same time
    try:
        if status := snakemake("prepare_all", "--nolock", "--quiet", "all", config={**chosen, "run": name}):
            raise typer.Exit(status)
        selected, execution = read_selection({**chosen, "run": name})
        rows = plan(Project(selected, execution.shards))
    finally:
        where = Paths(run=name)
        for folder in (where.data, where.results, where.logs):
            shutil.rmtree(folder, ignore_errors=True)
    columns = [column for column in PLAN if any(row.get(column) not in (None, "") for row in rows)]
    print_rows(({column: row.get(column) for column in columns} for row in rows), as_json=as_json)
    to_ask = sum(int(row["to_ask"] or 0) for row in rows)
    costs = [float(row["cost_most"] or 0) for row in rows if row.get("cost_most")]
    unpriced = sorted({str(row["asked"]) for row in rows if row["to_ask"] and not row.get("cost_most")})
    parts = [f"at most {sum(costs):,.2f}"] if costs or not unpriced else []
    parts += [f"unknown for {', '.join(unpriced)} (no price)"] if unpriced else []
    typer.echo(f"{to_ask:,} requests to ask; cost: {', '.join(parts)}", err=as_json is not None)


@app.command(rich_help_panel="Run")
def retry(selection: SELECTION = None, images: Images = False, run: RUN = "") -> None:
    """Send failed requests again, and rebuild the tables that use them; or fetch missing images again.

    Default: the selection of the last run.

    Example: punchline retry --run six
    """
    chosen = overrides(selection, run) or (chosen.overrides if (chosen := read_chosen(run)) else {})
    project = Project(read_selection(chosen)[0])
    if images:
        logs = {project.paths.fetch_log(name): project.raw(name).job for name in project.selection.benchmarks}
        fetched = {log: read_records(log, FetchEntry) for log in logs if Path(log).is_file()}
        again = [log for log, entries in fetched.items() if any(entry.state != "ok" for entry in entries)]
        targets, more = [logs[log] for log in again], {RETRY: "1"}
    else:
        failed = _failed(project)
        after = [*map(project.tables, project.selection.benchmarks), project.overview()]
        again, more = list(failed), {}
        targets = [*again, *(step.job for step in after if Path(step.job).is_file())]
        if failed:
            print(f"Retrying {failed.total():,} failed answers", flush=True)
    if not again:
        nothing = "no image of this selection is missing" if images else "no answer of this selection failed"
        print(f"nothing to retry: {nothing}")
        return
    raise typer.Exit(snakemake(*targets, config=chosen, **{AGAIN: ",".join(again)}, **more))


def _failed(project: Project) -> Counter[str]:
    """{file by which Snakemake knows a respondent's job: its failed answers}."""
    failed = Counter[str]()
    for benchmark, model, pass_, _, index in project.asked_passes():
        if Path(index).is_file() and (n := list(values_in(index, "state")).count("failed")):
            respondent = project.respondent(benchmark, "" if pass_ == "answer" else pass_, model)
            failed[project.paths.responded(respondent, ALL)] += n
    return failed
