"""The similarity engine compared with scoring item by item on the same pairs and weights; gpu.py runs it.

Pairs are YesBut's released texts: caption and description, wrong morals and the moral, wrong titles and the title; then
those of three models, two of which answer alike. The loop loads its model once.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import msgspec  # noqa: E402
from tabulate import tabulate  # noqa: E402

from punchline.core.benchmark import comparison  # noqa: E402
from punchline.engines import similarity  # noqa: E402
from punchline.errors import PunchlineError  # noqa: E402
from punchline.schema import ModelCard  # noqa: E402

Pairs = list[tuple[str, str]]  # candidate, reference


def pairs_of(mirror: Path, items: int) -> Pairs:
    """Seven pairs an item."""
    result: Pairs = []
    for row in json.loads((mirror / "yesbut" / "Yesbut_data.json").read_bytes())[:items]:
        result.append((row["caption"], row["description"]))
        result += [(wrong, row["moral"]) for wrong in row["neg_moral"]]
        result += [(wrong, row["title"]) for wrong in row["neg_title"]]
    return result


def one_by_one(card: ModelCard, device: str) -> Callable[[Pairs], list[float]]:
    """The usual loop."""
    folder = str(similarity._local(card.options["id"]))
    if card.options["metric"] == "cosine":
        from sentence_transformers import SentenceTransformer, util

        model = SentenceTransformer(folder, device=device)
        return lambda pairs: [float(util.cos_sim(model.encode(c), model.encode(r))[0, 0]) for c, r in pairs]
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=folder, num_layers=card.options["layers"], lang="en", device=device)
    return lambda pairs: [float(scorer.score([c], [r])[1][0]) for c, r in pairs]


def compared(card: ModelCard, once: Pairs, rounds: int, device: str) -> list[tuple[Any, ...]]:
    """Rows of the table. Raises PunchlineError where the card's engine cannot run here."""
    engine = similarity.engine(msgspec.structs.replace(card, options={**card.options, "device": device}), 0)
    if reason := engine.unavailable():
        raise PunchlineError(reason)
    loop = one_by_one(card, device)

    def batched(pairs: Pairs) -> list[float]:
        requests = [comparison("yesbut", str(i), "cosine", "default", *pair) for i, pair in enumerate(pairs)]
        result = {r.request_id: float(str(r.text)) for r in engine.answer(requests, {}, "key")}
        return [result[request.request_id] for request in requests]

    batched(once[:7]), loop(once[:7])  # loaded and warm
    rows = []
    for what, pairs in (("each pair once", once), ("three models, two alike", once + once + [(r, c) for c, r in once])):
        seconds: dict[str, list[float]] = {"engine": [], "loop": []}
        cpu: dict[str, list[float]] = {"engine": [], "loop": []}
        values = {}
        for _ in range(rounds):
            for name, score in (("engine", batched), ("loop", loop)):
                start, start_cpu = time.perf_counter(), time.process_time()
                values[name] = score(pairs)
                seconds[name].append(time.perf_counter() - start)
                cpu[name].append(time.process_time() - start_cpu)
        apart = max(abs(a - b) for a, b in zip(values["engine"], values["loop"], strict=True))
        ours, theirs = (statistics.median(seconds[who]) for who in ("engine", "loop"))
        ratio_cpu = statistics.median(cpu["loop"]) / statistics.median(cpu["engine"])
        rows.append(
            (card.name, what, len(pairs), len(set(pairs)), ours, theirs, theirs / ours, ratio_cpu, f"{apart:.0e}")
        )
        print(*rows[-1], file=sys.stderr)
    engine.close()
    return rows


def table(rows: list[tuple[Any, ...]]) -> str:
    """As Markdown."""
    headers = ("card", "pairs", "n", "distinct", "engine s", "loop s", "ratio", "ratio of CPU s", "apart by at most")
    return tabulate(rows, headers, tablefmt="github", floatfmt=".1f", disable_numparse=[8])
