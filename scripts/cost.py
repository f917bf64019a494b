"""What the answers of the selection have cost: tokens as the engines counted them, times the cards' prices."""

from __future__ import annotations

import argparse
import json

import msgspec

from punchline.core.errors import entry_point
from punchline.core.records import ModelCard, Response
from punchline.core.storage import csv_text, read_table, write_text
from punchline.stages import cost


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asked", required=True, type=json.loads, help="[[benchmark, model, hop, card, snapshot], …]")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    rows = [
        cost.cost_row(benchmark, model, hop, msgspec.convert(card, ModelCard), read_table(snapshot, Response))
        for benchmark, model, hop, card, snapshot in args.asked
    ]
    write_text(args.out, csv_text(cost.COST, rows))


if __name__ == "__main__":
    main()
