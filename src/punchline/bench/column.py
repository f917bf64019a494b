"""Columns of a table: sufficient statistics of a model's answers, one row an item, and a function of their sum."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from punchline.bench.frame import Digests, Flags, Frame, Places
from punchline.core.stats import EXACT, POSITIVE, Array, Estimate, Kept, Kind, Sums, Value, mean, total


class Statistics(NamedTuple):
    """What a column has of a frame."""

    sums: Sums  # [n, k]
    item: Places  # [n]: whose each row is, by place in the scope
    clusters: Places  # [n]
    digests: Digests  # of the grades that the rows come from
    of: Places | None = None  # whose those are; None: a row is a grade
    value: Value | None = None  # where it hangs on the answers; None: the column's
    kept: Kept | None = None  # by all estimates of these

    def on(self, items: Flags) -> Statistics:
        """Those of some of the scope's items."""
        if items.all():
            return self._replace(kept=Kept())
        kept, own = items[self.item], self.item if self.of is None else self.of
        return self._replace(
            sums=self.sums[kept],
            item=self.item[kept],
            clusters=self.clusters[kept],
            digests=self.digests[items[own]],
            of=None if self.of is None else self.of[items[self.of]],
            kept=Kept(),
        )

    def estimate(self, value: Value = mean, kind: Kind | None = None, *, empty: bool = False) -> Estimate | None:
        """What they say; None where there is no row, unless that is to be shown (`empty`)."""
        if not (empty or len(self.sums)):
            return None
        return Estimate(self.sums, self.value or value, self.clusters, self.digests, kind, self.kept or Kept())


Make = Callable[[Frame], Statistics | None]
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Column:
    """One metric of a table."""

    name: str
    tasks: tuple[str, ...]  # whose answers it takes; (): those of the row
    make: Make  # None: it was not attempted
    value: Value = mean
    kind: Kind | None = None  # what its interval hangs on; None: that of a share, a percentage or a count
    empty: bool = False  # whether its cell is there where nothing was scored
    parsed: bool = False  # whether it matters what was read out of the answers
    better: Better = "higher"

    def __str__(self) -> str:
        return self.name

    def statistics(self, frame: Frame) -> Statistics | None:
        """Of all its answers; made once a frame."""
        return frame.kept.once(self.make, lambda: self.make(frame))

    def of(self, found: Statistics | None) -> Estimate | None:
        """The estimate; None where there is nothing."""
        return None if found is None else found.estimate(self.value, self.kind, empty=self.empty)

    def estimate(self, frame: Frame, items: Flags | None = None) -> Estimate | None:
        """Over some of the scope's items, or all."""
        found = self.statistics(frame)
        return self.of(None if found is None else found.on(frame.scope.everything if items is None else items))


def estimates(columns: Sequence[Column], frame: Frame, items: Flags) -> dict[str, Estimate | None]:
    """Every column over some items; columns that are functions of the same statistics share them."""
    made: dict[Make, Statistics | None] = {}
    for column in columns:
        if column.make not in made:
            found = column.statistics(frame)
            made[column.make] = None if found is None else found.on(items)
    return {column.name: column.of(made[column.make]) for column in columns}


def by_answer(frame: Frame, sums: Sums, rows: Flags | None = None) -> Statistics:
    """Statistics with a row an answer, [n, k]. `rows`: those of the answers that count."""
    kept = np.ones(len(frame), dtype=np.bool_) if rows is None else rows
    return Statistics(sums[kept], frame.item[kept], frame.clusters[kept], frame.digest[kept])


def counted(frame: Frame) -> Statistics:
    """Statistics that count the items of answers, each sample once."""
    items = np.unique(frame.unit) // frame.samples
    clusters = frame.scope.clusters[items]
    return Statistics(np.ones((len(items), 1)), items, clusters, frame.digest, frame.item)


def complete(*values: Array) -> Flags:
    """Which answers have all these values."""
    return np.asarray(~np.isnan(np.stack(values)).any(axis=0), dtype=np.bool_)


@functools.cache
def having(task: str, *values: str, squared: bool = False) -> Make:
    """Of a task's scored answers that have all these values: each value, 1 and, if wanted, the square of each."""

    def make(frame: Frame) -> Statistics | None:
        own = frame.of([task])
        if not own.attempted:
            return None
        found = [own.value(name) for name in values]
        sums = [*found, np.ones(len(own)), *(value**2 for value in found if squared)]
        return by_answer(own, np.stack(sums, axis=1), own.scored & complete(*found))

    return make


def deviation(columns: Array) -> Array:
    """Population SD from sums (x, 1, x squared)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = columns[..., 2] / columns[..., 1] - (columns[..., 0] / columns[..., 1]) ** 2
        return np.asarray(np.sqrt(np.maximum(variance, 0)), dtype=np.float64)


def mean_of(
    name: str,
    task: str,
    value: str,
    of: Value = mean,
    kind: Kind | None = None,
    *,
    empty: bool = False,
    better: Better = "higher",
) -> Column:
    """The mean of a value of a task's answers; `of`: percent for a share. `kind`: of what is no share."""
    return Column(name, (task,), having(task, value), of, kind, empty=empty, better=better)


def mean_sd(name: str, task: str, value: str, kind: Kind | None = None) -> list[Column]:
    """The mean of a value, and its SD over the answers."""
    sd = Column(f"{name}_sd", (task,), having(task, value, squared=True), deviation, POSITIVE, better="neither")
    return [mean_of(name, task, value, kind=kind), sd]


def number(name: str, tasks: Sequence[str], make: Make) -> Column:
    """A count of items, which has no interval; nothing for 0."""
    return Column(name, tuple(tasks), make, total, EXACT, better="neither")
