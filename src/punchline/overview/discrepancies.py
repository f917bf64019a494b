"""Values that differ between the two rules on the same answers."""

from __future__ import annotations

from collections.abc import Iterable

from punchline.artifacts.lineage import lineage_path, read_lineage
from punchline.artifacts.run import Run
from punchline.files import csv_text
from punchline.grouping import grouped
from punchline.schema import RULES, Cell
from punchline.tables.tabulate import Line

PLACE = ("benchmark", "table", "model", "row", "column")
DISCREPANCIES = (*PLACE, "released", "n_released", "paper", "n_paper", "difference")


def discrepancies(benchmark: str, cells: Iterable[Cell]) -> list[Line]:
    """Values of models in a table under rule `released` that are not those under rule `paper`."""
    of_models = (cell for cell in cells if "model" in cell.filter)
    both = grouped(of_models, lambda cell: (benchmark, cell.table, *cell.row.partition("|")[::2], cell.column))
    rows, absent = [], Cell(table="", row="", column="", value=None)
    for place, by_rule in both.items():
        released, paper = (next((one for one in by_rule if one.filter["rule"] == rule), absent) for rule in RULES)
        a, b = released.value, paper.value
        if a != b:
            difference = None if a is None or b is None else a - b
            rows.append(dict(zip(DISCREPANCIES, (*place, a, released.n, b, paper.n, difference), strict=True)))
    return rows


def discrepancies_text(run: Run) -> str:
    """The text of discrepancies.csv: benchmark by benchmark, model by model."""
    rows: list[Line] = []
    for name in run.selection.benchmarks:
        tables = [table for table in run.benchmark(name).TABLES.values() if table.rows is not None]
        files = (run.paths.table(table.file) for table in tables)
        cells = (cell for file in files for cell in read_lineage(lineage_path(file)).cells)
        rows += sorted(discrepancies(name, cells), key=lambda row: run.selection.models.index(str(row["model"])))
    return csv_text(DISCREPANCIES, rows)
