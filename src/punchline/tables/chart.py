"""Declaration of a chart: columns that are values, and their labels."""

from __future__ import annotations

import msgspec


class Chart(msgspec.Struct, frozen=True):
    """A figure. Without `x` a line of dots a row, with intervals; with it a curve over a number."""

    values: tuple[str, ...]  # columns, a plot each
    by: str = "model"  # the column that names a line of the plot, or a curve
    within: tuple[str, ...] = ()  # key columns: a plot for each of their values; of curves, what else names one
    x: str | None = None  # the column that a curve runs over
