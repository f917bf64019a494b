"""Pins that need no run: request ids, model keys, journals, readings, earlier files; of the real data digests only."""

import csv
import hashlib
import io
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import msgspec
import yaml
from tests.asked import answers_in
from tests.records import request
from tests.test_read_phrasings import FOLDER as PHRASINGS
from tests.test_read_phrasings import Phrasing

from punchline import paths
from punchline.artifacts.contents import printed
from punchline.config.adapters import trained
from punchline.config.cards import read_card
from punchline.config.runs import selection_of
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.engines.openai.batch import State
from punchline.errors import PunchlineError
from punchline.fetch.log import read_log
from punchline.fetch.manifests import Lock, read_manifest
from punchline.journal import LINE_BYTES, Journal
from punchline.rating.votes import Votes
from punchline.respond import _storable
from punchline.schema import Gold, Image, ImageRef, Item, Request, Response, Sampling, Usage, canonical, sha256

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ROOT / "tests/golden/samples"
ENGINES = ("openai", "vllm", "transformers", "similarity")
Pins = dict[str, list[str]]  # lines of every file of a part

# Pictures of every name that a prompt shows: what is asked is pinned without an image.
NAMES = ("", "page", *(f"frame{number}" for number in range(1, 9)), "masked", "row_shuffled", "row_masked")
PICTURES = tuple(
    ImageRef(path=f"{name}.png", sha256=sha256(name.encode()), width=9_999, height=9_999, name=name) for name in NAMES
)


def line(record: Any) -> str:
    """Sorted JSON on one line."""
    return canonical(record).decode()


def table(rows: Iterable[Iterable[object]]) -> list[str]:
    """Lines of a CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().split("\n")[:-1]


def digest(values: Iterable[str]) -> str:
    """16 hexadecimal digits of the sha256 of some texts, in their order."""
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:16]


def prepared(name: str, files: dict[str, bytes]) -> Iterator[tuple[Item, Gold, list[Request]]]:
    """Every item with its gold and the requests of the main pass, with PICTURES in place of its images."""
    benchmark = benchmarks.load(name)
    golds = {gold.item_id: gold for gold in benchmark.golds(files)}
    for item in benchmark.items(files, dict.fromkeys((row[0] for row in benchmark.listing(files)), PICTURES)):
        yield item, golds[item.item_id], list(benchmark.requests(item))


WITH_DEMO = [name for name in benchmarks.names() if (ROOT / "data/demo" / name).is_dir()]


def demo_requests() -> Pins:
    """Id of every request of the main pass about the demo corpus, in all conditions but the follow-up ones."""
    pins: Pins = {}
    for name in WITH_DEMO:
        benchmark = benchmarks.load(name)
        files = {*benchmark.ITEM_FILES, *benchmark.GOLD_FILES}
        result = prepared(name, {file: Path("data/demo", name, file).read_bytes() for file in files})
        asked = (request for _, _, requests in result for request in requests)
        rows = [(one.item_id, one.task, one.condition, one.sample, one.request_id[:16]) for one in asked]
        pins[f"{name}.csv"] = table([("item", "task", "condition", "sample", "request"), *rows])
    return pins


def _stand_in(card: Any) -> None:
    """A manifest in place of a built model's or an adapter's files, with digests made of its name."""
    for place in (str(card.options.get("id")), f"data/adapters/{card.options.get('adapter')}"):
        if place.startswith("data/") and not place.endswith("/None"):
            Path(place).mkdir(parents=True, exist_ok=True)
            manifest = msgspec.json.decode((FILES / "adapter.json").read_bytes())
            manifest["files"] = {"weights": sha256(place.encode())}
            (Path(place) / "punchline.json").write_bytes(msgspec.json.encode(manifest))


def model_keys() -> Pins:
    """Key of every card by benchmark. Revisions that a card does not fix are locked to the sha1 of the model's id."""
    rows: list[tuple[object, ...]] = [("folder", "card", "benchmark", "key")]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("config").symlink_to(ROOT / "config")
        listed = [path for part in ("model", "judge") for path in sorted(Path("config", part).glob("*.yaml"))]
        read = (read_card(path.stem, path.parent.as_posix()) for path in listed)
        cards = [card for card in read if card.engine in ENGINES]
        ids = sorted({str(card.options["id"]) for card in cards})
        Path(paths.MODELS_LOCK).parent.mkdir(parents=True)
        locked = [f"{one},{hashlib.sha1(one.encode()).hexdigest()}" for one in ids]
        Path(paths.MODELS_LOCK).write_text("\n".join(["id,revision", *locked]) + "\n")
        for card in cards:
            _stand_in(card)
            engine = engines.load(card, seed=0)
            keys = {name: engines.model_key(engine, card, name) for name in benchmarks.names()}
            same = len(set(keys.values())) == 1
            for name, key in [("all", keys["hummus"])] if same else keys.items():
                rows.append((card.folder, card.name, name, key))
    return {"keys.csv": table(rows)}


