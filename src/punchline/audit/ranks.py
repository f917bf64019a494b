"""Ranks of models in one table, with confidence intervals, for printing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tabulate import tabulate as tabulate_text

from punchline.artifacts.project import Project
from punchline.config.runs import made_with
from punchline.errors import PunchlineError, nearest
from punchline.stats.estimate import ALPHA
from punchline.tables.ranks import Rank
from punchline.tabulate.ranks import Ranks


def ranks(path: str, run: str, column: str | None = None, *, lowest: bool | None = None) -> tuple[str, list[Rank]]:
    """(column, ranks) of a run's models in the table with this path, from score files.

    `column`: its first one by default. `lowest`: whether less is better; None: as the table says. Raises PunchlineError
    where there is no such column, or no two models.
    """
    project = Project(made_with(run))
    where, chosen = project.paths, project.selection
    pairs = ((b, t) for b in chosen.benchmarks for t in project.benchmark(b).TABLES.values())
    benchmark, table = next(((b, t) for b, t in pairs if where.table(t.file) == path), ("", None))
    if table is None or not table.of_models:
        raise PunchlineError("no table of this run's models", file=path, hint="See them: punchline tables")
    column = column or table.columns[0]
    if column not in table.columns:
        raise PunchlineError(f"no column {column!r}", file=path, hint=nearest(column, table.columns))
    less = table.better(column) == "lower" if lowest is None else lowest
    made = Ranks(project, benchmark).of(table.name, column, lowest=less)
    if not made:
        raise PunchlineError(
            f"no two models have a value of {column}",
            file=path,
            hint="Name another column, or make it with one more model that has one",
        )
    return column, made


def as_json(column: str, made: Sequence[Rank]) -> dict[str, Any]:
    """Ranks as plain data."""
    return {"column": column, "level": 1 - ALPHA, "ranks": [asdict(rank) for rank in made]}


def as_text(column: str, made: Sequence[Rank]) -> str:
    """Ranks for reading."""
    cells = []
    for rank in made:
        ends = "" if rank.low is None else f"[{rank.low:.3f}, {rank.high:.3f}]"
        span = f"{rank.first}-{rank.last}"
        cells.append([rank.row or "all", rank.model, rank.n, f"{rank.value:.3f}", ends, rank.rank, span])
    heads = ["row", "model", "n", column, "95 %", "rank", "95 % of rank"]
    return tabulate_text(cells, heads, tablefmt="plain", disable_numparse=True)
