"""One record in full, with everything up- and downstream of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError, nearest
from punchline.core.outside import json_shown
from punchline.core.records import Gold, Grade, Item, Record, Request, Response
from punchline.core.storage import read_records, read_table
from punchline.stages.prepare import Pictures


def _with_digest(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__} | {"digest": record.digest}


def as_text(found: dict[str, Any]) -> str:
    """What `find` gives, as JSON for a terminal: what would steer it (ESC, U+009B, U+202E) is escaped, nothing lost."""
    return json_shown(json.dumps(msgspec.to_builtins(found), indent=1, ensure_ascii=False))


def find(name: str) -> dict[str, Any]:
    """The item `name`, or the request whose id begins with it: image, item, gold, requests, responses, grades.

    Raises PunchlineError for an id that no benchmark of the current selection has.
    """
    known: list[str] = []
    for benchmark in benchmark_names():
        items_file = Path(f"data/items/{benchmark}/items.jsonl")
        requests_file = Path(f"data/requests/{benchmark}.parquet")
        if not items_file.is_file() or not requests_file.is_file():
            continue
        items = {item.item_id: item for item in read_records(items_file, Item)}
        requests = read_table(requests_file, Request)
        known += items
        chosen = [r for r in requests if r.item_id == name]
        if not chosen and len(name) >= 6:
            hops = (request for hop in _hops(benchmark) for request in read_table(hop, Request))
            chosen = [r for r in (*requests, *hops) if r.request_id.startswith(name)]
        if chosen:
            return _about(benchmark, items[chosen[0].item_id], chosen)
    if not known:
        raise PunchlineError("nothing has been prepared yet", way_out="Run snakemake first")
    raise PunchlineError(f"no item or request {name!r} in the current selection", way_out=nearest(name, known))


def _hops(benchmark: str) -> list[Path]:
    """Requests that hang on models' answers: data/requests/<benchmark>/<hop>/<model>.parquet."""
    return sorted(Path(f"data/requests/{benchmark}").glob("*/*.parquet"))


def _about(benchmark: str, item: Item, requests: list[Request]) -> dict[str, Any]:
    index = Path(f"data/images/{benchmark}/index.jsonl")
    images = read_records(index, Pictures) if index.is_file() else []
    gold = read_records(f"data/items/{benchmark}/gold.jsonl", Gold)
    wanted = {request.request_id: request.task for request in requests}
    tasks = set(wanted.values())
    responses: dict[str, list[Any]] = {}
    grades: dict[str, list[Any]] = {}
    for snapshot in sorted(Path(f"data/responses/{benchmark}").glob("*.parquet")):
        model = snapshot.stem
        responses[model] = [
            {"task": wanted[r.request_id], **_with_digest(r)}
            for r in read_table(snapshot, Response)
            if r.request_id in wanted
        ]
        graded = Path(f"results/{benchmark}/grades/{model}.parquet")
        if graded.is_file():
            grades[model] = [
                _with_digest(g) for g in read_table(graded, Grade) if g.item_id == item.item_id and g.task in tasks
            ]
    whole = len(requests) > 1  # an item was asked for: all that its answers led to; else the one request
    hops: dict[str, dict[str, Any]] = {}
    for path in _hops(benchmark):
        asked = read_table(path, Request)
        snapshot = Path(f"data/responses/{benchmark}/{path.parent.name}/{path.name}")
        said = read_table(snapshot, Response) if snapshot.is_file() else []
        answered = dict(zip((r.request_id for r in asked), said, strict=False))
        found = [r for r in asked if r.item_id == item.item_id and (whole or r.request_id in wanted)]
        if found:
            hops.setdefault(path.parent.name, {})[path.stem] = [
                {"request_id": r.request_id, **_with_digest(r)}
                | ({"response": _with_digest(answered[r.request_id])} if r.request_id in answered else {})
                for r in found
            ]
    return {
        "item": _with_digest(item),
        "pictures": [_with_digest(image) for image in images if image.item_id == item.item_id],
        "gold": [_with_digest(g) for g in gold if g.item_id == item.item_id],
        "requests": [{"request_id": r.request_id, **_with_digest(r)} for r in requests],
        "responses": responses,
        "hops": hops,
        "grades": grades,
    }
