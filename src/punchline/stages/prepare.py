"""From published bytes to what models see: which items, their pictures, items, and gold apart from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from punchline.core.benchmark import Benchmark
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import Gold, ImageRef, Item, LedgerEntry, Record
from punchline.core.storage import csv_text, parse_csv

SELECTED = ("item_id", "source", "url")


class Pictures(Record, frozen=True, kw_only=True):
    """What models see of one item, and all that it was made from."""

    item_id: str
    images: tuple[ImageRef, ...]
    source: str  # path of the published image
    source_sha256: str
    derivations: tuple[dict[str, Any], ...]  # one a picture: boxes, OpenCV's version, font, …
    reason: str | None = None  # why there are no pictures


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


def make_items(
    benchmark: Benchmark,
    files: Mapping[str, bytes],
    selected: Sequence[str],
    ledger: Sequence[LedgerEntry] | None,
    pictures: Sequence[Pictures],
) -> list[Item]:
    """Items of the selection. `ledger` None: no selected model looks at images, so none was fetched."""
    reasons = {entry.item_id: entry.reason or "missing" for entry in ledger or ()}
    reasons |= {made.item_id: made.reason for made in pictures if made.reason is not None}
    found = {made.item_id: made.images for made in pictures}
    default = "no selected model needs images" if ledger is None else "not in the ledger"
    return benchmark.items(files, {i: found.get(i) or reasons.get(i, default) for i in selected})


def make_gold(benchmark: Benchmark, files: Mapping[str, bytes], selected: Sequence[str]) -> list[Gold]:
    """Gold of the selection. Raises PunchlineError for an item without a label."""
    golds = {gold.item_id: gold for gold in benchmark.golds(files)}
    for item_id in selected:
        if item_id not in golds:
            raise PunchlineError("the item has no label", file=benchmark.GOLD_FILES[0], record=item_id)
    return [golds[item_id] for item_id in selected]
