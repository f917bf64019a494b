"""Logs of Inspect, one a model and benchmark: a zip of JSON, as inspect_ai writes `.eval`. https://inspect.aisi.org.uk"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from punchline import __version__
from punchline.artifacts.lineage import Lineage, shown_cells
from punchline.artifacts.project import Project
from punchline.core import benchmark as benchmarks
from punchline.export.samples import ExportItem, Sample, export_items, lineages, samples
from punchline.files import replacing
from punchline.report.items import PICTURE, pick_fields
from punchline.report.pictures import content
from punchline.schema import FILTERED, LENGTH, Image, Score, Text, sha256

VERSION = 2  # of the log format
LONGEST = 500  # characters of a question in the list of samples
_STOPPED = {"stop": "stop", LENGTH: "max_tokens", FILTERED: "content_filter"}


def _content(part: Text | Image, entry: ExportItem, attachments: dict[str, str]) -> dict[str, str]:
    """A part of a question; a picture's bytes go to `attachments`, once, as Inspect keeps attachments."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    image = {image.sha256: image for image in entry.item.images if entry.held}.get(part.sha256 or "")
    if image is None:  # the export does not hold it
        return {"type": "text", "text": PICTURE}
    if image.sha256 not in attachments:
        kind = mimetypes.guess_type(image.path)[0] or "image/png"
        attachments[image.sha256] = f"data:{kind};base64,{base64.b64encode(content(image)).decode()}"
    return {"type": "image", "image": f"attachment://{image.sha256}"}


def _score(score: Score, sample: Sample) -> dict[str, Any]:
    """A score under one rule: its metrics, else how right it is, else its state. Judge verdicts explain it."""
    rightness = benchmarks.right(score.benchmark, score, sample.of.gold) if score.state == "ok" else None
    verdicts = [sample.verdicts[digest] for digest in score.responses if digest in sample.verdicts]
    reasons = (f"{one.who}: {one.response.text or one.response.state}" for one in verdicts)
    value = score.metrics or (score.state if rightness is None else {"right": rightness})
    answer = None if score.parsed is None else ", ".join(score.parsed)
    metadata = pick_fields(score, "state", "scored", "truncated", "judge", "signature")
    return {"value": value, "answer": answer, "explanation": "\n\n".join(reasons) or None, "metadata": metadata}


def _sample(sample: Sample, model: str) -> dict[str, Any]:
    request, response, entry, attachments = sample.request, sample.response, sample.of, dict[str, str]()
    turns: list[dict[str, Any]] = []
    for message in request.messages:
        parts = [_content(part, entry, attachments) for part in message.content]
        turns.append({"role": message.role, "content": parts})
    usage = {"input_tokens": response.usage.prompt or 0, "output_tokens": response.usage.completion or 0}
    usage["total_tokens"] = sum(usage.values())
    answers = [] if response.text is None else [{"role": "assistant", "content": response.text, "model": model}]
    finish = _STOPPED.get(response.finish_reason or "stop", "unknown")
    choices = [{"message": answer, "stop_reason": finish} for answer in answers]
    reason = f"{response.state}: {response.reason or ''}"
    # By rule; what was parsed for another task is named after it too.
    rules = (one.rule if one.task == request.task else f"{one.rule} {one.task}" for one in sample.scores)
    scores = {rule: _score(score, sample) for rule, score in zip(rules, sample.scores, strict=True)}
    metadata = pick_fields(request, "item_id", "task", "condition") | pick_fields(response, "state", "request_id")
    metadata |= {"response_digest": response.digest, "source": entry.item.source}
    metadata |= pick_fields(entry.right, "credit", "url")
    return {
        "id": " ".join((request.item_id, request.task, request.condition)),
        "epoch": request.sample + 1,
        "input": turns,
        "target": msgspec.json.encode(entry.gold.values).decode(),
        "messages": turns + answers,
        "output": {"model": model, "choices": choices, "usage": usage},
        "scores": scores,
        "metadata": metadata,
        "uuid": sha256(f"{request.request_id} {response.digest}".encode())[:22],
        "attachments": attachments,
        "error": None if answers else {"message": reason, "traceback": "", "traceback_ansi": ""},
    }


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    texts = [part.get("text", PICTURE) for message in sample["input"] for part in message["content"]]
    summary = {name: sample[name] for name in ("id", "epoch", "target", "scores", "metadata", "uuid")}
    error = sample["error"] and sample["error"]["message"]
    return {**summary, "input": "\n".join(texts)[:LONGEST], "completed": error is None, "error": error}


def _results(tables: Iterable[Lineage], model: str) -> list[dict[str, Any]]:
    """A model's values in the tables: a score a row, a metric a column."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for lineage in tables:
        for cell in shown_cells(lineage):
            if cell.filter.get("model") == model and cell.value is not None:
                name = f"{lineage.table} {cell.row.partition('|')[2]}".strip()
                rule = str(cell.filter.get("rule") or "")
                row = {"name": name, "scorer": rule or lineage.table, "metrics": {}, "metadata": {"root": lineage.root}}
                value = {"name": cell.column, "value": cell.value, "params": pick_fields(cell, "lo", "hi", "n")}
                rows.setdefault((name, rule), row)["metrics"][cell.column] = value
    return list(rows.values())


def _log(project: Project, benchmark: str, model: str, items: Mapping[str, ExportItem], path: Path) -> None:
    tables, summaries = lineages(project, benchmark), []
    at = max(str(lineage.noted["made_at"]) for lineage in tables)  # the newest: ISO 8601, UTC
    key = sha256(f"{benchmark} {model} {at}".encode())[:22]
    with replacing(path) as file, ZipFile(file, "w", ZIP_DEFLATED) as log:

        def put(name: str, value: Any) -> None:
            # ZipInfo without a time: the same run gives the same bytes
            log.writestr(ZipInfo(name), msgspec.json.encode(value), ZIP_DEFLATED)

        for sample in samples(project, benchmark, model, items):
            log_sample = _sample(sample, model)
            put(f"samples/{log_sample['id']}_epoch_{log_sample['epoch']}.json", log_sample)
            summaries.append(_summary(log_sample))
        evaluated: dict[str, Any] = dict.fromkeys(("eval_id", "run_id", "task_id"), key)
        evaluated |= {"created": at, "task": benchmark, "task_version": __version__}
        evaluated |= {"dataset": {"name": benchmark, "samples": len(items), "shuffled": False}}
        evaluated |= {"model": f"punchline/{model}", "config": {"epochs": project.selection.samples}}
        evaluated |= {"packages": {"punchline": __version__}, "metadata": {"selection": project.selection}}
        start = {"version": VERSION, "eval": evaluated, "plan": {"name": "plan", "steps": []}}
        total = {"total_samples": len(summaries), "completed_samples": sum(one["completed"] for one in summaries)}
        results, stats = total | {"scores": _results(tables, model)}, {"started_at": at, "completed_at": at}
        put("_journal/start.json", start)
        put("summaries.json", summaries)
        put("header.json", {**start, "status": "success", "results": results, "stats": stats})


def write(project: Project, folder: Path, pictures: str) -> None:
    """A log of each model and benchmark."""
    for benchmark in project.selection.benchmarks:
        items = export_items(project, benchmark, pictures)
        for model in project.selection.models:
            _log(project, benchmark, model, items, folder / f"{benchmark}_{model}.eval")
