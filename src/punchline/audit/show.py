"""One record in full, with everything up- and downstream of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError, nearest
from punchline.core.outside import json_shown
from punchline.core.records import Gold, Grade, Item, Pictures, Record, Request, Response
from punchline.core.storage import read_records, read_table
from punchline.project.needs import Project
from punchline.project.paths import DEFAULT_RUN, Paths
from punchline.project.runs import made_with


def _with_digest(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__} | {"digest": record.digest}


def as_text(found: dict[str, Any]) -> str:
    """What `find` gives, as JSON for a terminal: what would steer it (ESC, U+009B, U+202E) is escaped, nothing lost."""
    return json_shown(json.dumps(msgspec.to_builtins(found), indent=1, ensure_ascii=False))


def find(name: str, run: str = DEFAULT_RUN) -> dict[str, Any]:
    """The item `name`, or the request whose id begins with it: image, item, gold, requests, responses, grades.

    Raises PunchlineError for an id that no benchmark of the current selection has.
    """
    known: list[str] = []
    where = Project(made_with(run)).paths
    for benchmark in benchmark_names():
        items_file = Path(where.items(benchmark))
        requests_file = Path(where.requests(benchmark))
        if not items_file.is_file() or not requests_file.is_file():
            continue
        items = {item.item_id: item for item in read_records(items_file, Item)}
        requests = read_table(requests_file, Request)
        known += items
        chosen = [r for r in requests if r.item_id == name]
        if not chosen and len(name) >= 6:
            hops = (request for hop in _hops(where, benchmark) for request in read_table(hop, Request))
            chosen = [r for r in (*requests, *hops) if r.request_id.startswith(name)]
        if chosen:
            return _about(where, benchmark, items[chosen[0].item_id], chosen)
    if not known:
        raise PunchlineError("nothing has been prepared yet", way_out="Run snakemake first")
    raise PunchlineError(f"no item or request {name!r} in the current selection", way_out=nearest(name, known))


def _hops(where: Paths, benchmark: str) -> list[Path]:
    """Requests that hang on models' answers, a file a hop and model."""
    return sorted(Path(where.requests(benchmark)).with_suffix("").glob("*/*.parquet"))


def _about(where: Paths, benchmark: str, item: Item, requests: list[Request]) -> dict[str, Any]:
    index = Path(where.index(benchmark))
    images = read_records(index, Pictures) if index.is_file() else []
    gold = read_records(where.gold(benchmark), Gold)
    wanted = {request.request_id: request.task for request in requests}
    tasks = set(wanted.values())
    responses: dict[str, list[Any]] = {}
    grades: dict[str, list[Any]] = {}
    for snapshot in sorted(Path(where.snapshot(benchmark, "any")).parent.glob("*.parquet")):
        model = snapshot.stem
        responses[model] = [
            {"task": wanted[r.request_id], **_with_digest(r)}
            for r in read_table(snapshot, Response)
            if r.request_id in wanted
        ]
        graded = Path(where.grades(benchmark, model))
        if graded.is_file():
            grades[model] = [
                _with_digest(g) for g in read_table(graded, Grade) if g.item_id == item.item_id and g.task in tasks
            ]
    whole = len(requests) > 1  # an item was asked for: all that its answers led to; else the one request
    hops: dict[str, dict[str, Any]] = {}
    for path in _hops(where, benchmark):
        asked = read_table(path, Request)
        snapshot = Path(where.hop_snapshot(benchmark, path.parent.name, path.stem))
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
