"""Selection of items, items and gold from released files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from punchline.artifacts.run import Run
from punchline.config.selection import read_subset
from punchline.core.benchmark import Benchmark, Files
from punchline.errors import PunchlineError, check_known
from punchline.files import csv_text, parse_csv, read_records, records_in, write_records, write_text
from punchline.paths import own, runs_of
from punchline.schema import FetchEntry, Gold, ImageRef, Pictures

T = TypeVar("T")
Row = tuple[str, str, str]  # item id, source, url
SELECTED = ("item_id", "source", "url")


def read_files(paths: Sequence[str | Path]) -> dict[str, bytes]:
    """{file name: bytes} of raw files."""
    return {Path(path).name: Path(path).read_bytes() for path in paths}


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
    comics: Sequence[Row], sources: Sequence[str] | None, subset: str | None, limit: int | None, pinned: Collection[str]
) -> list[Row]:
    """The selected (item id, source, url), in released order: by source, then subset, then the first `limit`.

    `pinned`: items whose image is known to be had. A limit takes these before others.
    Raises PunchlineError for a subset that names items that are not there, or that selects nothing.
    """
    there = {comic[1] for comic in comics}
    for source in sorted(sources or ()):
        check_known(source, there, f"no comic is from {source!r}", file="config/corpus/", field="sources")
    chosen = [comic for comic in comics if sources is None or comic[1] in sources]
    if subset is not None:
        column, wanted = read_subset(subset)
        known = {comic[0] for comic in chosen}
        for item_id, line in wanted.items():
            if item_id not in known:
                what = "no such item in this corpus (corpus=full has all)"
                raise PunchlineError(what, file=subset, line=line, record=item_id, field=column)
        chosen = [comic for comic in chosen if comic[0] in wanted]
    limited = set(sorted(chosen, key=lambda comic: comic[0] not in pinned)[:limit])
    chosen = [comic for comic in chosen if comic in limited]
    if not chosen:
        raise PunchlineError("the selection holds no item", file=subset, hint="Check corpus, subset and limit")
    return chosen


def read_selected(path: str | Path) -> list[str]:
    """The selected item ids, in order."""
    return [cells["item_id"] for _, cells in parse_csv(Path(path).read_bytes(), SELECTED, file=path)]


def make_gold(benchmark: Benchmark, files: Mapping[str, bytes], selected: Sequence[str]) -> Iterator[Gold]:
    """Gold of the selection, in its order. Raises PunchlineError for an item without a label, or with two."""
    wanted, file = set(selected), benchmark.GOLD_FILES[0]
    golds = _by_id(((gold.item_id, gold) for gold in benchmark.golds(files) if gold.item_id in wanted), file)
    for item_id in selected:
        if item_id not in golds:
            raise PunchlineError("the item has no label", file=file, record=item_id)
        yield golds[item_id]


def _by_id(pairs: Iterable[tuple[str, T]], file: str) -> dict[str, T]:
    """Values by item. Raises PunchlineError for an item that is there twice."""
    values: dict[str, T] = {}
    for item_id, value in pairs:
        if item_id in values:
            raise PunchlineError("the item is there twice", file=file, record=item_id, hint="Keep one of them")
        values[item_id] = value
    return values


def raw_files(run: Run, benchmark: str, names: Sequence[str]) -> Files:
    """Published files of a benchmark, by name."""
    return read_files([run.paths.raw(benchmark, name) for name in names])


def files_of_table(run: Run, benchmark: str, table: str) -> Files:
    """The released files and the user's that a table reads, by name; those of runs by their path in the manifest."""
    of_runs = {name: run.paths.raw(runs_of(benchmark), name) for name in run.runs(benchmark, table)}
    contents = {name: Path(path).read_bytes() for name, path in of_runs.items()}  # several have one name
    return read_files(paths_of_table(run, benchmark, table)) | contents


def paths_of_table(run: Run, benchmark: str, table: str) -> list[str]:
    """Paths of a table's files: those of runs apart; of the user's, those that are there."""
    spec = run.benchmark(benchmark).TABLES[table]
    users = [path for name in spec.own if Path(path := own(benchmark, name)).is_file()]
    return [*(run.paths.raw(benchmark, name) for name in spec.files), *users]


@contextmanager
def reading(run: Run, benchmark: str, names: Sequence[str]) -> Iterator[Files]:
    """Published files; errors about them name the whole path, of a file of the project where it is edited."""
    with naming([run.edited(benchmark, name) for name in names]):
        yield raw_files(run, benchmark, names)


def fetch_log(run: Run, benchmark: str) -> list[FetchEntry]:
    """The fetch log's entries of the selected items."""
    wanted = set(read_selected(run.paths.selected(benchmark)))
    return [entry for entry in records_in(run.paths.fetch_log(benchmark), FetchEntry) if entry.item_id in wanted]


def write_selected(run: Run, benchmark: str) -> None:
    """Write the items of a corpus that are evaluated: (item id, source, url), from the released list."""
    loaded, chosen = run.benchmark(benchmark), run.selection
    with reading(run, benchmark, loaded.ITEM_FILES) as files:
        listed = loaded.listing(files)
        if run.illustrated(benchmark) and not loaded.IMAGES:
            addresses = loaded.pages(files)
            listed = [(item_id, source, addresses[item_id]) for item_id, source, _ in listed]
        listed = [*_by_id(((row[0], row) for row in listed), loaded.ITEM_FILES[0]).values()]
    sources, pinned = (chosen.corpus.sources or {}).get(benchmark), set(run.pinned(benchmark))
    selected = select(listed, sources, chosen.subset, chosen.limit, pinned)
    rows = (dict(zip(SELECTED, row, strict=True)) for row in selected)
    write_text(run.paths.selected(benchmark), csv_text(SELECTED, rows))


def write_items(run: Run, benchmark: str) -> None:
    """Write items: what models may be shown, of published files and the index of pictures."""
    loaded, where = run.benchmark(benchmark), run.paths
    selected = read_selected(where.selected(benchmark))
    images: dict[str, tuple[ImageRef, ...] | str] = dict.fromkeys(selected, "no selected model needs images")
    pictures: dict[str, Pictures] = {}
    if run.illustrated(benchmark):
        pictures = {made.item_id: made for made in read_records(where.index(benchmark), Pictures)}
        entries = {entry.item_id: entry.reason or "missing" for entry in fetch_log(run, benchmark)}
        images = {item_id: entries.get(item_id, "not in the ledger") for item_id in selected}
        images |= {item_id: made.images or made.reason or images[item_id] for item_id, made in pictures.items()}
    with reading(run, benchmark, loaded.ITEM_FILES) as files:
        items = loaded.items(files, images)
    if pictures and not loaded.IMAGES:  # for condition with-image
        refs = {item_id: made.images for item_id, made in pictures.items()}
        items = [replace(item, images=refs.get(item.item_id, ())) for item in items]
    write_records(where.items(benchmark), items)


def write_gold(run: Run, benchmark: str) -> None:
    """Write the gold of each item."""
    loaded = run.benchmark(benchmark)
    with reading(run, benchmark, loaded.GOLD_FILES) as files:
        golds = make_gold(loaded, files, read_selected(run.paths.selected(benchmark)))
        write_records(run.paths.gold(benchmark), golds)
