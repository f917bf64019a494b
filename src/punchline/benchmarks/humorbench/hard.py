"""HumorBench's hard subset: what models pass least often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from punchline.bench.table import Graded
from punchline.benchmarks.humorbench.estimates import Items, judged
from punchline.core.records import Gold

HARD = 100  # elements, or captions, of the hard subset
LEAST_ATTEMPTS = 3  # runs that must have been judged for an element to be ranked


@dataclass(frozen=True)
class _Ranked:
    """An element, or a caption, with the share of verdicts on it that are PASS."""

    name: str
    share: float
    attempts: int


def hardest(
    models: Sequence[Graded], items: Items, golds: Mapping[str, Gold], definition: str
) -> frozenset[str] | None:
    """Item ids of the hard subset over the runs at hand; None where too little was judged.

    `elements`: the 100 (caption, element) pairs with the lowest pass share among those with at least 3 verdicts, in
    stable order (the public leaderboard's). `captions`: all elements of the 100 captions with the lowest share of
    passed verdicts, each with at least 3 (what the paper's table 4 fits).
    """
    passes: dict[str, list[float]] = {}
    member: dict[str, set[str]] = {}
    for item_id, item in items.items():  # released order
        pair = item.cluster if definition == "captions" else f"{item.cluster}\0{golds[item_id].values['element']}"
        passes.setdefault(pair, [])
        member.setdefault(pair, set()).add(item_id)
    name_of = {item_id: name for name, ids in member.items() for item_id in ids}
    for model in models:
        for grade in judged(model.grades):
            passes[name_of[grade.item_id]].append(grade.values["passed"])
    ranked = [_Ranked(name, sum(p) / len(p), len(p)) for name, p in passes.items() if len(p) >= LEAST_ATTEMPTS]
    if not ranked:
        return None
    ranked.sort(key=lambda one: one.share)
    return frozenset(item_id for one in ranked[:HARD] for item_id in member[one.name])
