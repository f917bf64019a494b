"""What the selection has still to ask: requests, images, tokens, money. Nothing is asked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from punchline import cost, engines
from punchline.errors import entry_point
from punchline.infer import has_all_images
from punchline.journal import parse_journal
from punchline.records import Item, ModelCard, Request
from punchline.storage import csv_text, read_records, read_table, write_text


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", required=True, nargs="+")
    parser.add_argument("--cards", required=True, type=json.loads, help="{model: card}")
    parser.add_argument("--judges", required=True, type=json.loads, help="{benchmark:model: {hop: card}}")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    cards = {name: msgspec.convert(card, ModelCard) for name, card in args.cards.items()}
    rows = []
    for benchmark in args.benchmarks:
        items = read_records(f"data/items/{benchmark}/items.jsonl", Item)
        images = {image.sha256: image for item in items for image in item.images}
        requests = read_table(f"data/requests/{benchmark}.parquet", Request)
        for name, card in cards.items():
            engine = engines.load(card, args.seed)
            key = engines.model_key(engine, card.sampling_for(benchmark))
            journal = Path(f"data/responses/{benchmark}/{name}.jsonl")
            known, _ = parse_journal(journal.read_bytes(), file=journal) if journal.is_file() else ({}, 0)
            to_ask = [
                r
                for r in requests
                if ((a := known.get((r.request_id, key))) is None or a.state == "failed")
                and (has_all_images(r) or not engines.looks_at(engine, benchmark))
            ]
            most = {r.request_id: int(engines.parameters(card, r)["max_tokens"] or 0) for r in to_ask}
            why = engine.unavailable()
            note = f"cannot run here: {why}" if why else ""
            rows.append(cost.plan_row(benchmark, name, "answer", card, requests, to_ask, images, most, note))
            for hop, who in args.judges.get(f"{benchmark}:{name}", {}).items():
                # What a judge will be asked hangs on answers that are not there yet: one question each, twice as long.
                judge_card = msgspec.convert(who, ModelCard)
                most = {r.request_id: int(judge_card.sampling_for(benchmark).get("max_tokens") or 1024) for r in to_ask}
                note = "estimated from the questions: the answers are not there yet"
                row = cost.plan_row(benchmark, name, hop, judge_card, to_ask, to_ask, {}, most, note)
                rows.append(row)
    write_text(args.out, csv_text(cost.PLAN, rows))


if __name__ == "__main__":
    main()
