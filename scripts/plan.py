"""What the selection has still to ask: requests, images, tokens, money. Nothing is asked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.errors import entry_point
from punchline.core.journal import Key, parse_journal
from punchline.core.records import Gold, Item, ModelCard, Request, Response
from punchline.core.storage import csv_text, read_records, read_table, write_text
from punchline.project.hops import CHAINED, JUDGE, journal_path
from punchline.stages import cost
from punchline.stages.ask import ask_hop
from punchline.stages.infer import has_all_images

ESTIMATED = "estimated from the questions: the answers are not there yet"


def answered(benchmark: str, hop: str, stem: str) -> dict[Key, Response]:
    """What a hop's journal holds."""
    journal = Path(journal_path(benchmark, hop, stem))
    return parse_journal(journal.read_bytes(), file=journal)[0] if journal.is_file() else {}


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmarks", required=True, nargs="+")
    parser.add_argument("--cards", required=True, type=json.loads, help="{model: card}")
    parser.add_argument("--hops", required=True, type=json.loads, help="{benchmark:model: {hop: card of who answers}}")
    parser.add_argument("--conditions", required=True, nargs="+")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    cards = {name: msgspec.convert(card, ModelCard) for name, card in args.cards.items()}
    golds_of = {name: read_records(f"data/items/{name}/gold.jsonl", Gold) for name in args.benchmarks}
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
            asked, said = list(requests), [known.get((r.request_id, key)) for r in requests]
            for hop, who in args.hops.get(f"{benchmark}:{name}", {}).items():
                by = msgspec.convert(who, ModelCard)
                answers = engines.load(by, args.seed)
                key = engines.model_key(answers, by.sampling_for(benchmark))
                if to_ask or any(answer is None for answer in said):
                    made, open_, note = to_ask, to_ask, ESTIMATED
                    if hop != JUDGE:  # how many these will be is not known
                        made, open_, note = [], [], "hangs on answers that are not there yet"
                else:
                    module, items_, golds = benchmarks.load(benchmark), items, golds_of[benchmark]
                    given = [answer for answer in said if answer is not None]
                    made = ask_hop(module, hop, items_, golds, asked, given, args.conditions)
                    found = answered(benchmark, hop, name if hop == CHAINED else by.name)
                    open_ = [r for r in made if (a := found.get((r.request_id, key))) is None or a.state == "failed"]
                    note = ""
                    if hop == CHAINED:
                        asked, said = [*asked, *made], [*said, *(found.get((r.request_id, key)) for r in made)]
                most = {r.request_id: int(engines.parameters(by, r)["max_tokens"] or 0) for r in open_}
                if note == ESTIMATED:  # one question each, with an answer of usual length
                    most = {r.request_id: int(by.sampling_for(benchmark).get("max_tokens") or 1024) for r in open_}
                shown = images if hop == CHAINED else {}
                rows.append(cost.plan_row(benchmark, name, hop, by, made, open_, shown, most, note))
    write_text(args.out, csv_text(cost.PLAN, rows))


if __name__ == "__main__":
    main()
