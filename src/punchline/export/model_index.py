"""Evaluation results for model cards: a file a model, whose front matter is the card's `model-index`.

https://github.com/huggingface/hub-docs/blob/main/modelcard.md
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from punchline.core.files import write_text
from punchline.export.made import cells, lineages
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.project.runs import selection_text


def _results(found: list[Lineage], model: str) -> list[dict[str, Any]]:
    """A result a row of a table and rule, a metric a column; the data set's revision is the table's root."""
    results: dict[tuple[str, ...], dict[str, Any]] = {}
    for lineage in found:
        for row, rule, cell in cells(lineage, model):
            about = {
                "task": {"type": "visual-question-answering", "name": f"{lineage.benchmark} {lineage.table}"},
                "dataset": {
                    "type": lineage.benchmark,
                    "name": f"{lineage.benchmark} ({lineage.selection.corpus.name} corpus)",
                    "config": "|".join(part for part in (lineage.table, row, f"rule={rule}" if rule else "") if part),
                    "split": "test",
                    "revision": lineage.root,
                },
                "metrics": [],
            }
            args = {"n": cell.n, "interval": [cell.lo, cell.hi], "made": cell.interval}
            metric = {"type": cell.column, "name": cell.column, "value": cell.value, "args": args}
            key = (lineage.benchmark, lineage.table, row, rule)
            results.setdefault(key, about)["metrics"].append(metric)
    return list(results.values())


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """A file a model. `pictures` changes nothing: there are none."""
    found = lineages(project)
    for model in project.selection.models:
        head = {"model-index": [{"name": model, "results": _results(found, model)}]}
        text = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
        made_of = (
            f"Made by Punchline of: {selection_text(project.selection)}. A data set's revision is its table's root."
        )
        write_text(folder / f"{model}.md", f"---\n{text}---\n\n{made_of}\n")
    return []
