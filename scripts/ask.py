"""Items in, requests out."""

from __future__ import annotations

import argparse

import msgspec

from punchline import benchmarks
from punchline.errors import entry_point
from punchline.records import Item, Request
from punchline.storage import read_records, write_table


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--items", required=True)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    benchmark = benchmarks.load(args.benchmark)
    requests = [
        msgspec.structs.replace(request, sample=sample)
        for item in read_records(args.items, Item)
        for request in benchmark.requests(item)
        for sample in range(args.samples)
    ]
    write_table(args.out, requests, Request)


if __name__ == "__main__":
    main()
