"""Overviews of a run: cost, main values, differences between the rules, available images."""

from __future__ import annotations

from pathlib import Path

from punchline.artifacts.project import Project
from punchline.fetch.log import availability_text
from punchline.files import read_records, write_text
from punchline.overview.cost import cost_text
from punchline.overview.discrepancies import discrepancies_text
from punchline.overview.metrics import metrics_texts
from punchline.schema import FetchEntry


def write_overview(project: Project) -> None:
    """Write cost.csv, discrepancies.csv, metrics.json, metrics.csv and availability.csv of illustrated benchmarks."""
    where = project.paths
    texts = {where.csv("cost"): cost_text(project), where.csv("discrepancies"): discrepancies_text(project)}
    texts[where.metrics], texts[where.csv("metrics")] = metrics_texts(project)
    for name in filter(project.illustrated, project.selection.benchmarks):
        texts[where.csv("availability", name)] = availability_text(read_records(where.fetch_log(name), FetchEntry))
    for path, text in texts.items():
        write_text(Path(path), text)
