"""Commands that run Snakemake or DVC."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from punchline.cli.base import SELECTION, app, as_table, given, overrides, snakemake
from punchline.core.errors import PunchlineError
from punchline.core.records import LedgerEntry
from punchline.core.storage import read_columns, read_records
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN, Paths
from punchline.project.provenance import walk
from punchline.project.selection import HOW, chosen_before, named_run, read_selection
from punchline.stages.cost import PLAN


@app.command()
def restore(
    pull: Annotated[bool, typer.Option(help="Run `dvc pull` first")] = True,
) -> None:
    """`dvc pull`, and say whether every table is current; refuses when `dvc status` is not clean."""
    if not Path("dvc.lock").is_file():
        raise PunchlineError(
            "no dvc.lock: nothing was ever recorded",
            way_out="Run `dvc repro`, or clone a project whose dvc.lock is committed",
        )
    dvc = [sys.executable, "-m", "dvc"]
    if pull and subprocess.run([*dvc, "pull"], check=False).returncode != 0:
        raise PunchlineError("dvc pull failed", way_out="See above; docs/data.md says how to add a remote")
    status = subprocess.run([*dvc, "status", "--json"], capture_output=True, text=True, check=False)
    try:
        changed = json.loads(status.stdout or "null")
    except json.JSONDecodeError:
        changed = None
    if status.returncode != 0 or changed is None:
        raise PunchlineError(f"dvc status failed: {status.stderr.strip()}")
    if changed:
        print(json.dumps(changed, indent=1), file=sys.stderr)
        raise PunchlineError(
            f"the files are not those of dvc.lock (stages {', '.join(sorted(changed))})",
            way_out="Undo your changes and run `dvc checkout`, or run `dvc repro` instead of restoring",
        )
    from punchline.audit.state import table_states

    states = table_states(Project(read_selection({})[0]))
    for state in states:
        if state.reason:
            print(f"{state.path}: {state.state}, {state.reason}")
    there = sum(not state.reason for state in states)
    print(f"restored: {there} of {len(states)} tables are current; `snakemake -n` says what is left to do")


def _words(chosen: Mapping[str, Any]) -> list[str]:
    """Overrides as Snakemake takes them."""
    words = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in chosen.items()]
    return ["--config", *words] if words else []


@app.command()
def fetch(
    selection: SELECTION = None,
    retry_missing: Annotated[
        bool, typer.Option("--retry-missing", help="Only try again what was recorded as missing")
    ] = False,
    config: Annotated[list[str] | None, typer.Option(help="The same as KEY=VALUE")] = None,
) -> None:
    """Fetch what the selection needs; with --retry-missing only what was recorded as missing."""
    chosen = overrides([*(config or ()), *(selection or ())])
    if not retry_missing:
        raise typer.Exit(snakemake("fetch", *_words(chosen)))
    project, ledgers = Project(read_selection(chosen)[0]), []
    for benchmark in project.selection.benchmarks:
        ledger = project.paths.ledger(benchmark)
        entries = read_records(ledger, LedgerEntry) if Path(ledger).is_file() else []
        missing = sum(entry.state != "ok" for entry in entries)
        print(
            f"{benchmark}: {missing:,} of {len(entries):,} images are missing"
            if entries
            else f"{benchmark}: no images yet"
        )
        ledgers += [ledger] if missing else []
    if not ledgers:
        print("nothing to try again; `punchline fetch` fetches what was never tried")
        return
    raise typer.Exit(snakemake(*ledgers, "--forcerun", *ledgers, *_words(chosen), PUNCHLINE_RETRY_MISSING="1"))


@app.command()
def plan(selection: SELECTION = None) -> None:
    """What a run would still ask, before it does: requests, images, tokens, hours, money. Nothing is asked."""
    from punchline.stages.plan import plan

    chosen = overrides(selection)
    if "run" in chosen:
        chosen = named_run(chosen)[1] | {key: value for key, value in chosen.items() if key != "run"}
    if chosen.keys() <= HOW:  # a run that changes nothing has no name
        chosen |= {"benchmarks": read_selection({})[0].benchmarks}
    name = f"plan-{os.getpid()}"  # a run of its own: no run's files are touched, and it may go beside another
    try:
        status = snakemake("questions", "--nolock", "--quiet", "all", *_words({**chosen, "run": name}))
        if status:
            raise typer.Exit(status)
        making = read_selection({**chosen, "run": name})
        rows = plan(Project(making.selection, making.shards))
    finally:
        where = Paths(run=name)
        for folder in (where.data, where.results, where.logs):
            shutil.rmtree(folder, ignore_errors=True)
    shown = [column for column in PLAN if any(row.get(column) not in (None, "") for row in rows)]
    print(
        as_table([["" if (cell := row.get(column)) is None else str(cell) for column in shown] for row in rows], shown)
    )
    asked = sum(int(row["to_ask"] or 0) for row in rows)
    costs = [float(row["cost_most"] or 0) for row in rows if row.get("cost_most")]
    unpriced = sorted({str(row["asked"]) for row in rows if row["to_ask"] and not row.get("cost_most")})
    print(f"{asked:,} requests to ask; at most {sum(costs):,.2f} where a price is known", end="")
    print(f" (none for {', '.join(unpriced)})" if unpriced else "")
    if any("hours" in row for row in rows):
        hours = sum(float(row.get("gpu_hours") or 0) for row in rows)
        unmeasured = sorted({str(row["asked"]) for row in rows if row.get("gpus_a_job") and "hours" not in row})
        print(f"about {hours:,.2f} GPU hours by what was measured here", end="")
        print(f" (nothing was of {', '.join(unmeasured)})" if unmeasured else "")


@app.command()
def retry(selection: SELECTION = None) -> None:
    """Ask once more what failed, and make the tables that are there and rest on it again.

    Without a selection, in that which the default run was last made with.
    """
    chosen = overrides(selection) or chosen_before(DEFAULT_RUN) or {}
    project = Project(read_selection(chosen)[0])
    again, failed = [], 0
    for *_, snapshot in project.asked():
        if Path(snapshot).is_file() and (n := read_columns(snapshot, ["state"])["state"].count("failed")):
            again.append(snapshot)
            failed += n
    if not again:
        print("nothing to ask again: no answer of this selection has failed")
        return
    rests = [step.outputs[0] for step in project.tables() if any(need.path in again for need, _ in walk(step))]
    others = [project.paths.cost, project.paths.metrics, project.paths.discrepancies]
    targets = [path for path in (*rests, *others) if Path(path).is_file()]
    print(f"{failed:,} answers failed, in {len(again)} of {len(project.asked())} sets: asked again", flush=True)
    raise typer.Exit(snakemake(*again, *targets, "--forcerun", *again, *_words(chosen)))


@app.command()
def compact(
    orphans: Annotated[
        bool, typer.Option("--orphans", help="Also answers that no run's current requests ask for")
    ] = False,
) -> None:
    """Rewrite journals without lines that later ones stand for. No digest changes, and no audit."""
    from punchline.stages.journals import compacted

    saved = 0
    for path, before, after in compacted(orphans=orphans):
        saved += before - after
        if after < before:
            print(f"{path}: {before:,} → {after:,} bytes")
    print(f"{saved:,} bytes less")


@app.command()
def merge(
    folder: Annotated[str, typer.Argument(help="Another project, or a copy of its data/responses")],
) -> None:
    """Take over answers that were asked for elsewhere: another branch, another machine. What is answered here stays."""
    from punchline.stages.journals import merged

    taken = 0
    for path, answers in merged(given(folder)):
        taken += answers
        if answers:
            print(f"{path}: {answers:,} answers more")
    print(f"{taken:,} answers taken over; what hangs on failed ones that are answered now: punchline retry")
