"""Which items the selection holds: a CSV of item_id, source, url in released order."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.storage import write_text
from punchline.stages.prepare import naming, read_files, select, selected_text


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--files", required=True, nargs="+", type=Path)
    parser.add_argument("--selection", required=True, type=json.loads)
    parser.add_argument("--subset", nargs="?", default=None)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with naming(args.files):
        listed = benchmarks.load(args.benchmark).listing(read_files(args.files))
    selected = select(
        listed,
        sources=args.selection["sources"],
        subset=args.subset,
        limit=args.selection["limit"],
    )
    write_text(args.out, selected_text(selected))


if __name__ == "__main__":
    main()