def _responses() -> dict[str, Response]:
    """One response of every kind that a journal may hold."""
    fields: dict[str, Any] = {"model_key": "k" * 64, "engine": "openai", "engine_version": "1"}

    def one(name: str, state: Any, **more: Any) -> Response:
        return Response(request_id=sha256(name.encode()), state=state, **fields, **more)

    usage = Usage(prompt=10, completion=5, reasoning=2, cached=1)
    effective = {"temperature": 0.0, "max_tokens": 16, "seed": None}
    return {
        "ok": one("ok", "ok", text="Yes", finish_reason="stop", usage=usage, latency_s=0.25, effective=effective),
        "empty": one("empty", "ok", text=""),
        "missing": one("missing", "missing", reason="not attempted"),
        "failed": one("failed", "failed", reason="HTTP 500: overloaded"),
        "refused": one("refused", "refused", text="I can't.", finish_reason="content_filter", provider_id="c-1"),
        "reasoning": one("reasoning", "ok", text="B", reasoning="A or B?"),
        "truncated": one("truncated", "ok", text="Because the", finish_reason="length"),
        "surrogate": _storable(one("surrogate", "ok", text="half \ud83d", reasoning="\udc00")),
        "unicode": one("unicode", "ok", text='😀 \x7f \u2028 "\\/\n\t\x00 é'),
    }


def _read(path: Path) -> str:
    """The responses that count in a journal, or the line that is damaged."""
    try:
        return " ".join(sorted(request_id[:8] for request_id, _ in answers_in(path))) or "empty"
    except PunchlineError as error:
        return "error in line " + re.findall(r"line (\d+)", str(error))[0]


def journal_lines() -> Pins:
    """A line of each state, and which responses count in a journal that is whole or damaged."""
    responses = _responses()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        journal = Journal(path)
        for response in responses.values():
            journal.append(response)
        journal.append(msgspec.structs.replace(responses["ok"], text="x" * LINE_BYTES, request_id="0" * 64))
        journal.close()
        content = path.read_bytes()
        lines = content.splitlines(keepends=True)
        other = lines[3].replace(b'"failed"', b'"refused"')
        damages = {
            "whole": content,
            "no file": None,
            "empty": b"",
            "torn at the end": content[:-9],
            "without the last line break": content[:-1],
            "flipped text": content.replace(b'"text":"Yes"', b'"text":"Yet"'),
            "flipped digest": content.replace(b'"sha256":"', b'"sha256":"f', 1),
            "state changed": b"".join([*lines[:3], other, *lines[4:]]),
            "line lost": b"".join(lines[1:]),
            "line doubled": lines[0] + content,
            "order changed": b"".join(reversed(lines)),
            "blank line": lines[0] + b"\n" + b"".join(lines[1:]),
            "two lines joined": lines[0].rstrip() + b"".join(lines[1:]),
            "not JSON": lines[0] + b"{\n" + b"".join(lines[1:]),
            "not UTF-8": lines[0] + b'"\xff"\n',
            "spaces": lines[0].replace(b'","', b'", "') + lines[1],
            "overlong line": lines[0] + b"x" * (LINE_BYTES + 1) + b"\n" + lines[1],
        }
        read = []
        for name, damaged in damages.items():
            path.unlink(missing_ok=True)
            if damaged is not None:
                path.write_bytes(damaged)
            read.append((name, _read(path)))
    return {"lines.jsonl": content.decode().splitlines(), "reading.csv": table([("journal", "read"), *read])}


def records() -> Pins:
    """Canonical bytes and digest of one record of each kind."""
    image = ImageRef(path="a/b.png", sha256="0" * 64, width=2, height=1, name="page")
    item = Item(benchmark="b", item_id="i", source="s", cluster="c", fields={"x": 1, "y": None, "é": 0.1})
    about = {"benchmark": "b", "item_id": "i", "task": "t", "condition": "default"}
    result: list[Any] = [
        item,
        msgspec.structs.replace(item, images=(image,), missing="HTTP 404"),
        Gold(benchmark="b", item_id="i", values={"labels": ["A", "B"], "n": 1, "share": 0.5, "none": None}),
        request("Why?", Image(sha256=None), Image(sha256="1" * 64), temperature=0, max_tokens=8),
        Request(**about, messages=(), sampling=Sampling(temperature=0.7, max_tokens=8, seed=1), sample=2),
        *_responses().values(),
    ]
    return {"records.jsonl": [f'{{"digest":"{one.digest}","{type(one).__name__}":{line(one)}}}' for one in result]}


