"""From published bytes to what models see: which items, numbered images, items, and gold apart from them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from punchline.benchmarks import Benchmark
from punchline.comics import number
from punchline.errors import PunchlineError, nearest
from punchline.progress import track
from punchline.records import Gold, ImageRef, Item, LedgerEntry, Record, sha256
from punchline.storage import csv_text, parse_csv, write_bytes

SELECTED = ("item_id", "source", "url")


class NumberedImage(Record, frozen=True, kw_only=True):
    """One numbered image and all that it was made from."""

    item_id: str
    image: ImageRef
    source: str  # path of the published image
    source_sha256: str
    boxes: tuple[tuple[int, int, int, int, int], ...]  # x1, y1, x2, y2, label; pixels
    derivation: dict[str, Any]  # what drew it: OpenCV's version, font, …


def read_files(paths: Sequence[str | Path]) -> dict[str, bytes]:
    """{file name: bytes} of raw files. Raises PunchlineError for one that is not there."""
    files = {}
    for path in map(Path, paths):
        if not path.is_file():
            raise PunchlineError("the raw file is not there", file=path, way_out="Run the target `fetch` first")
        files[path.name] = path.read_bytes()
    return files


@contextmanager
def naming(paths: Sequence[str | Path]) -> Iterator[None]:
    """Errors about raw files, which benchmarks know by their names, get the whole path."""
    try:
        yield
    except PunchlineError as error:
        for path in map(Path, paths):
            if str(error).startswith((f"{path.name}:", f"{path.name},")):
                raise PunchlineError(f"{path.parent.as_posix()}/{error}") from error
        raise


def select(
    comics: Sequence[tuple[str, str, str]],
    *,
    sources: Sequence[str] | None,
    subset: str | None,
    limit: int | None,
) -> list[tuple[str, str, str]]:
    """The selected (item id, source, url), in released order: by source, then subset, then the first `limit`.

    Raises PunchlineError for a subset that names items that are not there, or that selects nothing.
    """
    there = {comic[1] for comic in comics}
    for source in sources or ():
        if source not in there:
            raise PunchlineError(
                f"no comic is from {source!r}", file="config/corpus/", field="sources", way_out=nearest(source, there)
            )
    chosen = [comic for comic in comics if sources is None or comic[1] in sources]
    if subset is not None:
        content = Path(subset).read_bytes()
        header = content.split(b"\n", 1)[0].decode("utf-8-sig", "replace")
        column = "comic_id" if "comic_id" in header and "item_id" not in header else "item_id"
        wanted: dict[str, int] = {}
        for line, cells in parse_csv(content, [column], file=subset):
            item_id = cells[column].strip()
            if item_id in wanted:
                raise PunchlineError(
                    f"the id is there already, in line {wanted[item_id]}",
                    file=subset,
                    line=line,
                    record=item_id,
                    field=column,
                    way_out="Keep one of them",
                )
            wanted[item_id] = line
        known = {comic[0] for comic in chosen}
        for item_id, line in wanted.items():
            if item_id not in known:
                raise PunchlineError(
                    "no such item in this corpus",
                    file=subset,
                    line=line,
                    record=item_id,
                    field=column,
                    way_out="Take it out of the file, or choose the corpus that has it (corpus=full has all)",
                )
        chosen = [comic for comic in chosen if comic[0] in wanted]
    chosen = chosen[:limit]
    if not chosen:
        raise PunchlineError("the selection holds no item", file=subset, way_out="Check corpus, subset and limit")
    return chosen


def selected_text(selected: Sequence[tuple[str, str, str]]) -> str:
    """The selection as CSV."""
    return csv_text(SELECTED, (dict(zip(SELECTED, row, strict=True)) for row in selected))


def read_selected(path: str | Path) -> list[str]:
    """The selected item ids, in order."""
    return [cells["item_id"] for _, cells in parse_csv(Path(path).read_bytes(), SELECTED, file=path)]


def _png_size(png: bytes) -> tuple[int, int]:
    """(width, height) in pixels, of the IHDR chunk."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def number_image(
    entry: LedgerEntry, boxes: Sequence[tuple[int, int, int, int, int]], folder: str
) -> tuple[NumberedImage, bytes]:
    """The numbered image of one ledger entry, and its PNG bytes. Pure but for reading the published image."""
    assert entry.path is not None
    source = Path(entry.path)
    if not source.is_file():
        raise PunchlineError(
            "the image in the ledger is gone",
            file=source,
            record=entry.item_id,
            way_out="Put it back, or run with --forcerun fetch_images (demo corpus: draw_demo_pixelhumor)",
        )
    content = source.read_bytes()
    png = number.number(content, boxes, name=source)
    width, height = _png_size(png)
    image = ImageRef(path=f"{folder}/{entry.item_id}.png", sha256=sha256(png), width=width, height=height)
    return (
        NumberedImage(
            item_id=entry.item_id,
            image=image,
            source=entry.path,
            source_sha256=sha256(content),
            boxes=tuple(boxes),
            derivation=number.derivation(),
        ),
        png,
    )


