"""A judge answers what it has not answered yet, about all models and benchmarks; released verdicts are looked up."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from contextlib import ExitStack, closing

import msgspec

from punchline import engines
from punchline.errors import entry_point
from punchline.infer import answer
from punchline.judging import RELEASED, by_journal
from punchline.progress import say
from punchline.records import ModelCard, Request, Response
from punchline.storage import read_table, write_table


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", required=True, help=f"its name, or {RELEASED}")
    parser.add_argument("--cards", required=True, type=json.loads, help="{model: card} of who answers")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--pairs", required=True, nargs="+", help="benchmark:model whose answers are judged")
    args = parser.parse_args()
    by_benchmark: dict[str, list[str]] = {}
    for pair in args.pairs:
        benchmark, _, model = pair.partition(":")
        by_benchmark.setdefault(benchmark, []).append(model)
    cards = {name: msgspec.convert(card, ModelCard) for name, card in args.cards.items()}
    with ExitStack() as opened:  # each engine serves all benchmarks: one start a judge
        made = {name: opened.enter_context(closing(engines.load(card, args.seed))) for name, card in cards.items()}
        for benchmark, models in by_benchmark.items():
            requests = {m: read_table(f"data/requests/{benchmark}/judge/{m}.parquet", Request) for m in models}
            answers: dict[str, dict[str, Response]] = {model: {} for model in models}
            # A judge is asked about all models in one go; released verdicts come model by model, each from its file.
            groups = {model: [model] for model in models} if args.judge == RELEASED else {args.judge: models}
            for who, judged in groups.items():
                asked = {request.request_id: request for model in judged for request in requests[model]}
                for journal, part in by_journal(args.judge, made[who], list(asked.values())).items():
                    found = answer(
                        made[who],
                        part,
                        {},
                        journal=f"data/responses/{benchmark}/judge/{journal}.jsonl",
                        label=f"judge {journal} on {benchmark}" + (f" of {who}" if args.judge == RELEASED else ""),
                        sampling=cards[who].sampling_for(benchmark),
                    )
                    for model in judged:
                        answers[model] |= {response.request_id: response for response in found}
            for model in models:
                snapshot = [answers[model][request.request_id] for request in requests[model]]
                write_table(f"data/responses/{benchmark}/judge/{model}.parquet", snapshot, Response)
                states = Counter(response.state for response in snapshot)
                counts = ", ".join(f"{n:,} {state}" for state, n in sorted(states.items()))
                say(f"judge {args.judge} on {benchmark} of {model}: {counts or 'nothing to judge'}")


if __name__ == "__main__":
    main()
