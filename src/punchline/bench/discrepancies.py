"""Where the two rules differ on the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from punchline.bench.table import Measured, Value, key_text
from punchline.core.records import RULES, Rule

DISCREPANCIES = (
    "benchmark",
    "table",
    "model",
    "row",
    "column",
    "released",
    "n_released",
    "paper",
    "n_paper",
    "difference",
)


def discrepancies(
    benchmark: str, table: str, model: str, rows: Mapping[Rule, Sequence[Measured]]
) -> list[dict[str, str | int | float | None]]:
    """Cells of a model in a table whose value under rule `released` is not that under rule `paper`."""
    values: dict[tuple[str, str], dict[Rule, Value]] = {}
    for rule in RULES:
        for row in rows[rule]:
            for column, value in row.values.items():
                values.setdefault((key_text(row.keys), column), {})[rule] = value
    found: list[dict[str, str | int | float | None]] = []
    for (row_name, column), by_rule in values.items():
        released, paper = (by_rule.get(rule, Value(0, None, None, None, "")) for rule in RULES)
        if released.value != paper.value:
            difference = None if released.value is None or paper.value is None else released.value - paper.value
            place = (benchmark, table, model, row_name, column)
            numbers = (released.value, released.n, paper.value, paper.n, difference)
            found.append(dict(zip(DISCREPANCIES, (*place, *numbers), strict=True)))
    return found
