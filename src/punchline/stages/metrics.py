"""The main values of every table as one small JSON file, for `dvc metrics` and for a look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from punchline.core.storage import parse_csv, write_text
from punchline.project.needs import Project
from punchline.stages.job import make


def main_values(project: Project) -> dict[str, Any]:
    """{benchmark: {table: {row: {column: value, n}}}} of measured models and baselines: each table's first column."""
    found: dict[str, Any] = {}
    for benchmark in project.selection.benchmarks:
        for name, spec in project.benchmark(benchmark).TABLES.items():
            if not spec.graded or not spec.columns:
                continue
            path = project.paths.table(spec.file)
            rows: dict[str, Any] = {}
            for _, cells in parse_csv(Path(path).read_bytes(), ("model", "kind", "n"), file=path):
                if cells["kind"] not in ("measured", "baseline") or not cells.get(spec.columns[0]):
                    continue
                keys = [cells[key] for key in ("model", *spec.keys) if (key, cells[key]) != ("subset", "all")]
                rows[" ".join(keys)] = {spec.columns[0]: float(cells[spec.columns[0]]), "n": int(cells["n"])}
            if rows:
                found.setdefault(benchmark, {})[name] = rows
    return found


def write_metrics(project: Project) -> None:
    """results/metrics.json."""
    step = project.metrics()
    make(step, lambda: write_text(step.outputs[0], json.dumps(main_values(project), indent=1) + "\n"))
