"""Fetch the released annotations or the comics of a selection. The work: punchline.stages.fetch."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from punchline.core.errors import entry_point
from punchline.core.progress import EVERY_S, say
from punchline.core.records import LedgerEntry
from punchline.core.storage import write_records
from punchline.stages.fetch import (
    fetch_annotations,
    fetch_images,
    read_ids,
    read_pages,
    read_sources,
    write_availability,
)

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


def annotations(args: argparse.Namespace) -> None:
    files = fetch_annotations(args.manifest, args.out, args.mirror or None, report=lambda text: say(f"warning: {text}"))
    say(f"{len(files)} annotation files are in {args.out}")


def images(args: argparse.Namespace) -> None:
    with progress_shown() as progress:
        entries = fetch_images(
            read_ids(args.comic_ids),
            read_pages(args.pages) if args.pages else {},
            args.manifest,
            args.out,
            args.ledger,
            args.lock,
            args.mirror or None,
            sources=read_sources(args.pages) if args.sources else None,
            retry_missing=args.retry_missing or bool(os.environ.get("PUNCHLINE_RETRY_MISSING")),
            progress=progress,
        )
    if args.entries:
        write_records(args.entries, entries)
    if args.availability:
        write_availability(args.availability, entries)
    reasons = Counter(entry.reason for entry in entries if entry.reason)
    say(f"{len(entries) - reasons.total()} of {len(entries)} comics are in {args.out}")
    for reason, n in reasons.most_common():
        say(f"  {n} missing: {reason}")
    if reasons:
        say(f"  why, one by one: {args.ledger}; to try these again: punchline fetch --retry-missing")


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="annotations | images")

    command = commands.add_parser("annotations", help="the released CSVs, with pinned digests")
    command.add_argument("--manifest", type=Path, required=True, help="annotations.csv")
    command.add_argument("--out", type=Path, required=True, help="folder for the CSVs")
    command.add_argument("--mirror", default=None, help="folder or http(s) URL, tried first")
    command.set_defaults(run=annotations)

    command = commands.add_parser("images", help="the comics of a selection")
    command.add_argument("--comic-ids", type=Path, required=True, help="CSV with a column comic_id or item_id")
    command.add_argument("--pages", type=Path, help="selected.csv, or PixelHumor's comic_url.csv")
    command.add_argument("--sources", action="store_true", help="take the sources from there, too")
    command.add_argument("--manifest", type=Path, help="images_pinned.csv")
    command.add_argument("--out", type=Path, required=True, help="folder for the images")
    command.add_argument("--ledger", type=Path, required=True, help="ledger.jsonl")
    command.add_argument("--lock", type=Path, help="images.lock.csv; written with the digests of first fetches")
    command.add_argument("--mirror", default=None, help="folder or http(s) URL, tried first")
    command.add_argument("--retry-missing", action="store_true", help="try again what the ledger records as missing")
    command.add_argument("--entries", type=Path, help="write the ledger's entries of these comics, and no others, here")
    command.add_argument("--availability", type=Path, help="write availability.csv here")
    command.set_defaults(run=images)

    args = parser.parse_args()
    try:
        args.run(args)
    except KeyboardInterrupt:
        sys.exit("stopped; what was fetched is kept, and the next run goes on from there")


if __name__ == "__main__":
    main()
