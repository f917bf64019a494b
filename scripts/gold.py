"""Gold of the selection."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.progress import say
from punchline.core.storage import write_records, write_text
from punchline.stages.prepare import make_gold, naming, read_files, read_selected

SHOWN = 5  # oddities on the terminal


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--files", required=True, nargs="+", type=Path)
    parser.add_argument("--selected", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--oddities", required=True, help="what is odd in the files and tolerated is listed here")
    args = parser.parse_args()
    benchmark, files = benchmarks.load(args.benchmark), read_files(args.files)
    with naming(args.files):
        golds = make_gold(benchmark, files, read_selected(args.selected))
        odd = benchmark.oddities(files)
    write_text(args.oddities, "".join(f"{line}\n" for line in odd))
    if odd:
        say(f"gold of {args.benchmark}: {len(odd):,} oddities in the files are taken as they stand: {args.oddities}")
        for line in odd[:SHOWN]:
            say(f"  {line}")
    write_records(args.out, golds)


if __name__ == "__main__":
    main()
