"""The fetching stages: released files and images of a selection, with progress."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from punchline import paths
from punchline.artifacts.project import Project
from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.demo import copy_demo, demo_ledger
from punchline.fetch.images import fetch_images
from punchline.fetch.manifests import read_ids, read_pages, read_sources
from punchline.files import write_records
from punchline.schema import FetchEntry
from punchline.text import PROGRESS_S, log_line
from punchline.workflow.processes import MIRROR

RETRY = "PUNCHLINE_RETRY_MISSING"  # try again what the ledger records as missing
STOPPED = "stopped; what was fetched is kept, and the next run goes on from there"

Report = Callable[[int, int, FetchEntry], None]


@contextmanager
def progress_shown() -> Iterator[Report]:
    """Yield a function that prints a line every few seconds."""
    states: Counter[str] = Counter()
    last = time.monotonic()

    def update(done: int, total: int, entry: FetchEntry) -> None:
        nonlocal last
        states[entry.state] += 1
        if time.monotonic() - last >= PROGRESS_S:
            last = time.monotonic()
            log_line(f"fetching comics: {done}/{total}, {states['missing']} missing")

    yield update


def told(entries: Iterable[FetchEntry], folder: Path, why: Path) -> None:
    """Say how many comics are there, and why others are not."""
    found = list(entries)
    reasons = Counter(entry.reason for entry in found if entry.reason)
    log_line(f"{len(found) - reasons.total()} of {len(found)} comics are in {folder}")
    for reason, n in reasons.most_common():
        log_line(f"  {n} missing: {reason}")
    if reasons:
        log_line(f"  why, one by one: {why}; to try these again: punchline fetch --retry-missing")


def write_annotations(project: Project, benchmark: str) -> None:
    """Fetch the released files of a benchmark, each with its pinned sha256; or copy its demo files."""
    if project.selection.corpus.drawn:
        copy_demo(project, benchmark)
        return
    folder, mirror = Path(project.paths.raw(benchmark)), os.environ.get(MIRROR) or None
    manifest = Path(paths.manifest(benchmark))
    files = fetch_annotations(manifest, folder, mirror, report=lambda text: log_line(f"warning: {text}"))
    log_line(f"{len(files)} annotation files are in {folder}")


def write_images(project: Project, benchmark: str) -> None:
    """Fetch the images of the selected items; write the ledger of them, or of the demo images."""
    where = project.paths
    if project.selection.corpus.drawn:
        write_records(where.ledger(benchmark), demo_ledger(project, benchmark))
        return
    selected, journal = Path(where.selected(benchmark)), Path(where.fetch_journal(benchmark))
    folder = Path(where.raw(benchmark, "images"))
    try:
        with progress_shown() as progress:
            entries = fetch_images(
                read_ids(selected),
                read_pages(selected),
                Path(paths.manifest(benchmark, "images_pinned.csv")),
                folder,
                journal,
                Path(paths.manifest(benchmark, "images.lock.csv")),
                os.environ.get(MIRROR) or None,
                sources=read_sources(selected),
                retry_missing=bool(os.environ.get(RETRY)),
                progress=progress,
            )
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    write_records(where.ledger(benchmark), entries)
    told(entries, folder, journal)
