"""One model's answers in, what a judge is asked about them out."""

from __future__ import annotations

import argparse

from punchline import benchmarks
from punchline.ask import ask_judge
from punchline.errors import entry_point
from punchline.records import Gold, Item, Request, Response
from punchline.storage import read_records, read_table, write_table


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--benchmark", "--items", "--gold", "--requests", "--snapshot", "--out"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    requests = ask_judge(
        benchmarks.load(args.benchmark),
        read_records(args.items, Item),
        read_records(args.gold, Gold),
        read_table(args.requests, Request),
        read_table(args.snapshot, Response),
    )
    write_table(args.out, requests, Request)


if __name__ == "__main__":
    main()
