"""Items for pages: pictures, labels, gold, what models were asked, and where the bytes come from."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from punchline.artifacts.run import Run
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import DEFAULT
from punchline.core.storage import Stored
from punchline.files import Keyed
from punchline.report.pictures import Right, file_of, items_with_rights
from punchline.report.public import leave_out_private
from punchline.report.shards import CHUNK, write_parts
from punchline.schema import FetchEntry, Gold, Image, Item, Pictures, Request

FACET = 30  # an item's property is a facet of the wall with up to so many values, of up to so many letters each
PICTURE = "[picture]"  # where one stands in a prompt


def pick_fields(record: object, *names: str) -> dict[str, Any]:
    """{name: value} of some attributes of a record."""
    return {name: getattr(record, name) for name in names}


def prompt(request: Request) -> str:
    """The messages of a request as text."""
    texts = []
    for message in request.messages:
        parts = [PICTURE if isinstance(part, Image) else part.text for part in message.content]
        texts.append((f"{message.role}: " if len(request.messages) > 1 else "") + "\n".join(parts))
    return "\n\n".join(texts)


def filters_of(row: Mapping[str, Any]) -> dict[str, list[str]]:
    """Filters of a wall: short properties of an item and of its gold."""
    filters: dict[str, list[str]] = {"source": [row["source"]]}
    for name, value in {**row["fields"], **row["gold"]}.items():
        values = value if isinstance(value, list) else [value]
        if values and all(isinstance(one, (str, int)) for one in values):
            filters[name] = [str(one) for one in values]
    return filters


def boxes(item: Item, drawn: Pictures | None) -> list[Any]:
    """The panels of each picture, [left, top, right, bottom, label] in shares of it."""
    shares = []
    for image, derivation in zip(item.images, drawn.derivations if drawn else (), strict=False):
        scale = float(derivation.get("scale", 1) or 1)
        size = (image.width / scale, image.height / scale) * 2
        panels = derivation.get("boxes", ())
        shares.append([[*(round(a / b, 4) for a, b in zip(box, size, strict=False)), *box[4:5]] for box in panels])
    return shares


def _row(item: Item, gold: Gold, right: Right, drawn: Pictures | None, came: FetchEntry | None) -> dict[str, Any]:
    images = [{"file": file_of(image)} | pick_fields(image, "width", "height", "name") for image in item.images]
    about: dict[str, Any] = {"images": images, "boxes": boxes(item, drawn), "gold": gold.values, "rights": right}
    about["came"] = None if came is None else [came.url, came.sha256, came.state, came.reason]
    about["pictures"] = [image.sha256 for image in item.images]
    return pick_fields(item, "source", "cluster", "fields", "missing") | about


def _prompts(file: str) -> tuple[Mapping[str, list[Any]], dict[str, str]]:
    """(what models were asked, by item; the tasks, by question as task@condition) of a file of requests."""
    prompts = defaultdict[str, list[Any]](list)
    questions: dict[str, str] = {}
    for request in Stored(file, Request):
        place = (request.request_id, request.task, request.condition, request.sample)
        prompts[request.item_id].append([*place, prompt(request)])
        questions.setdefault(f"{request.task}@{request.condition}", request.task)
    return prompts, questions


def build_parts(run: Run, benchmark: str) -> dict[str, Any]:
    """Files for pages: chunks of CHUNK items, and the index of all items."""
    where, module = run.paths, benchmarks.optional_module(benchmark, "shown")
    golds = Keyed(where.gold(benchmark), Gold)
    illustrated = run.illustrated(benchmark)
    drawn = Keyed(where.index(benchmark), Pictures) if illustrated else {}
    fetched = Keyed(where.fetch_log(benchmark), FetchEntry) if illustrated else {}
    prompts, questions = _prompts(where.requests(benchmark))
    names, golds_of, sequence = (getattr(module, name, {}) for name in ("NAMES", "GOLD", "SEQUENCE"))
    blurred = getattr(module, "BLURRED", {}).items()

    def gold_of(task: str) -> str:
        return str(golds_of.get(task, re.sub(r"_\d$", "", task)))

    items: dict[str, Any] = {}
    for item, right in items_with_rights(run, benchmark):
        name = item.item_id
        items[name] = _row(item, golds[name], right, drawn.get(name), fetched.get(name)) | {"asked": prompts[name]}
    ids, rows = list(items), list(items.values())
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(row["cluster"] for row in rows))}
    index = {
        "ids": ids,
        "titles": [str(row["fields"].get("caption") or row["fields"].get("title") or "") for row in rows],
        "texts": ["\n".join(_texts([name, row["fields"], row["gold"]])) for name, row in items.items()],  # for a search
        "clusters": [] if len(numbers) == len(ids) else [numbers[row["cluster"]] for row in rows],
        "questions": [[key, question_name(key, names), gold_of(task)] for key, task in questions.items()],
        "thumbs": [[row["images"][0]["file"], row["rights"][0]] if row["images"] else None for row in rows],
        "facets": {name: of for name, of in columns([*map(filters_of, rows)]).items() if name != sequence},
        "names": names,
        "why": getattr(module, "WHY", {}),
        "sequence": sequence or None,
        "blurred": [at for at, row in enumerate(rows) if blurred & row["gold"].items()],  # harmful ones
        "chunk": CHUNK,
    }
    chunks = (dict(itertools.islice(items.items(), at, at + CHUNK)) for at in range(0, len(ids), CHUNK))
    return {str(number): chunk for number, chunk in enumerate(chunks)} | {"index": index}


def question_name(key: str, names: Mapping[str, str]) -> str:
    """The name of a question (task@condition) for readers."""
    task, _, condition = key.partition("@")
    name = names.get(task, task.replace("_", " "))
    return name if condition == DEFAULT else f"{name} ({condition.replace('_', ' ')})"


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value of a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def columns(rows: list[dict[str, list[str]]]) -> dict[str, list[list[str]]]:
    """Facets that tell items apart without telling each from every other: by name, a list of values an item."""
    facets: dict[str, list[list[str]]] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(rows)):
        values = [row.get(name, []) for row in rows]
        counts = Counter(itertools.chain.from_iterable(values))
        if max(map(len, counts), default=0) <= FACET and 1 < len(counts) <= FACET and max(counts.values()) > 1:
            facets[name] = values
    return facets


def write_items(run: Run, benchmark: str) -> None:
    """Write a benchmark's items for pages."""
    pages = build_parts(run, benchmark)
    leave_out_private(run, benchmark, pages)
    write_parts(run.paths.report_items(benchmark), f"items/{benchmark}", pages)
