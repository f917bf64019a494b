"""Ranks of the models of one table."""

from __future__ import annotations

from punchline.artifacts.project import Project
from punchline.errors import PunchlineError, check_known
from punchline.tables.declare import Table
from punchline.tables.ranks import Rank
from punchline.tabulate.ranks import ranks_of


def ranks(project: Project, benchmark: str, table: Table, column: str | None = None) -> tuple[str, list[Rank]]:
    """(column, ranks) of the models in a table, from score files.

    `column`: its first one by default. Raises PunchlineError where there is no such column, or no two models.
    """
    path = project.paths.table(table.file)
    if benchmark not in project.selection.benchmarks or not table.of_models:
        raise PunchlineError("no table of this run's models", file=path, hint="See them: punchline tables")
    column = column or table.columns[0]
    check_known(column, table.columns, f"no column {column!r}", file=path)
    ranked = ranks_of(project, benchmark, table.name, column)
    if not ranked:
        hint = "Name another column, or make it with one more model that has one"
        raise PunchlineError(f"no two models have a value of {column}", file=path, hint=hint)
    return column, ranked
