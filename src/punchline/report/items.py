"""Items for pages: pictures, labels, gold, what models were asked, and where the bytes come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from punchline.core import benchmark as benchmarks
from punchline.core.storage import Stored
from punchline.files import Keyed, records_in
from punchline.project.needs import Project
from punchline.report.pictures import Right, file_of, right_of_item, rights
from punchline.report.shards import CHUNK, write_parts
from punchline.schema import FetchEntry, Gold, Image, Item, Pictures, Request
from punchline.stages.job import make

FACET = 30  # an item's property is a facet of the wall with up to so many values, of up to so many letters each
PICTURE = "[picture]"  # where one stands in a prompt


def prompt(request: Request) -> str:
    """What a model was asked, as text."""
    said = []
    for message in request.messages:
        parts = [PICTURE if isinstance(part, Image) else part.text for part in message.content]
        said.append((f"{message.role}: " if len(request.messages) > 1 else "") + "\n".join(parts))
    return "\n\n".join(said)


def facets(item: Item, gold: Gold) -> dict[str, list[str]]:
    """What a wall may filter by: short properties of an item and of its gold."""
    found: dict[str, list[str]] = {"source": [item.source]}
    for name, value in {**item.fields, **gold.values}.items():
        values = value if isinstance(value, list) else [value]
        texts = [str(one) for one in values if isinstance(one, (str, int, bool))]
        if texts and len(texts) == len(values):
            found[name] = texts
    return found


def boxes(item: Item, drawn: Pictures | None) -> list[Any]:
    """The panels of each picture, [left, top, right, bottom, label] in shares of it."""
    made = []
    for image, derivation in zip(item.images, drawn.derivations if drawn else (), strict=False):
        scale = float(derivation.get("scale", 1) or 1)
        size = (image.width / scale, image.height / scale) * 2
        found = derivation.get("boxes", ())
        made.append([[*(round(a / b, 4) for a, b in zip(box, size, strict=False)), *box[4:5]] for box in found])
    return made


def _of(item: Item, gold: Gold, right: Right, drawn: Pictures | None, came: FetchEntry | None) -> dict[str, Any]:
    return {
        "source": item.source,
        "cluster": item.cluster,
        "fields": item.fields,
        "missing": item.missing,
        "images": [{"file": file_of(i), "width": i.width, "height": i.height, "name": i.name} for i in item.images],
        "boxes": boxes(item, drawn),
        "gold": gold.values,
        "rights": [right.mode, right.licence, right.credit, right.url],
        "came": None if came is None else [came.url, came.sha256, came.state, came.reason],
        "pictures": [image.sha256 for image in item.images],
    }


def parts(project: Project, benchmark: str) -> Iterator[tuple[str, Any]]:
    """Files for pages: a chunk of items each, and the index of all."""
    where, module = project.paths, benchmarks.shown(benchmark)
    golds = Keyed(where.gold(benchmark), Gold)
    illustrated = project.illustrated(benchmark)
    drawn = Keyed(where.index(benchmark), Pictures) if illustrated else {}
    ledger = Keyed(where.ledger(benchmark), FetchEntry) if illustrated else {}
    known = rights(project, benchmark)
    asked = groupby(Stored(where.requests(benchmark), Request), key=lambda request: request.item_id)
    sequence = getattr(module, "SEQUENCE", None)
    chunk: dict[str, Any] = {}
    wall: dict[str, list[Any]] = {"ids": [], "facets": [], "thumbs": []}
    number = 0
    upcoming = next(asked, None)
    for item in records_in(where.items(benchmark), Item):
        gold = golds[item.item_id]
        right = right_of_item(project, known, item)
        made = _of(item, gold, right, drawn.get(item.item_id), ledger.get(item.item_id))
        made["asked"] = []
        if upcoming is not None and upcoming[0] == item.item_id:
            for request in upcoming[1]:
                place = (request.request_id, request.task, request.condition, request.sample)
                made["asked"].append([*place, prompt(request)])
            upcoming = next(asked, None)
        chunk[item.item_id] = made
        wall["ids"].append(item.item_id)
        wall["facets"].append(facets(item, gold))
        wall["thumbs"].append([made["images"][0]["file"], made["rights"][0]] if made["images"] else None)
        if len(chunk) == CHUNK:
            yield str(number), chunk
            chunk, number = {}, number + 1
    if chunk:
        yield str(number), chunk
    yield (
        "index",
        {
            "ids": wall["ids"],
            "thumbs": wall["thumbs"],
            "facets": {name: of for name, of in columns(wall["facets"]).items() if name != sequence},
            "names": getattr(module, "NAMES", {}),
            "sequence": sequence,
            "blurred": getattr(module, "BLURRED", {}),
            "chunk": CHUNK,
        },
    )


def columns(rows: list[dict[str, list[str]]]) -> dict[str, list[list[str]]]:
    """Facets that tell items apart without telling each from every other: by name, a list of values an item."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for name, values in row.items():
            counts.setdefault(name, Counter()).update(values)
    short = {name: values for name, values in counts.items() if all(len(text) <= FACET for text in values)}
    kept = [name for name, values in short.items() if 1 < len(values) <= FACET and max(values.values()) > 1]
    return {name: [row.get(name, []) for row in rows] for name in kept}


def write_items(project: Project, benchmark: str) -> None:
    """A benchmark's items, for pages."""
    step = project.report_items(benchmark)
    make(step, lambda: write_parts(step.outputs[0], f"items/{benchmark}", dict(parts(project, benchmark))))
