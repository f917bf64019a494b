"""Ranks of models in a table, each with its range. Pure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from punchline.stats.estimate import ALPHA, Estimate
from punchline.stats.intervals import differs, interval
from punchline.tables.declare import Row, Table


class Rank(NamedTuple):
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
    better, worse = Counter[str](), Counter[str]()
    for a, b in itertools.combinations(points, 2):
        if sure := sign * differs(estimates[a], estimates[b], alpha):
            winner, loser = (a, b) if sure > 0 else (b, a)
            worse[winner] += 1
            better[loser] += 1
    ranks = []
    for name in sorted(points, key=lambda name: (-sign * points[name], name)):
        rank = 1 + sum(sign * other > sign * points[name] for other in points.values())
        first, last = min(rank, 1 + better[name]), max(rank, len(points) - worse[name])
        low, high = interval(estimates[name])
        ranks.append(Rank(row, name, estimates[name].n, points[name], low, high, rank, first, last))
    return ranks


def main_column(table: Table) -> str | None:
    """The column by which models are ranked: the first; None where neither more nor less is better there."""
    column = table.columns[0] if table.columns else ""
    return column if column and table.better(column) != "neither" else None


def ranks_in(table: Table, column: str, rows: Iterable[Row]) -> list[Rank]:
    """The ranks of models by a column, in each row of a table that two of them have."""
    estimates: dict[str, dict[str, Estimate]] = {}
    for row in rows:
        estimate = row.estimates.get(column)
        if row.of is not None and estimate is not None and estimate.point() is not None:
            estimates.setdefault(row.key, {})[row.of.name] = estimate
    lowest = table.better(column) == "lower"
    return [one for key, of in estimates.items() if len(of) > 1 for one in ranked(of, key, lowest=lowest)]
