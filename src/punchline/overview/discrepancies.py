"""Values that differ between the two rules on the same answers."""

from __future__ import annotations

from collections.abc import Iterable

from punchline.artifacts.lineage import lineage_path, read_lineage
from punchline.artifacts.project import Project
from punchline.files import csv_text
from punchline.schema import RULES, Cell

PLACE = ("benchmark", "table", "model", "row", "column")
DISCREPANCIES = (*PLACE, "released", "n_released", "paper", "n_paper", "difference")
Line = dict[str, str | int | float | None]


def discrepancies(benchmark: str, cells: Iterable[Cell]) -> list[Line]:
    """Values of models in a table under rule `released` that are not those under rule `paper`."""
    both: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in cells:
        if "model" in cell.filter:
            model, _, keys = cell.row.partition("|")
            both.setdefault((benchmark, cell.table, model, keys, cell.column), {})[str(cell.filter["rule"])] = cell
    rows = []
    for place, by_rule in both.items():
        released, paper = (by_rule[rule].value if rule in by_rule else None for rule in RULES)
        n_released, n_paper = (by_rule[rule].n if rule in by_rule else 0 for rule in RULES)
        if released != paper:
            difference = None if released is None or paper is None else released - paper
            numbers = (released, n_released, paper, n_paper, difference)
            rows.append(dict(zip(DISCREPANCIES, (*place, *numbers), strict=True)))
    return rows


def discrepancies_text(project: Project) -> str:
    """The text of discrepancies.csv: benchmark by benchmark, model by model."""
    rows: list[Line] = []
    for name in project.selection.benchmarks:
        tables = [table for table in project.benchmark(name).TABLES.values() if table.rows is not None]
        files = (project.paths.table(table.file) for table in tables)
        cells = (cell for file in files for cell in read_lineage(lineage_path(file)).cells)
        rows += sorted(discrepancies(name, cells), key=lambda row: project.selection.models.index(str(row["model"])))
    return csv_text(DISCREPANCIES, rows)
