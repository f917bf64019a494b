"""Answers and gold in, grades out."""

from __future__ import annotations

import argparse

from punchline import benchmarks
from punchline.errors import entry_point
from punchline.grade import grade, read_verdicts
from punchline.records import Gold, Grade, Item, Request, Response
from punchline.storage import read_records, read_table, write_table


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--benchmark", "--model", "--items", "--gold", "--requests", "--snapshot", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--judge", default="", help="who judged; empty: nobody")
    parser.add_argument("--judge-requests")
    parser.add_argument("--verdicts")
    args = parser.parse_args()
    verdicts = None
    if args.judge:
        asked = read_table(args.judge_requests, Request)
        verdicts = read_verdicts(args.judge, asked, read_table(args.verdicts, Response), args.verdicts)
    grades = grade(
        benchmarks.load(args.benchmark),
        args.model,
        read_records(args.items, Item),
        read_records(args.gold, Gold),
        read_table(args.requests, Request),
        read_table(args.snapshot, Response),
        verdicts,
    )
    write_table(args.out, grades, Grade)


if __name__ == "__main__":
    main()
