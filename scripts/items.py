"""Items of the selection: what a model may see."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.records import LedgerEntry
from punchline.core.storage import read_records, write_records
from punchline.stages.prepare import Pictures, make_items, naming, read_files, read_selected


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--files", required=True, nargs="+", type=Path)
    parser.add_argument("--selected", required=True)
    parser.add_argument("--ledger", default="", help="empty: no selected model looks at images")
    parser.add_argument("--index", default="", help="pictures; empty: none were made")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with naming(args.files):
        items = make_items(
            benchmarks.load(args.benchmark),
            read_files(args.files),
            read_selected(args.selected),
            read_records(args.ledger, LedgerEntry) if args.ledger else None,
            read_records(args.index, Pictures) if args.index else [],
        )
    write_records(args.out, items)


if __name__ == "__main__":
    main()
