"""Fetch the released annotations or the comics of a list. The work: punchline.stages.fetch."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from punchline.errors import entry_point
from punchline.files import write_records, write_text
from punchline.stages.fetch.annotations import fetch_annotations
from punchline.stages.fetch.commands import RETRY, STOPPED, progress_shown, told
from punchline.stages.fetch.images import fetch_images
from punchline.stages.fetch.ledger import availability_text
from punchline.stages.fetch.manifests import read_ids, read_pages, read_sources
from punchline.text import log_line


def annotations(args: argparse.Namespace) -> None:
    files = fetch_annotations(
        args.manifest, args.out, args.mirror or None, report=lambda text: log_line(f"warning: {text}")
    )
    log_line(f"{len(files)} annotation files are in {args.out}")


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
            retry_missing=args.retry_missing or bool(os.environ.get(RETRY)),
            progress=progress,
        )
    if args.entries:
        write_records(args.entries, entries)
    if args.availability:
        write_text(args.availability, availability_text(entries))
    told(entries, args.out, args.ledger)


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
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