def phrasings() -> Pins:
    """Value and span that are read out of every phrasing."""
    pins: Pins = {}
    for path in sorted(PHRASINGS.glob("*.yaml")):
        rows: list[tuple[object, ...]] = [("document", "reader", "family", "place", "start", "end", "value")]
        for number, document in enumerate(yaml.safe_load_all(path.read_text(encoding="utf-8")), 1):
            for family, pairs in document["phrasings"].items():
                for place, (_, answer) in enumerate(pairs, 1):
                    result = Phrasing(document, document["reader"], family, None, answer).read(answer)
                    value = result.value if isinstance(result.value, str) else line(result.value)
                    rows.append((number, document["reader"], family, place, result.start, result.end, value))
        pins[f"{path.stem}.csv"] = table(rows)
    return pins


def older_files() -> Pins:
    """Content that is read out of samples/: what earlier versions wrote and later ones must read."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, place in (("adapter.json", "data/adapters/old/punchline.json"), ("run.json", "results/run.json")):
            Path(place).parent.mkdir(parents=True)
            Path(place).write_bytes((FILES / name).read_bytes())
        study = Path("old.sqlite")
        study.write_bytes((FILES / "study.sqlite").read_bytes())
        votes = Votes(study)
        given = votes.given().values()
        read = {
            "batches": msgspec.json.decode((FILES / "batches.json").read_bytes(), type=State).batches,
            "adapter": trained("old"),
            "run": selection_of("default"),
            "locks": read_manifest(FILES / "images.lock.csv", Lock),
            "fetch log": list(read_log(FILES / "fetch.jsonl").values()),
            "raters": votes.raters(),
            "units of raters": {rater: votes.seats(rater) for rater in votes.raters()},
            "ratings": [one._asdict() for one in given],
            "sheet": votes.sheet,
            "sheet version": votes.version,
        }
    return {"files.json": msgspec.json.format(canonical(read), indent=1).decode().splitlines()}


def _listed(file: str) -> list[dict[str, str]]:
    with (ROOT / file).open(newline="") as stream:
        return list(csv.DictReader(stream))


def released_files(name: str, mirror: Path) -> dict[str, bytes]:
    """Content of the released files that a benchmark's items and gold are made of, from the mirror."""
    benchmark = benchmarks.load(name)
    rows = {row["path"]: row for row in _listed(paths.manifest(name))}
    wanted = {*benchmark.ITEM_FILES, *benchmark.GOLD_FILES}
    places = {file: mirror / row["mirror"] if "://" in row["url"] else ROOT / row["url"] for file, row in rows.items()}
    return {file: places[file].read_bytes() for file in sorted(wanted)}


def items(mirror: Path) -> Pins:
    """Every item: digests of it, of its gold and of the ids of its requests, which are counted."""
    pins: Pins = {}
    for name in WITH_DEMO:
        rows: list[tuple[object, ...]] = [("item_id", "source", "cluster", "item", "gold", "requests", "digest")]
        for item, gold, requests in prepared(name, released_files(name, mirror)):
            ids = sorted(request.request_id for request in requests)
            own = (digest([item.cluster]), item.digest[:16], gold.digest[:16], len(ids), digest(ids))
            rows.append((item.item_id, item.source, *own))
        pins[f"{name}.csv"] = table(rows)
    return pins


def comparisons(mirror: Path) -> Pins:
    """Ids of what scorers are asked about texts of the released files and of printed tables."""
    pins: Pins = {}
    for name in WITH_DEMO:
        benchmark = benchmarks.load(name)
        if benchmark.COMPARED:
            tables = [table for of_pass in benchmark.COMPARED.values() for table in of_pass]
            with chdir(ROOT):
                rows = [dict(row) for one in tables for row in printed(paths.published(name), one)]
            result = benchmark.data_requests(released_files(name, mirror), rows)
            matches = sorted((request.item_id, request.task, request.request_id[:16]) for request in result)
            pins[f"{name}.csv"] = table([("about", "pass", "request"), *matches])
    return pins


def pictures(mirror: Path) -> Pins:
    """Sha256 of every picture that is made of an image of the mirror."""
    pins: Pins = {}
    for name in ("pixelhumor", "stripcipher"):
        make, files = benchmarks.illustrated(benchmarks.load(name)).pictures, released_files(name, mirror)
        rows: list[tuple[object, ...]] = [("item_id", "picture", "width", "height", "sha256")]
        for row in _listed(paths.manifest(name, "images_pinned.csv")):
            image = mirror / row["mirror"]
            made = make(row["comic_id"], image.read_bytes(), files) if image.is_file() else ()
            rows += ((row["comic_id"], one.name, one.width, one.height, sha256(one.content)) for one in made)
        pins[f"{name}.csv"] = table(rows)
    return pins


PARTS: dict[str, Callable[[], Pins]] = {
    "requests": demo_requests,
    "keys": model_keys,
    "journal": journal_lines,
    "records": records,
    "phrasings": phrasings,
    "files": older_files,
}
UPSTREAM_PARTS: dict[str, Callable[[Path], Pins]] = {
    "upstream/items": items,
    "upstream/comparisons": comparisons,
    "upstream/pictures": pictures,
}
