"""The lineages of a run's tables."""

from __future__ import annotations

from pathlib import Path

from punchline.artifacts.lineage import Lineage
from punchline.artifacts.project import Project
from punchline.audit.state import check_shown
from punchline.config.runs import making
from punchline.errors import PunchlineError


def lineages(project: Project, benchmark: str | None = None) -> list[Lineage]:
    """Of every table that was made, of one benchmark or all. Raises PunchlineError for none, and a changed one."""
    names = [benchmark] if benchmark else project.selection.benchmarks
    paths = [project.paths.table(table.file) for name in names for table in project.benchmark(name).TABLES.values()]
    found = [check_shown(path) for path in paths if Path(path).is_file()]
    if not found:
        what = f"the run has no table of {benchmark}" if benchmark else "the run has no table"
        raise PunchlineError(what, hint=f"Make them: {making(project.selection.run, 'all_tables')}")
    return found


def made_at(found: list[Lineage]) -> str:
    """When the newest was made, ISO 8601, UTC."""
    return max(str(lineage.noted["made_at"]) for lineage in found)
