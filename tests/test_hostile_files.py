"""Values in users' files that no reader may spend time or memory on: each is read, or is one short message."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.artifacts.lineage import read_lineage
from punchline.benchmarks.questions import read_questions
from punchline.benchmarks.stripcipher.strips import read_strips
from punchline.cli.new_benchmark import read_rows
from punchline.config.adapters import trained
from punchline.config.revisions import folder_revision
from punchline.config.selection import read_chosen, read_subset
from punchline.core import benchmark as benchmarks
from punchline.errors import LONGEST, PunchlineError
from punchline.fetch import manifests
from punchline.fetch.log import read_log
from punchline.files import read_records
from punchline.schema import FetchEntry, Item
from punchline.tables.ratings import read_ratings
from punchline.tables.render import read_published
from punchline.workflow.provenance import read_provenance

DEMO = Path(__file__).resolve().parent.parent / "data/demo"
NUMBERS = ["9" * 5000, "-" + "9" * 5000, "1e999", "-1e999", "1e-999", "-0", "NaN", "Infinity", "-1", "2e63", str(2**64)]
JSON = [
    *NUMBERS,
    "[" * 100_000,
    '{"a":' * 100_000,
    "[" * 900 + "]" * 900,
    '"\\ud800"',
    '"\\u0000"',
    f'"{"x" * 99_999}"',
]
LITERALS = ["[" * 100_000, "(" * 100_000, "-" * 100_000 + "1", "not " * 30_000 + "1", "1+" * 5000 + "1", "'\\ud800'"]
CELLS = [*NUMBERS, *LITERALS, "nan", "inf", "\0", "x" * 140_000, "", "１２", "[1] * 10**9", "{[]: 1}", "'''"]


def of_demo(benchmark: str, name: str, content: bytes) -> None:
    """Read a benchmark's demo files with other content of one of them."""
    files = {path.name: path.read_bytes() for path in (DEMO / benchmark).glob("*.*")} | {name: content}
    loaded = benchmarks.load(benchmark)
    loaded.items(files, {item[0]: "none" for item in loaded.listing(files)})
    list(loaded.golds(files))


def of_replay(name: str, content: bytes) -> None:
    benchmarks.optional_module("pixelhumor", "replay").read({name: content}, name, None)


def at(file: str, read: Callable[[str], object]) -> Callable[[bytes], None]:
    """`read` of a file with a content."""

    def write_and_read(content: bytes) -> None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(content)
        read(file)

    return write_and_read


def manifest(kind: type[manifests.Lock | manifests.Pin | manifests.Annotation]) -> Callable[[bytes], None]:
    return at("manifest.csv", lambda file: manifests.read_manifest(Path(file), kind))


# A file with `@` where the value goes, and its reader.
PART = '"parts":{"all":{"examples":{"a":1},"steps":@,"parameters":1,"modules":1,"losses":[1.0]}}'
TRAINED = f'{{"name":"x","files":{{"a":"b"}},{PART},"base":{{"card":"a","id":"b","revision":"c"}},"recipe":{{"a":@}}}}'
PICTURE = '{"a_1": {"image_attributes": {"height": @, "width": @}, "bboxes": [{"top": @, "left": 1}]}}'
JSON_FILES: dict[str, tuple[str, Callable[[bytes], object]]] = {
    "demo": (PICTURE, lambda content: of_demo("hummus", "hummus_dataset.json", content)),
    "answers": ('{"a_1": {"Q1": @}}', lambda content: of_replay("a.json", content)),
    "strips": ('[{"id": "a", "panels": ["1", @], "text": @}]', read_strips),
    "log": (
        '{"item_id": "a", "source": "b", "state": "ok", "bytes": @}\n',
        at("log", lambda file: read_log(Path(file))),
    ),
    "adapter": (TRAINED, at("data/adapters/x/punchline.json", lambda _: trained("x"))),
    "weights": ('{"files": {"a": @}}', at("m/punchline.json", lambda _: folder_revision("m"))),
    "lineage": ('{"cells": @}', at("a.lineage.json", read_lineage)),
    "provenance": ('{"parameters": @}', at("a.made.json", read_provenance)),
    "run": ('{"overrides": {"limit": @}, "selection": {}}', at("results/run.json", lambda _: read_chosen("default"))),
}
LOCKED = f"comic_id,url,sha256,bytes,width,height,mirror\na,https://x,{'0' * 64},@,@,@,x/y.png\n"
PUBLISHED = "paper,table,row,key,column,value,n,note\np,table8,m,,acc,@,@,\n"
CSV_FILES: dict[str, tuple[str, Callable[[bytes], object]]] = {
    "literals": ("comic_id,metadata\na_1,@\n", lambda content: of_demo("pixelhumor", "metadata.csv", content)),
    "lock": (LOCKED, manifest(manifests.Lock)),
    "published": (PUBLISHED, at("p.csv", read_published)),
    "ratings": ("item_id,rater,source,score,choice\na,1,m,@,\n", lambda content: read_ratings(content, "r.csv")),
    "questions": ("id,question,answer,options\n@,q,@,a | b\n", lambda content: read_questions(content, "q.csv")),
    "subset": ("comic_id\n@\n", at("s.csv", lambda file: read_subset(file))),
    "header": ("comic_id,@\na,b\n", manifest(manifests.Annotation)),
}


