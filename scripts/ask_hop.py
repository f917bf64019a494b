"""One model's answers in, what they lead to out: its next questions, or what a judge or scorer is asked of them."""

from __future__ import annotations

import argparse

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.records import Gold, Item, Request, Response
from punchline.core.storage import read_records, read_table, write_table
from punchline.project.hops import HOPS
from punchline.stages.ask import ask_hop


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hop", required=True, choices=HOPS)
    parser.add_argument("--conditions", nargs="+", required=True)
    for name in ("--benchmark", "--items", "--gold", "--out"):
        parser.add_argument(name, required=True)
    for name in ("--requests", "--snapshots"):
        parser.add_argument(name, required=True, nargs="+", help="of the model's answers, and of its chained ones")
    args = parser.parse_args()
    requests = ask_hop(
        benchmarks.load(args.benchmark),
        args.hop,
        read_records(args.items, Item),
        read_records(args.gold, Gold),
        [request for path in args.requests for request in read_table(path, Request)],
        [response for path in args.snapshots for response in read_table(path, Response)],
        args.conditions,
    )
    write_table(args.out, requests, Request)


if __name__ == "__main__":
    main()
