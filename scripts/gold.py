"""Gold of the selection."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline import benchmarks
from punchline.errors import entry_point
from punchline.prepare import make_gold, read_files, read_selected
from punchline.storage import write_records


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--files", required=True, nargs="+", type=Path)
    parser.add_argument("--selected", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    golds = make_gold(benchmarks.load(args.benchmark), read_files(args.files), read_selected(args.selected))
    write_records(args.out, golds)


if __name__ == "__main__":
    main()