IMAGES = {
    "": ("a.png", "./a.png", "within.png", "b 1#2 50%?.png", "e\u0301.png", " \u00fc.png "),
    "not a readable image: zero.png: not an image .the file is empty": ("zero.png",),
    "not in the folder": (
        *("../a.png", "..\\a.png", "sub\\..\\..\\a.png", "sub/../a.png", "{0}/a.png", "~/a.png", "c:\\a.png"),
        *("//host/a.png", "out.png", "up/a.png", "loop.png", "file:/a.png", "data:a.png"),
    ),
    "unsafe address": ("file:///a.png", "ftp://h/a.png", "http://u:p@h/a.png", "http://h:99999/a.png"),
    "not a readable image": ("pipe.png", "sub", "none.png", "large.png"),
    "not an image's address": ("http://[/a.png",),
}


@pytest.mark.parametrize(("message", "image"), [(of, image) for of in IMAGES for image in IMAGES[of]])
def test_images_of_questions(message: str, image: str, here: Path) -> None:
    folder, content = Path("in"), (DEMO / "hummus/images/nyc-combi-9001.png").read_bytes()
    (folder / "sub").mkdir(parents=True)
    (folder / "zero.png").touch()
    for file in ("in/a.png", "a.png", "in/b 1#2 50%?.png", "in/e\u0301.png", "in/\u00fc.png"):
        Path(file).write_bytes(content)
    for link, target in {"within": "a.png", "out": "../a.png", "loop": "loop.png"}.items():
        (folder / f"{link}.png").symlink_to(target)
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe.png")
    with (folder / "large.png").open("wb") as large:
        large.truncate(2**40)
    (folder / "q.csv").write_text(f"id,question,answer,image\n1,q,yes,{image.format(here)}\n")
    if message:
        with pytest.raises(PunchlineError, match=f"record 1, field image: {message}"):
            read_rows(folder / "q.csv", outside=False)
    else:
        assert read_rows(folder / "q.csv", outside=False)[1] == {"1.png": content}


@pytest.mark.parametrize("path", ["/etc/a.png", "../a.png", "a/../../b.png", "~/.a.png", "a\\..\\b.png", "a\0.png", ""])
def test_images_of_records(path: str, here: Path) -> None:
    image = {"path": path, "sha256": "0" * 64, "width": 1, "height": 1}
    item = {"benchmark": "b", "item_id": "a", "source": "s", "cluster": "c", "images": [image]}
    entry = {"item_id": "a", "source": "s", "state": "ok", "path": path}
    for kind, record in ((Item, item), (FetchEntry, entry)):
        Path("records.jsonl").write_text(json.dumps(record))
        with pytest.raises(PunchlineError, match=rf"records.jsonl, line 1: not a {kind.__name__} record"):
            read_records("records.jsonl", kind)


def check(read: Callable[[bytes], object], content: str) -> None:
    """Raises what a reader raises but one short message."""
    try:
        read(content.encode())
    except PunchlineError as error:
        assert len(str(error)) < 2 * LONGEST


@pytest.mark.parametrize("kind", JSON_FILES)
def test_values_of_json(kind: str, here: Path) -> None:
    content, read = JSON_FILES[kind]
    for value in JSON:
        for place in range(content.count("@")):
            check(read, value.join(content.split("@", place + 1)).replace("@", "1"))


@pytest.mark.parametrize("kind", CSV_FILES)
def test_values_of_csv(kind: str, here: Path) -> None:
    content, read = CSV_FILES[kind]
    for value in CELLS:
        quoted = io.StringIO()
        csv.writer(quoted).writerow([value])
        check(read, content.replace("@", quoted.getvalue().rstrip("\r\n")))


@pytest.mark.parametrize("field", ["height", "width"])
@pytest.mark.parametrize("value", ["0", "-0", "1e-999", "1e999", "NaN", "-1"])
def test_a_size_of_no_pixels_is_named(field: str, value: str) -> None:
    name = "hummus_dataset.json"
    pairs = json.loads((DEMO / "hummus" / name).read_bytes())
    next(pair for pair in pairs.values() if "bboxes" in pair)["image_attributes"][field] = "@"
    with pytest.raises(
        PunchlineError, match=f"{name}(, .*field image_attributes.{field}: Expected|: not JSON records)"
    ):
        of_demo("hummus", name, json.dumps(pairs).replace('"@"', value).encode())
