"""Overviews of a run: cost, main values, differences between the rules, available images."""

from __future__ import annotations

from pathlib import Path

from punchline.artifacts.run import Run
from punchline.fetch.log import availability_text
from punchline.files import read_records, write_text
from punchline.overview.cost import cost_text
from punchline.overview.discrepancies import discrepancies_text
from punchline.overview.metrics import metrics_texts
from punchline.schema import FetchEntry


def write_overview(run: Run) -> None:
    """Write cost.csv, discrepancies.csv, metrics.json, metrics.csv and availability.csv of illustrated benchmarks."""
    where = run.paths
    texts = {where.csv("cost"): cost_text(run), where.csv("discrepancies"): discrepancies_text(run)}
    texts[where.metrics], texts[where.csv("metrics")] = metrics_texts(run)
    for name in filter(run.illustrated, run.selection.benchmarks):
        texts[where.csv("availability", name)] = availability_text(read_records(where.fetch_log(name), FetchEntry))
    for path, text in texts.items():
        write_text(Path(path), text)
