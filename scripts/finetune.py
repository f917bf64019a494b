"""Train an adapter, or go on where a stopped training was."""

from __future__ import annotations

import argparse
import json

import msgspec

from punchline.core.errors import entry_point
from punchline.core.progress import say
from punchline.core.records import Gold, Item, ModelCard
from punchline.core.storage import read_records
from punchline.stages.finetune import Recipe, train


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", required=True, type=json.loads)
    parser.add_argument("--base", required=True, type=json.loads, help="card of the model that is trained")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--items", required=True)
    parser.add_argument("--gold", required=True)
    args = parser.parse_args()
    recipe = msgspec.convert(args.recipe, Recipe)
    made = train(
        recipe,
        msgspec.convert(args.base, ModelCard),
        read_records(args.items, Item),
        read_records(args.gold, Gold),
        corpus=args.corpus,
    )
    say(f"finetune {recipe.name}: trained on {len(made.trained):,} items, {len(made.held_out):,} held out")
    for reason, count in made.left_out.items():
        say(f"finetune {recipe.name}: {count:,} examples left out: {reason}")


if __name__ == "__main__":
    main()
