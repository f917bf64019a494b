"""Pins of the real data, where it is here: ids, digests and counts only."""

import csv
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

from tests.golden.offline import ROOT, WITH_DEMO, Pins, digest, prepared, table

from punchline import paths
from punchline.artifacts.contents import printed
from punchline.core import benchmark as benchmarks
from punchline.schema import sha256


def _listed(file: str) -> list[dict[str, str]]:
    with (ROOT / file).open(newline="") as stream:
        return list(csv.DictReader(stream))


def raw_files(name: str, mirror: Path) -> dict[str, bytes]:
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
        for item, gold, requests in prepared(name, raw_files(name, mirror)):
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
            result = benchmark.data_requests(raw_files(name, mirror), rows)
            matches = sorted((request.item_id, request.task, request.request_id[:16]) for request in result)
            pins[f"{name}.csv"] = table([("about", "pass", "request"), *matches])
    return pins


def pictures(mirror: Path) -> Pins:
    """Sha256 of every picture that is made of an image of the mirror."""
    pins: Pins = {}
    for name in ("pixelhumor", "stripcipher"):
        rows = _pictures_of(name, raw_files(name, mirror), mirror)
        pins[f"{name}.csv"] = table([("item_id", "picture", "width", "height", "sha256"), *rows])
    return pins


def _pictures_of(name: str, files: dict[str, bytes], mirror: Path) -> Iterator[tuple[object, ...]]:
    make = benchmarks.illustrated(benchmarks.load(name)).pictures
    for row in _listed(paths.manifest(name, "images_pinned.csv")):
        image = mirror / row["mirror"]
        if image.is_file():
            for one in make(row["comic_id"], image.read_bytes(), files):
                yield row["comic_id"], one.name, one.width, one.height, sha256(one.content)


UPSTREAM_PARTS: dict[str, Callable[[Path], Pins]] = {
    "upstream/items": items,
    "upstream/comparisons": comparisons,
    "upstream/pictures": pictures,
}
