"""A judge or a scorer answers what it has not answered yet, about all models; released verdicts are looked up."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from contextlib import ExitStack, closing

import msgspec

from punchline.core import engine as engines
from punchline.core.errors import entry_point
from punchline.core.progress import say
from punchline.core.records import ModelCard, Request, Response
from punchline.core.storage import read_table, write_table
from punchline.project.hops import RELEASED, by_journal, journal_path, requests_path, snapshot_path
from punchline.stages.infer import answer


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", required=True, help=f"a card of config/judge/, or {RELEASED}")
    parser.add_argument("--cards", required=True, type=json.loads, help="{model: card} of who answers")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--about", required=True, nargs="+", help="benchmark:hop:model whose answers it is asked about")
    args = parser.parse_args()
    rounds: dict[tuple[str, str], list[str]] = {}
    for about in args.about:
        benchmark, hop, model = about.split(":", 2)
        rounds.setdefault((benchmark, hop), []).append(model)
    cards = {name: msgspec.convert(card, ModelCard) for name, card in args.cards.items()}
    with ExitStack() as opened:  # each engine serves all benchmarks: one start, one loading of weights
        made = {name: opened.enter_context(closing(engines.load(card, args.seed))) for name, card in cards.items()}
        for (benchmark, hop), models in rounds.items():
            requests = {model: read_table(requests_path(benchmark, hop, model), Request) for model in models}
            answers: dict[str, dict[str, Response]] = {model: {} for model in models}
            # One is asked about all models in one go; released verdicts come model by model, each from its file.
            groups = {model: [model] for model in models} if args.who == RELEASED else {args.who: models}
            for who, judged in groups.items():
                asked = {request.request_id: request for model in judged for request in requests[model]}
                for stem, part in by_journal(args.who, made[who], list(asked.values())).items():
                    found = answer(
                        made[who],
                        part,
                        {},
                        journal=journal_path(benchmark, hop, stem),
                        label=f"{hop} {stem} on {benchmark}" + (f" of {who}" if args.who == RELEASED else ""),
                        sampling=cards[who].sampling_for(benchmark),
                    )
                    for model in judged:
                        answers[model] |= {response.request_id: response for response in found}
            for model in models:
                snapshot = [answers[model][request.request_id] for request in requests[model]]
                write_table(snapshot_path(benchmark, hop, model), snapshot, Response)
                states = Counter(response.state for response in snapshot)
                counts = ", ".join(f"{n:,} {state}" for state, n in sorted(states.items()))
                say(f"{hop} {args.who} on {benchmark} of {model}: {counts or 'nothing to answer'}")


if __name__ == "__main__":
    main()
