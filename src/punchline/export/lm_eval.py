"""Results and samples as lm-evaluation-harness writes them with `--log_samples`: a folder a model.

https://github.com/EleutherAI/lm-evaluation-harness, lm_eval/evaluator.py and lm_eval/loggers/evaluation_tracker.py
"""

from __future__ import annotations

import contextlib
import datetime
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from punchline.core.files import replacing, write_text
from punchline.core.records import Grade, sha256
from punchline.export.made import cells, lineages, made_at
from punchline.export.samples import Sample, Shown, samples, shown
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.report.items import prompt


def _name(text: str) -> str:
    """A task's name as files may have it."""
    return re.sub(r"\W+", "-", text).strip("-")


def _line(sample: Sample, grade: Grade, number: int) -> dict[str, Any]:
    """An answer under one rule, which is what the harness calls a filter."""
    request, text = sample.request, sample.response.text
    images = [image.sha256 for image in sample.of.item.images]
    doc = {"item_id": request.item_id, "source": sample.of.item.source, "images": images, **sample.of.item.fields}
    target, asked = json.dumps(sample.of.gold.values, ensure_ascii=False), prompt(request)
    settings = {"temperature": request.sampling.temperature, "max_gen_toks": request.sampling.max_tokens}
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": asked, "arg_1": settings}},
        "resps": [[text or ""]],
        "filtered_resps": [text if grade.parsed is None else ", ".join(grade.parsed)],
        "filter": grade.rule,
        "metrics": list(grade.values),
        "doc_hash": sha256(json.dumps(doc, indent=2, ensure_ascii=False).encode()),
        "prompt_hash": sha256(asked.encode()),
        "target_hash": sha256(target.encode()),
        "punchline": {
            "request_id": request.request_id,
            "response_digest": sample.response.digest,
            "sample": request.sample,
            "state": grade.state,
            "scored": grade.scored,
        },
        **grade.values,
    }


def _samples(project: Project, benchmark: str, model: str, items: Mapping[str, Shown], folder: Path, date: str) -> None:
    places = {item_id: number for number, item_id in enumerate(items)}
    with contextlib.ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}
        for sample in samples(project, benchmark, model, items):
            for grade in sample.grades:
                name = "_".join((benchmark, _name(grade.task), _name(grade.condition)))
                if name not in files:
                    files[name] = stack.enter_context(replacing(folder / f"samples_{name}_{date}.jsonl"))
                line = json.dumps(_line(sample, grade, places[grade.item_id]), ensure_ascii=False)
                files[name].write(f"{line}\n".encode())


def _results(found: list[Lineage], model: str, date: str) -> dict[str, Any]:
    """What the tables say of a model: a task a row of a table, `metric,filter` a column and its rule."""
    results: dict[str, dict[str, Any]] = {}
    counts: dict[str, dict[str, int]] = {}
    for lineage in found:
        for row, rule, cell in cells(lineage, model):
            name = "_".join((lineage.benchmark, lineage.table, *([_name(row)] if row else ())))
            own = results.setdefault(name, {"alias": name})
            own[f"{cell.column},{rule or 'none'}"] = cell.value
            own[f"{cell.column}_stderr,{rule or 'none'}"] = "N/A"
            counts[name] = {"original": cell.n, "effective": cell.n}
    return {
        "results": results,
        "group_subtasks": {name: [] for name in results},
        "configs": {name: {"task": name, "metadata": {"version": 0}} for name in results},
        "versions": dict.fromkeys(results, 0),
        "n-shot": dict.fromkeys(results, 0),
        "higher_is_better": {name: {} for name in results},
        "n-samples": counts,
        "config": {"model": "punchline", "model_args": f"model={model}"},
        "model_source": "punchline",
        "model_name": model,
        "model_name_sanitized": model,
        "date": date,
        "punchline": {f"{lineage.benchmark}/{lineage.table}": lineage.root for lineage in found},
    }


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """A folder a model: its samples, one file a task, and what the tables say of it. They hold no picture."""
    found = lineages(project)
    at = datetime.datetime.fromisoformat(made_at(found))
    date = at.strftime("%Y-%m-%dT%H-%M-%S.%f")
    for benchmark in project.selection.benchmarks:
        items = {one.item.item_id: one for one in shown(project, benchmark, pictures)}
        for model in project.selection.models:
            _samples(project, benchmark, model, items, folder / model, date)
    for model in project.selection.models:
        text = json.dumps(_results(found, model, str(at.timestamp())), indent=2, ensure_ascii=False)
        write_text(folder / model / f"results_{date}.json", text)
    return []
