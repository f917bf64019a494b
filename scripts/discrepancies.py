"""Where the two scoring rules give different values on the same answers."""

from __future__ import annotations

import argparse

from punchline.bench.table import DISCREPANCIES, Graded, discrepancies
from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.records import Gold, Grade, Item
from punchline.core.storage import csv_text, read_records, read_table, write_text
from punchline.project.selection import read_card
from punchline.stages.tabulate import kind_of


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", required=True, nargs="+")
    parser.add_argument("--models", required=True, nargs="+")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    rows = []
    for name in args.benchmarks:
        golds = {gold.item_id: gold for gold in read_records(f"data/items/{name}/gold.jsonl", Gold)}
        items = {item.item_id: item for item in read_records(f"data/items/{name}/items.jsonl", Item)}
        for model in args.models:
            card = read_card(model)
            grades = read_table(f"results/{name}/grades/{model}.parquet", Grade)
            graded = Graded(model, kind_of(card), card.engine, grades)
            for table in benchmarks.load(name).TABLES.values():
                rows += discrepancies(name, table, graded, golds, items)
    write_text(args.out, csv_text(DISCREPANCIES, rows))


if __name__ == "__main__":
    main()
