"""One record with everything that it was made from and that was made from it."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from punchline.artifacts.passes import CHAINED, DATA, PASSES
from punchline.artifacts.project import Project
from punchline.config.runs import selection_of
from punchline.core.benchmark import load
from punchline.core.benchmark import names as benchmark_names
from punchline.core.storage import read_table
from punchline.errors import PunchlineError, nearest
from punchline.files import Keyed, read_records
from punchline.paths import DEFAULT_RUN, Paths
from punchline.read.result import Reads, collect_readings, located
from punchline.responses import Exchange, read_verdicts
from punchline.schema import Gold, Item, Pictures, Record, Request, Response
from punchline.score import score
from punchline.scores import read_scores
from punchline.text import escape_controls_json


def _with_digest(record: Record) -> dict[str, Any]:
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not msgspec.UNSET} | {"digest": record.digest}


OPENS, CLOSES = "⟦", "⟧"  # around what was read
AROUND = 200  # characters before and behind it
_MARKED = re.compile(rf'^( *"marked": ".*)({OPENS}.*{CLOSES})', re.MULTILINE)


def as_text(record: dict[str, Any], *, colour: bool = False) -> str:
    """The result of `find` as JSON for a terminal: characters that steer it (ESC, U+009B, U+202E) are escaped.

    `colour`: parsed texts are in reverse video.
    """
    text = escape_controls_json(json.dumps(msgspec.to_builtins(record), indent=1, ensure_ascii=False))
    return _MARKED.sub("\\1\x1b[7m\\2\x1b[0m", text) if colour else text


def marked(text: str, start: int, end: int) -> str:
    """A span of a text between marks, with the characters around it; the text's own marks are replaced."""
    parts = (text[max(0, start - AROUND) : start], text[start:end], text[end : end + AROUND])
    before, span, after = (part.replace(OPENS, "[").replace(CLOSES, "]") for part in parts)
    return f"{before}{OPENS}{span}{CLOSES}{after}"


def _response(answer: Response, reads: Reads) -> dict[str, Any]:
    """An answer, with the value that a reader parsed in it and its place, if any."""
    text = answer.text or ""
    reading = next(located(text, reads), None)
    if reading is None:
        return _with_digest(answer)
    span = {"start": reading.start, "end": reading.end, "marked": marked(text, reading.start, reading.end)}
    return {**_with_digest(answer), "read": {"value": reading.value, **span}}


def find(name: str, run: str = DEFAULT_RUN) -> dict[str, Any]:
    """The item `name`, or the request whose id begins with it: image, item, gold, requests, responses, scores.

    Raises PunchlineError for an id that no benchmark of the current selection has.
    """
    known: list[str] = []
    where = Project(selection_of(run)).paths
    for benchmark in benchmark_names():
        if not all(Path(file).is_file() for file in (where.items(benchmark), where.requests(benchmark))):
            continue
        items = Keyed(where.items(benchmark), Item)
        requests = read_table(where.requests(benchmark), Request)
        known += items
        chosen = [r for r in requests if r.item_id == name]
        if not chosen and len(name) >= 6:
            later = sorted(Path(where.requests(benchmark)).with_suffix("").glob("*/*.parquet"))
            every = chain(requests, *(read_table(file, Request) for file in later))
            chosen = [r for r in every if r.request_id.startswith(name)]
        if chosen:
            if (item := items.get(chosen[0].item_id)) is None:  # texts of no item, which the paper prints
                pairs = (pair for pass_ in PASSES for pair in _exchanges(where, benchmark, pass_, DATA, name))
                return {"requests": [_pair(*pair, []) for pair in pairs]}
            return _about(where, benchmark, item, chosen)
    raise PunchlineError(f"no item or request {name!r} in the current selection", hint=nearest(name, known))


def _about(where: Paths, benchmark: str, item: Item, chosen: list[Request]) -> dict[str, Any]:
    """Records about an item, with what models answered to the requests `chosen`."""
    name, index = item.item_id, Path(where.index(benchmark))
    pictures = [one for one in (read_records(index, Pictures) if index.is_file() else ()) if one.item_id == name]
    gold = [one for one in read_records(where.gold(benchmark), Gold) if one.item_id == name]
    wanted = {request.request_id: request.task for request in chosen}
    whole = len(chosen) > 1  # an item is wanted: all that its answers led to; else the one request
    responses, passes, scores = dict[str, Any](), dict[str, dict[str, Any]](), dict[str, Any]()
    files = sorted(Path(where.responses(benchmark, "any")).parent.glob("*.parquet"))
    for model in (*(path.stem for path in files), DATA):
        later = {pass_: _exchanges(where, benchmark, pass_, model, name) for pass_ in PASSES}
        reads: list[Any] = []
        if model != DATA:
            given = _exchanges(where, benchmark, "", model, name)
            judging = (read_verdicts(pass_, later[pass_]) for pass_ in PASSES if pass_ != CHAINED)
            verdicts = dict(chain.from_iterable(of.items() for of in judging))
            golds = {one.item_id: one for one in gold}
            with collect_readings() as reads:  # spans that readers parse: it is scored again
                list(score(load(benchmark), "", {name: item}, golds, given + later[CHAINED] if gold else [], verdicts))
            of_wanted = [(request, answer) for request, answer in given if request.request_id in wanted]
            responses[model] = [{"task": request.task, **_response(answer, reads)} for request, answer in of_wanted]
        for pass_, pairs in later.items():
            if rows := [_pair(*pair, reads) for pair in pairs if whole or pair[0].request_id in wanted]:
                passes.setdefault(pass_, {})[model] = rows
        if (file := Path(where.scores(benchmark, model))).is_file():
            of_tasks = (one for one in read_scores(file) if one.item_id == name and one.task in wanted.values())
            scores[model] = [*map(_with_digest, of_tasks)]
    about = {"item": _with_digest(item), "pictures": [*map(_with_digest, pictures)], "gold": [*map(_with_digest, gold)]}
    requests = [{"request_id": r.request_id, **_with_digest(r)} for r in chosen]
    return about | {"requests": requests, "responses": responses, "hops": passes, "grades": scores}


def _pair(request: Request, answer: Response, reads: Reads) -> dict[str, Any]:
    """A request with its answer."""
    return {"request_id": request.request_id, **_with_digest(request), "response": _response(answer, reads)}


def _exchanges(where: Paths, benchmark: str, pass_: str, model: str, name: str) -> list[Exchange]:
    """Requests of a pass about an item's answers, or to the model, each with its answer. `name`: of the item, or how a
    request's id begins."""
    requests = where.requests(benchmark, *((model, pass_) if pass_ else ()))
    responses = where.responses(benchmark, model, pass_)
    if not Path(requests).is_file() or not Path(responses).is_file():
        return []
    answers = {answer.request_id: answer for answer in read_table(responses, Response)}
    pairs = ((r, answers.get(r.request_id)) for r in read_table(requests, Request))
    return [(r, answer) for r, answer in pairs if answer and (r.item_id == name or r.request_id.startswith(name))]
