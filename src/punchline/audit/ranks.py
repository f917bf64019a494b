"""How sure the order of models in a table is: the range of each one's rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate as tabulate_text

from punchline.bench.frame import read_frame
from punchline.bench.latex import lowest_is_best
from punchline.bench.table import Across, Model, Table, key_text
from punchline.core.errors import PunchlineError, nearest
from punchline.core.intervals import differs, interval
from punchline.core.stats import ALPHA, Estimate
from punchline.project import paths
from punchline.project.lineage import kind_of
from punchline.project.needs import Project
from punchline.project.runs import made_with
from punchline.stages.cells import scope_of
from punchline.stages.prepare import read_files, run_files

GRADE = "Make it first: snakemake --cores all"


@dataclass(frozen=True)
class Rank:
    """A model's place in one row of a table."""

    row: str
    model: str
    n: int
    value: float
    low: float | None
    high: float | None
    rank: int  # 1 is the best; equal values share a rank
    first: int  # of its 95 % range
    last: int


def ranked(estimates: Mapping[str, Estimate], row: str = "", *, lowest: bool = False) -> list[Rank]:
    """Models by their values, the best first, each with the range of ranks that hold its true one 95 % of the time.

    A model is behind as many as are surely better and before as many as are surely worse: by the intervals of the
    paired differences, at a level that holds for all of a model's at once (Mogstad, Romano, Shaikh and Wilhelm, Review
    of Economic Studies 2024, with Bonferroni's level). `lowest`: the lowest value is the best.
    """
    points = {name: point for name, of in estimates.items() if (point := of.point()) is not None}
    alpha, sign = ALPHA / max(1, len(points) - 1), -1 if lowest else 1
    better: dict[str, int] = dict.fromkeys(points, 0)
    worse: dict[str, int] = dict.fromkeys(points, 0)
    names = list(points)
    for place, a in enumerate(names):
        for b in names[place + 1 :]:
            said = sign * differs(estimates[a], estimates[b], alpha)
            if said:
                winner, loser = (a, b) if said > 0 else (b, a)
                worse[winner] += 1
                better[loser] += 1
    made = []
    for name in sorted(names, key=lambda name: (-sign * points[name], name)):
        rank = 1 + sum(sign * other > sign * points[name] for other in points.values())
        first, last = min(rank, 1 + better[name]), max(rank, len(names) - worse[name])
        low, high = interval(estimates[name])
        made.append(Rank(row, name, estimates[name].n, points[name], low, high, rank, first, last))
    return made


def ranks_in(
    table: Table, models: Sequence[Model], files: Mapping[str, bytes], column: str, *, lowest: bool = False
) -> list[Rank]:
    """The ranks of models in every row of a table that two of them have. Pure."""
    found: dict[str, dict[str, Estimate]] = {}
    rows = [(model.name, row) for model in models for row in table.rows(table.read_by(model.frame))]
    if table.across is not None and models:
        own = [Model(m.name, m.kind, m.engine, table.read_by(m.frame), m.card, m.judge) for m in models]
        named = table.across(Across(own, models[0].frame.scope, files, []))
        rows += [(of.name, row) for _, row, of in named if of is not None]
    for name, row in rows:
        if (of := row.columns.get(column)) is not None and of.n and of.point() is not None:
            found.setdefault(key_text(row.keys), {})[name] = of
    return [rank for row, own in found.items() if len(own) > 1 for rank in ranked(own, row, lowest=lowest)]


def ranks(path: str, run: str, column: str | None = None, *, lowest: bool | None = None) -> tuple[str, list[Rank]]:
    """(column, ranks) of a run's models in the table with this path, from grades as they lie there.

    `column`: its first one by default. `lowest`: whether less is better; None: as of an error rate it is. Raises
    PunchlineError where there is no such column, or no two models.
    """
    project = Project(made_with(run))
    where, chosen = project.paths, project.selection
    pairs = ((b, t) for b in chosen.benchmarks for t in project.benchmark(b).TABLES.values())
    benchmark, table = next(((b, t) for b, t in pairs if where.table(t.file) == path), ("", None))
    if table is None or not table.graded:
        raise PunchlineError("no table of this run's models", file=path, way_out="See them: punchline tables")
    column = column or table.names[0]
    if column not in table.names:
        raise PunchlineError(f"no column {column!r}", file=path, way_out=nearest(column, table.names))
    scope, rule, models = scope_of(project, benchmark), chosen.scoring or table.rule, []
    for name in chosen.models:
        grades = where.grades(benchmark, name)
        if not Path(grades).is_file():
            raise PunchlineError(f"no grades of {name}", file=grades, way_out=GRADE)
        card = project.cards[name]
        models.append(Model(name, kind_of(card), card.engine, read_frame(grades, scope, rule, table.parsed), card))
    own = [file for name in table.own if Path(file := paths.own(benchmark, name)).is_file()]
    files = read_files([*(where.raw(benchmark, name) for name in table.files), *own])
    files |= run_files(project, benchmark, table.name)
    made = ranks_in(table, models, files, column, lowest=lowest_is_best(column) if lowest is None else lowest)
    if not made:
        raise PunchlineError(f"no two models have a value of {column}", file=path, way_out=GRADE)
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
