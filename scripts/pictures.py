"""What models see of the selected items, made of the published images: numbered comics, frames, pages as they are."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.records import LedgerEntry
from punchline.core.storage import read_records, write_records
from punchline.stages.pictures import write_pictures
from punchline.stages.prepare import naming, read_files, read_selected


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--files", required=True, nargs="+", type=Path)
    parser.add_argument("--selected", required=True)
    parser.add_argument("--ledger", required=True)
    parser.add_argument("--pinned", action="store_true", help="published bytes must be those that the ledger has")
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    selected = set(read_selected(args.selected))
    with naming(args.files):
        made = write_pictures(
            benchmarks.load(args.benchmark),
            [entry for entry in read_records(args.ledger, LedgerEntry) if entry.item_id in selected],
            read_files(args.files),
            args.out.parent.as_posix(),
            pinned=args.pinned,
        )
    write_records(args.out, made)


if __name__ == "__main__":
    main()
