"""State of a run's tables: current, stale or absent, and unchanged since the build."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from punchline.artifacts.lineage import Lineage, lineage_path, read_lineage
from punchline.artifacts.project import Project
from punchline.config.runs import making, run_of
from punchline.errors import PunchlineError, check_file
from punchline.files import sha256_file, write_text
from punchline.paths import DEFAULT_RUN, Paths, audited
from punchline.workflow.provenance import Status


class TableState(NamedTuple):
    """One table of a run."""

    benchmark: str
    table: str
    path: str
    state: str  # current | stale | absent
    reason: str  # why it is stale


def table_states(project: Project) -> list[TableState]:
    """Every table of the selected benchmarks."""
    status, states = Status(), []
    for name in project.selection.benchmarks:
        tables = [table for table in project.every_table() if table.wildcards[0] == name]
        reasons = status.of_parts(project.tables(name), [table.outputs for table in tables])
        for artifact, why in zip(tables, reasons, strict=True):
            path = artifact.outputs[0]
            state = "current" if why is None else "stale" if Path(path).is_file() else "absent"
            states.append(TableState(name, artifact.wildcards[1], path, state, why or ""))
    return states


def again(table_path: str) -> str:
    """The command that rebuilds a table."""
    return f"Rebuild it: {making(run_of(table_path) or DEFAULT_RUN, table_path)}"


def check_table(table_path: str) -> Lineage:
    """The lineage of a table. Raises PunchlineError where one of the table's files is not what it says."""
    path, hint = lineage_path(table_path), again(table_path)
    check_file(path, "no lineage", hint=hint)
    lineage = read_lineage(path)
    if table_path not in {file.path for file in lineage.files}:
        of = f"{lineage.benchmark} {lineage.table} of the run {lineage.selection.run}"
        raise PunchlineError(f"the lineage of another table: {of}", file=path, hint=hint)
    for file in lineage.files:
        if file.role == "table" and (not Path(file.path).is_file() or sha256_file(file.path) != file.sha256):
            what = "the file is not the one that was made: it was changed since, or its lineage was"
            raise PunchlineError(what, file=file.path, hint=hint)
    return lineage


def keep_verdict(table_path: str, lineage: Lineage, verdict: str, root: str) -> None:
    """Record an audit's verdict and its time for the report. A folder that cannot be written keeps none."""
    where = Paths(run=lineage.selection.run)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    file = audited(where.run, table_path.removeprefix(f"{where.results}/"))
    with suppress(OSError):
        write_text(file, json.dumps({"verdict": verdict, "root": root, "audited_at": when}, indent=1) + "\n")
