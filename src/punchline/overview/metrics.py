"""The main values of every table as JSON and CSV, for `dvc metrics` and `dvc plots`."""

from __future__ import annotations

import json
from typing import Any

from punchline.artifacts.project import Project
from punchline.files import csv_text
from punchline.tables.render import read_rows


def main_values(project: Project) -> dict[str, Any]:
    """{benchmark: {table: {row: {column: value, n}}}} of measured models and baselines: each table's first column."""
    found: dict[str, Any] = {}
    for benchmark in project.selection.benchmarks:
        for name, spec in project.benchmark(benchmark).TABLES.items():
            if not spec.of_models or not spec.columns:
                continue
            path = project.paths.table(spec.file)
            rows: dict[str, Any] = {}
            for cells in read_rows(path):
                if cells["kind"] not in ("measured", "baseline") or not cells.get(spec.columns[0]):
                    continue
                keys = [cells[key] for key in ("model", *spec.keys) if (key, cells[key]) != ("subset", "all")]
                rows[" ".join(keys)] = {spec.columns[0]: float(cells[spec.columns[0]]), "n": int(cells["n"])}
            if rows:
                found.setdefault(benchmark, {})[name] = rows
    return found


def metrics_texts(project: Project) -> tuple[str, str]:
    """The main values as a tree (metrics.json) and as lines (metrics.csv)."""
    found = main_values(project)
    lines = [
        {"row": f"{benchmark} {table} {row}", "column": column, "value": value, "n": values["n"]}
        for benchmark, tables in found.items()
        for table, rows in tables.items()
        for row, values in rows.items()
        for column, value in values.items()
        if column != "n"
    ]
    return json.dumps(found, indent=1) + "\n", csv_text(("row", "column", "value", "n"), lines)
