"""The fetching stages: released files and images of a selection, with progress on a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from punchline.core.files import write_text
from punchline.core.progress import EVERY_S, say
from punchline.core.records import LedgerEntry
from punchline.core.storage import read_records, write_records
from punchline.project import paths
from punchline.project.needs import Project
from punchline.project.processes import MIRROR
from punchline.stages.fetch.annotations import fetch_annotations
from punchline.stages.fetch.images import fetch_images
from punchline.stages.fetch.ledger import availability_text
from punchline.stages.fetch.manifests import read_ids, read_pages, read_sources
from punchline.stages.job import make

RETRY = "PUNCHLINE_RETRY_MISSING"  # try again what the ledger records as missing
STOPPED = "stopped; what was fetched is kept, and the next run goes on from there"

Report = Callable[[int, int, LedgerEntry], None]


@contextmanager
def progress_shown() -> Iterator[Report]:
    """A bar on a terminal; a line every few seconds elsewhere."""
    states: Counter[str] = Counter()
    if sys.stderr.isatty():
        columns = (TextColumn("fetching comics"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[what]}"))
        with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
            task = bar.add_task("images", total=None, what="")

            def update(done: int, total: int, entry: LedgerEntry) -> None:
                states[entry.state] += 1
                bar.update(task, completed=done, total=total, what=f"{states['missing']} missing")

            yield update
    else:
        last = time.monotonic()

        def line(done: int, total: int, entry: LedgerEntry) -> None:
            nonlocal last
            states[entry.state] += 1
            if time.monotonic() - last >= EVERY_S:
                last = time.monotonic()
                say(f"fetching comics: {done}/{total}, {states['missing']} missing")

        yield line


def told(entries: Iterable[LedgerEntry], folder: Path, why: Path) -> None:
    """Say how many comics are there, and why others are not."""
    found = list(entries)
    reasons = Counter(entry.reason for entry in found if entry.reason)
    say(f"{len(found) - reasons.total()} of {len(found)} comics are in {folder}")
    for reason, n in reasons.most_common():
        say(f"  {n} missing: {reason}")
    if reasons:
        say(f"  why, one by one: {why}; to try these again: punchline fetch --retry-missing")


def write_annotations(project: Project, benchmark: str) -> None:
    """The released files of a benchmark, each with the sha256 that its manifest pins."""
    step, folder = project.raw(benchmark), Path(project.paths.raw(benchmark))
    manifest, mirror = Path(paths.manifest(benchmark)), os.environ.get(MIRROR) or None

    def write() -> None:
        files = fetch_annotations(manifest, folder, mirror, report=lambda text: say(f"warning: {text}"))
        say(f"{len(files)} annotation files are in {folder}")

    make(step, write)


def write_images(project: Project, benchmark: str) -> None:
    """The images of the selected items, and what became of each."""
    step, where = project.images(benchmark), project.paths
    selected, journal = Path(where.selected(benchmark)), Path(where.fetch_journal(benchmark))
    pinned = Path(paths.manifest(benchmark, "images_pinned.csv"))

    def write() -> None:
        folder = Path(where.raw(benchmark, "images"))
        with progress_shown() as progress:
            entries = fetch_images(
                read_ids(selected),
                read_pages(selected),
                pinned,
                folder,
                journal,
                Path(paths.manifest(benchmark, "images.lock.csv")),
                os.environ.get(MIRROR) or None,
                sources=read_sources(selected),
                retry_missing=bool(os.environ.get(RETRY)),
                progress=progress,
            )
        write_records(step.outputs[0], entries)
        told(entries, folder, journal)

    try:
        make(step, write)
    except KeyboardInterrupt:
        sys.exit(STOPPED)


def write_availability_of(project: Project, benchmark: str) -> None:
    """availability.csv of a selection's images."""
    step = project.availability(benchmark)
    ledger = project.paths.ledger(benchmark)
    make(step, lambda: write_text(step.outputs[0], availability_text(read_records(ledger, LedgerEntry))))
