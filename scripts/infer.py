"""One model answers what it has not answered yet, over all selected benchmarks."""

from __future__ import annotations

import argparse
import json
from contextlib import closing

import msgspec

from punchline.core import engine as engines
from punchline.core.errors import entry_point
from punchline.core.progress import say
from punchline.core.records import Item, ModelCard, Request
from punchline.core.storage import read_records, read_table
from punchline.project.hops import CHAINED, journal_path, requests_path, snapshot_path
from punchline.stages.infer import image_files, infer


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--card", required=True, type=json.loads)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--benchmarks", required=True, nargs="+")
    parser.add_argument("--chained", action="store_true", help="what hangs on the model's own answers")
    args = parser.parse_args()
    card = msgspec.convert(args.card, ModelCard)
    with closing(engines.load(card, args.seed)) as engine:
        for benchmark in args.benchmarks:
            items = read_records(f"data/items/{benchmark}/items.jsonl", Item)
            requests, journal, snapshot = (
                f"data/requests/{benchmark}.parquet",
                f"data/responses/{benchmark}/{card.name}.jsonl",
                f"data/responses/{benchmark}/{card.name}.parquet",
            )
            if args.chained:
                requests, journal, snapshot = (
                    path(benchmark, CHAINED, card.name) for path in (requests_path, journal_path, snapshot_path)
                )
            label = f"infer {card.name} on {benchmark}" + (f" ({CHAINED})" if args.chained else "")
            states = infer(
                engine,
                read_table(requests, Request),
                image_files(items) if engines.looks_at(engine, benchmark) else {},
                journal=journal,
                snapshot=snapshot,
                label=label,
                sampling=card.sampling_for(benchmark),
            )
            counts = ", ".join(f"{n:,} {state}" for state, n in sorted(states.items()))
            say(f"{label}: {counts}")


if __name__ == "__main__":
    main()
