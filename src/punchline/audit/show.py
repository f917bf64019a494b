"""One record with everything that it was made from and that was made from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from punchline.artifacts.passes import CHAINED, DATA, HOPS
from punchline.artifacts.project import Project
from punchline.config.runs import made_with
from punchline.core.benchmark import load
from punchline.core.benchmark import names as benchmark_names
from punchline.core.storage import read_table
from punchline.errors import PunchlineError, nearest
from punchline.files import read_records
from punchline.paths import DEFAULT_RUN, Paths
from punchline.read.result import notes
from punchline.read.spans import Reads, located
from punchline.responses import Asked, Verdicts, read_verdicts
from punchline.schema import Gold, Item, Pictures, Record, Request, Response
from punchline.score import score
from punchline.scores import read_scores
from punchline.text import escape_controls, escape_controls_json


def _with_digest(record: Record) -> dict[str, Any]:
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not msgspec.UNSET} | {"digest": record.digest}


OPENS, CLOSES = "⟦", "⟧"  # around what was read
AROUND = 200  # characters before and behind it that are shown
_MARKED = re.compile(rf'^( *"marked": ".*)({OPENS}.*{CLOSES})', re.MULTILINE)


def as_text(found: dict[str, Any], *, colour: bool = False) -> str:
    """What `find` gives, as JSON for a terminal: what would steer it (ESC, U+009B, U+202E) is escaped, nothing lost.

    `colour`: what was read of an answer is in reverse video.
    """
    text = escape_controls_json(json.dumps(msgspec.to_builtins(found), indent=1, ensure_ascii=False))
    return _MARKED.sub("\\1\x1b[7m\\2\x1b[0m", text) if colour else text


def marked(text: str, start: int, end: int) -> str:
    """A span of a text between marks that the text itself cannot hold, with what stands around it."""
    around = (text[max(0, start - AROUND) : start], text[start:end], text[end : end + AROUND])
    before, span, after = (
        escape_controls(part.replace("\\", "\\\\")).replace(OPENS, "\\u27e6").replace(CLOSES, "\\u27e7")
        for part in around
    )
    cut = ("…" if start > AROUND else "", "…" if end + AROUND < len(text) else "")
    return f"{cut[0]}{before}{OPENS}{span}{CLOSES}{after}{cut[1]}"


def _read_of(text: str | None, reads: Reads) -> dict[str, Any]:
    """What punchline.read read of an answer and where; {} where nothing was."""
    found = next(located(text, reads), None) if text else None
    if text is None or found is None:
        return {}
    span = {"start": found.start, "end": found.end, "marked": marked(text, found.start, found.end)}
    return {"read": {"value": found.value, **span}}


def _reads(benchmark: str, item: Item, gold: Gold, asked: Iterable[Asked], verdicts: Verdicts) -> Reads:
    """What readers read of one model's answers on an item, and of what was said of them: it is graded again."""
    with notes() as found:
        list(score(load(benchmark), "", {item.item_id: item}, {item.item_id: gold}, asked, verdicts))
    return found


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
            if chosen[0].item_id not in items:  # a comparison of texts of no item: the paper prints them
                pairs = (pair for hop in HOPS for pair in _asked(where, benchmark, hop, DATA, name))
                return {"requests": [_pair(*pair, []) for pair in pairs]}
            item = items[chosen[0].item_id]
            return _about(where, benchmark, item, chosen, [r for r in requests if r.item_id == item.item_id])
    if not known:
        raise PunchlineError("nothing has been prepared yet", hint="Run snakemake first")
    raise PunchlineError(f"no item or request {name!r} in the current selection", hint=nearest(name, known))


def _hops(where: Paths, benchmark: str) -> list[Path]:
    """Requests of later passes, one file per pass and model."""
    return sorted(Path(where.requests(benchmark)).with_suffix("").glob("*/*.parquet"))


def _about(where: Paths, benchmark: str, item: Item, requests: list[Request], of_item: list[Request]) -> dict[str, Any]:
    """`requests`: what was asked for; `of_item`: all that models were asked about the item."""
    index = Path(where.index(benchmark))
    images = read_records(index, Pictures) if index.is_file() else []
    gold = [one for one in read_records(where.gold(benchmark), Gold) if one.item_id == item.item_id]
    wanted = {request.request_id: request.task for request in requests}
    whole = len(requests) > 1  # an item was asked for: all that its answers led to; else the one request
    found: dict[str, dict[str, Any]] = {"responses": {}, "hops": {}, "grades": {}}
    for snapshot in sorted(Path(where.snapshot(benchmark, "any")).parent.glob("*.parquet")):
        model = snapshot.stem
        said = {r.request_id: r for r in read_table(snapshot, Response)}
        own = [(request, said[request.request_id]) for request in of_item if request.request_id in said]
        hops = {hop: _asked(where, benchmark, hop, model, item.item_id) for hop in HOPS}
        verdicts = {k: v for hop in HOPS if hop != CHAINED for k, v in read_verdicts(hop, hops[hop]).items()}
        reads = _reads(benchmark, item, gold[0], [*own, *hops[CHAINED]], verdicts) if gold else []
        found["responses"][model] = [
            {"task": request.task, **_with_digest(answer), **_read_of(answer.text, reads)}
            for request, answer in own
            if request.request_id in wanted
        ]
        for hop, pairs in hops.items():
            if shown := [_pair(*pair, reads) for pair in pairs if whole or pair[0].request_id in wanted]:
                found["hops"].setdefault(hop, {})[model] = shown
        graded = Path(where.scores(benchmark, model))
        if graded.is_file():
            tasks = set(wanted.values())
            found["grades"][model] = [
                _with_digest(g) for g in read_scores(graded) if g.item_id == item.item_id and g.task in tasks
            ]
    for hop in HOPS:
        about = _asked(where, benchmark, hop, DATA, item.item_id)
        if shown := [_pair(*pair, []) for pair in about if whole or pair[0].request_id in wanted]:
            found["hops"].setdefault(hop, {})[DATA] = shown
    return {
        "item": _with_digest(item),
        "pictures": [_with_digest(image) for image in images if image.item_id == item.item_id],
        "gold": [_with_digest(g) for g in gold],
        "requests": [{"request_id": r.request_id, **_with_digest(r)} for r in requests],
        **found,
    }


def _pair(request: Request, answer: Response, reads: Reads) -> dict[str, Any]:
    """A request with its answer."""
    response = {**_with_digest(answer), **_read_of(answer.text, reads)}
    return {"request_id": request.request_id, **_with_digest(request), "response": response}


def _asked(where: Paths, benchmark: str, hop: str, model: str, name: str) -> list[Asked]:
    """What a hop asked about an item's answers, or of them, each with its answer. `name`: of the item, or how a
    request's id begins."""
    file, snapshot = where.hop_requests(benchmark, hop, model), where.hop_snapshot(benchmark, hop, model)
    if not Path(file).is_file() or not Path(snapshot).is_file():
        return []
    pairs = zip(read_table(file, Request), read_table(snapshot, Response), strict=False)
    return [(r, answer) for r, answer in pairs if r.item_id == name or r.request_id.startswith(name)]
