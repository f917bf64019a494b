"""One model answers what it has not answered yet, over all selected benchmarks."""

from __future__ import annotations

import argparse
import json

from punchline import engines
from punchline.errors import entry_point
from punchline.infer import image_files, infer
from punchline.progress import say
from punchline.records import Item, ModelCard, Request
from punchline.storage import read_records, read_table


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--card", required=True, type=json.loads)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--benchmarks", required=True, nargs="+")
    args = parser.parse_args()
    engine = engines.load(ModelCard(name=args.model, engine=args.card.pop("engine"), options=args.card), args.seed)
    for benchmark in args.benchmarks:
        items = read_records(f"data/items/{benchmark}/items.jsonl", Item)
        states = infer(
            engine,
            read_table(f"data/requests/{benchmark}.parquet", Request),
            image_files(items) if engine.needs_images else {},
            journal=f"data/responses/{benchmark}/{args.model}.jsonl",
            snapshot=f"data/responses/{benchmark}/{args.model}.parquet",
            label=f"infer {args.model} on {benchmark}",
        )
        say(f"infer {args.model} on {benchmark}: " + ", ".join(f"{n:,} {state}" for state, n in sorted(states.items())))


if __name__ == "__main__":
    main()
