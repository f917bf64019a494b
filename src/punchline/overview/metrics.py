"""The main values of every table as JSON and CSV, for `dvc metrics` and `dvc plots`."""

from __future__ import annotations

import json
from typing import Any

from punchline.artifacts.run import Run
from punchline.files import csv_text
from punchline.tables.render import read_rows


def metrics_texts(run: Run) -> tuple[str, str]:
    """Values of measured models and baselines in each table's first column: as a tree and as lines.

    metrics.json: {benchmark: {table: {row: {column: value, n}}}}.
    """
    tree, lines = dict[str, Any](), dict[str, dict[str, Any]]()
    for benchmark in run.selection.benchmarks:
        for name, table in run.benchmark(benchmark).TABLES.items():
            column = table.columns[0] if table.of_models and table.columns else ""
            for cells in read_rows(run.paths.table(table.file)) if column else ():
                if cells["kind"] in ("measured", "baseline") and cells.get(column):
                    keys = [cells[key] for key in ("model", *table.keys) if (key, cells[key]) != ("subset", "all")]
                    row, value, n = " ".join(keys), float(cells[column]), int(cells["n"])
                    tree.setdefault(benchmark, {}).setdefault(name, {})[row] = {column: value, "n": n}
                    place = f"{benchmark} {name} {row}"
                    lines[place] = {"row": place, "column": column, "value": value, "n": n}
    return json.dumps(tree, indent=1) + "\n", csv_text(("row", "column", "value", "n"), [*lines.values()])
