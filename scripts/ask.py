"""Items in, requests out."""

from __future__ import annotations

import argparse

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.records import Item, Request
from punchline.core.storage import read_records, write_table
from punchline.stages.ask import ask


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--items", required=True)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--conditions", nargs="+", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    requests = ask(benchmarks.load(args.benchmark), read_records(args.items, Item), args.samples, args.conditions)
    write_table(args.out, requests, Request)


if __name__ == "__main__":
    main()