def number_images(
    ledger: Sequence[LedgerEntry],
    boxes: Mapping[str, Sequence[tuple[int, int, int, int, int]]],
    folder: str,
    *,
    pinned: bool,
) -> list[NumberedImage]:
    """Draw and write the numbered image of every entry that has one; take away images of other selections.

    `pinned`: published bytes must be those that the ledger recorded. Raises PunchlineError for an image that differs,
    an item without boxes, or a box outside its image.
    """
    present = [entry for entry in ledger if entry.state == "ok"]

    def one(entry: LedgerEntry) -> NumberedImage:
        if entry.item_id not in boxes:
            raise PunchlineError("no panel boxes", file="metadata.csv", record=entry.item_id)
        made, png = number_image(entry, boxes[entry.item_id], folder)
        if pinned and made.source_sha256 != entry.sha256:
            raise PunchlineError(
                f"the image's bytes have changed since they were fetched (sha256 {made.source_sha256[:12]}…, "
                f"the ledger has {str(entry.sha256)[:12]}…)",
                file=entry.path,
                record=entry.item_id,
                way_out="Delete the file and run with --forcerun fetch_images",
            )
        write_bytes(made.image.path, png)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(track(pool.map(one, present), len(present), "number_images"))
    keep = {image.image.path for image in made}
    for path in Path(folder).glob("*.png"):
        if path.as_posix() not in keep:
            path.unlink()
    return made


def make_items(
    benchmark: Benchmark,
    files: Mapping[str, bytes],
    selected: Sequence[str],
    ledger: Sequence[LedgerEntry] | None,
    images: Sequence[NumberedImage],
) -> list[Item]:
    """Items of the selection. `ledger` None: no selected model looks at images, so none was fetched."""
    reasons = {entry.item_id: entry.reason or "missing" for entry in ledger or ()}
    found = {image.item_id: image.image for image in images}
    default = "no selected model needs images" if ledger is None else "not in the ledger"
    return benchmark.items(files, {i: found.get(i) or reasons.get(i, default) for i in selected})


def make_gold(benchmark: Benchmark, files: Mapping[str, bytes], selected: Sequence[str]) -> list[Gold]:
    """Gold of the selection. Raises PunchlineError for an item without a label."""
    golds = {gold.item_id: gold for gold in benchmark.golds(files)}
    for item_id in selected:
        if item_id not in golds:
            raise PunchlineError("the item has no label", file=benchmark.GOLD_FILES[0], record=item_id)
    return [golds[item_id] for item_id in selected]


def drawn_ledger(folder: Path) -> list[LedgerEntry]:
    """The ledger of a corpus that was drawn rather than fetched: every image of `folder`/images/."""
    entries = []
    for path in sorted((folder / "images").glob("*.png")):
        content = path.read_bytes()
        width, height = _png_size(content)
        entries.append(
            LedgerEntry(
                item_id=path.stem,
                source=path.stem.rsplit("_", 1)[0],
                state="ok",
                path=path.as_posix(),
                sha256=sha256(content),
                bytes=len(content),
                width=width,
                height=height,
                media_type="image/png",
                url=f"demo:{path.stem}",
            )
        )
    return entries
