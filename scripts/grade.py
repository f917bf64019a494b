"""Answers, verdicts and gold in, grades out."""

from __future__ import annotations

import argparse

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.records import Gold, Grade, Item, Request, Response
from punchline.core.storage import read_records, read_table, write_table
from punchline.project.hops import requests_path, snapshot_path
from punchline.stages.grade import Verdicts, grade, read_verdicts


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--benchmark", "--model", "--items", "--gold", "--out"):
        parser.add_argument(name, required=True)
    for name in ("--requests", "--snapshots"):
        parser.add_argument(name, required=True, nargs="+", help="of the model's answers, and of its chained ones")
    parser.add_argument("--judges", nargs="*", default=[], help="hop=who answered it")
    args = parser.parse_args()
    verdicts: Verdicts | None = {} if args.judges else None
    for hop, _, who in (judge.partition("=") for judge in args.judges):
        asked = read_table(requests_path(args.benchmark, hop, args.model), Request)
        snapshot = snapshot_path(args.benchmark, hop, args.model)
        verdicts = (verdicts or {}) | read_verdicts(who, asked, read_table(snapshot, Response), snapshot)
    grades = grade(
        benchmarks.load(args.benchmark),
        args.model,
        read_records(args.items, Item),
        read_records(args.gold, Gold),
        [request for path in args.requests for request in read_table(path, Request)],
        [response for path in args.snapshots for response in read_table(path, Response)],
        verdicts,
    )
    write_table(args.out, grades, Grade)


if __name__ == "__main__":
    main()
