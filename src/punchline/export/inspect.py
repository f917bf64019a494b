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
from punchline.export.made import cells, lineages, made_at
from punchline.export.samples import Sample, Shown, parts, samples, shown
from punchline.files import replacing
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.report.items import PICTURE
from punchline.report.pictures import content
from punchline.report.shards import right
from punchline.schema import FILTERED, LENGTH, ImageRef, Score, sha256

VERSION = 2  # of the log format
LONGEST = 500  # characters of a question in the list of samples
_STOPPED = {"stop": "stop", LENGTH: "max_tokens", FILTERED: "content_filter"}
_encode = msgspec.json.Encoder().encode


def _content(part: str | ImageRef | None, kept: dict[str, str]) -> dict[str, str]:
    """A part of a question; a picture's bytes go to `kept`, once, as Inspect keeps attachments."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part is None:
        return {"type": "text", "text": PICTURE}
    if part.sha256 not in kept:
        kind = mimetypes.guess_type(part.path)[0] or "image/png"
        kept[part.sha256] = f"data:{kind};base64,{base64.b64encode(content(part)).decode()}"
    return {"type": "image", "image": f"attachment://{part.sha256}"}


def _score(grade: Score, sample: Sample) -> dict[str, Any]:
    """One rule's grade; where it has no value, how right it is, or its state. Judges' words explain it."""
    gold = sample.of.gold
    rightness = right(grade.benchmark, grade, gold) if grade.state == "ok" else None
    value = grade.metrics or (grade.state if rightness is None else {"right": rightness})
    about = {name: getattr(grade, name) for name in ("state", "scored", "truncated", "judge", "signature")}
    answer = None if grade.parsed is None else ", ".join(grade.parsed)
    heard = [sample.heard[digest] for digest in grade.responses if digest in sample.heard]
    said = "\n\n".join(f"{one.who}: {one.response.text or one.response.state}" for one in heard)
    return {"value": value, "answer": answer, "explanation": said or None, "metadata": about}


def _scores(sample: Sample) -> dict[str, Any]:
    """By rule; what was read for another task says which."""
    task = sample.request.task
    return {
        grade.rule if grade.task == task else f"{grade.rule} {grade.task}": _score(grade, sample)
        for grade in sample.grades
    }


def _sample(sample: Sample, model: str) -> dict[str, Any]:
    request, response, kept = sample.request, sample.response, dict[str, str]()
    asked = [
        {"role": message.role, "content": [_content(part, kept) for part in parts(sample, message)]}
        for message in request.messages
    ]
    said = {"role": "assistant", "content": response.text or "", "model": model}
    finish = _STOPPED.get(response.finish_reason or "stop", "unknown")
    usage = {"input_tokens": response.usage.prompt or 0, "output_tokens": response.usage.completion or 0}
    usage["total_tokens"] = sum(usage.values())
    reason = f"{response.state}: {response.reason or ''}"
    error = None if response.text is not None else {"message": reason, "traceback": "", "traceback_ansi": ""}
    return {
        "id": " ".join((request.item_id, request.task, request.condition)),
        "epoch": request.sample + 1,
        "input": asked,
        "target": msgspec.json.encode(sample.of.gold.values).decode(),
        "messages": asked if response.text is None else [*asked, said],
        "output": {
            "model": model,
            "choices": [] if response.text is None else [{"message": said, "stop_reason": finish}],
            "usage": usage,
        },
        "scores": _scores(sample),
        "metadata": {
            "item_id": request.item_id,
            "task": request.task,
            "condition": request.condition,
            "state": response.state,
            "request_id": request.request_id,
            "response_digest": response.digest,
            "source": sample.of.item.source,
            "credit": sample.of.right.credit,
            "url": sample.of.right.url,
        },
        "uuid": sha256(f"{request.request_id} {response.digest}".encode())[:22],
        "attachments": kept,
        "error": error,
    }


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    texts = [part.get("text", PICTURE) for message in sample["input"] for part in message["content"]]
    kept = {name: sample[name] for name in ("id", "epoch", "target", "scores", "metadata", "uuid")}
    error = sample["error"] and sample["error"]["message"]
    return {**kept, "input": "\n".join(texts)[:LONGEST], "completed": error is None, "error": error}


def _results(found: Iterable[Lineage], model: str) -> list[dict[str, Any]]:
    """What the tables say of a model: a score a row, a metric a column."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for lineage in found:
        for row, rule, cell in cells(lineage, model):
            name = f"{lineage.table} {row}".strip()
            about = {"name": name, "scorer": rule or lineage.table, "metrics": {}, "metadata": {"root": lineage.root}}
            value = {"name": cell.column, "value": cell.value, "params": {"lo": cell.lo, "hi": cell.hi, "n": cell.n}}
            rows.setdefault((name, rule), about)["metrics"][cell.column] = value
    return list(rows.values())


def _log(project: Project, benchmark: str, model: str, items: Mapping[str, Shown], path: Path) -> None:
    found = lineages(project, benchmark)
    at = made_at(found)
    summaries = []
    with replacing(path) as file, ZipFile(file, "w", ZIP_DEFLATED) as log:

        def put(name: str, value: Any) -> None:
            log.writestr(ZipInfo(name), _encode(value), ZIP_DEFLATED)  # no time: the same run gives the same bytes

        for sample in samples(project, benchmark, model, items):
            made = _sample(sample, model)
            put(f"samples/{made['id']}_epoch_{made['epoch']}.json", made)
            summaries.append(_summary(made))
        key = sha256(f"{benchmark} {model} {at}".encode())[:22]
        evaluated = {
            "eval_id": key,
            "run_id": key,
            "task_id": key,
            "created": at,
            "task": benchmark,
            "task_version": __version__,
            "dataset": {"name": benchmark, "samples": len(items), "shuffled": False},
            "model": f"punchline/{model}",
            "config": {"epochs": project.selection.samples},
            "packages": {"punchline": __version__},
            "metadata": {"selection": msgspec.to_builtins(project.selection)},
        }
        total = {"total_samples": len(summaries), "completed_samples": sum(one["completed"] for one in summaries)}
        start = {"version": VERSION, "eval": evaluated, "plan": {"name": "plan", "steps": []}}
        results = {**total, "scores": _results(found, model)}
        put("_journal/start.json", start)
        put("summaries.json", summaries)
        put(
            "header.json",
            {**start, "status": "success", "results": results, "stats": {"started_at": at, "completed_at": at}},
        )


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """A log of each model and benchmark."""
    for benchmark in project.selection.benchmarks:
        items = {one.item.item_id: one for one in shown(project, benchmark, pictures)}
        for model in project.selection.models:
            _log(project, benchmark, model, items, folder / f"{benchmark}_{model}.eval")
    return []
