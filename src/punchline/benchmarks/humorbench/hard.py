"""HumorBench's hard subset: what models pass least often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punchline.bench.frame import Flags, Scope
from punchline.bench.table import Model
from punchline.benchmarks.humorbench.estimates import judged
from punchline.benchmarks.humorbench.texts import row_in, rows_of
from punchline.core.storage import parse_csv

HARD = 100  # elements, or captions, of the hard subset
RELEASED = "cc99276/analysis/hard_subsets/20250503_112359_hard_elements_100.csv"  # of the released runs' manifest
LEAST_ATTEMPTS = 3  # runs that must have been judged for an element to be ranked


def hardest(models: Sequence[Model], scope: Scope, definition: str) -> Flags | None:
    """The hard subset over the runs at hand; None where too little was judged.

    `elements`: the 100 (caption, element) pairs with the lowest pass share among those with at least 3 verdicts, in
    stable order (the public leaderboard's). `captions`: all elements of the 100 captions with the lowest share of
    passed verdicts, each with at least 3 (what the paper's table 4 fits).
    """
    units: dict[tuple[str, str], int] = {}  # in released order
    of = np.zeros(len(scope), dtype=np.int64)
    for place, (name, item) in enumerate(scope.items.items()):
        element = "" if definition == "captions" else str(scope.golds[name].values["element"])
        of[place] = units.setdefault((item.cluster, element), len(units))
    passes, attempts = np.zeros(len(units)), np.zeros(len(units))
    for model in models:
        own = judged(model.frame)
        np.add.at(passes, of[own.item], own.value("passed"))
        np.add.at(attempts, of[own.item], 1.0)
    ranked = np.flatnonzero(attempts >= LEAST_ATTEMPTS)
    if not len(ranked):
        return None
    hard = ranked[np.argsort(passes[ranked] / attempts[ranked], kind="stable")][:HARD]
    return np.asarray(np.isin(of, hard), dtype=np.bool_)


def released_subset(content: bytes, annotations: bytes, scope: Scope) -> Flags:
    """The elements that the released hard subset has."""
    rows = rows_of(annotations)
    hard = {row_in(rows, cells) for _, cells in parse_csv(content, ("caption", "element"), file=RELEASED)}
    return np.array([name in hard for name in scope.names], dtype=np.bool_)


def whole(models: Sequence[Model], scope: Scope) -> bool:
    """Whether the hard subset is chosen from every element."""
    verdicts = sum(
        (np.bincount(judged(model.frame).item, minlength=len(scope)) for model in models),
        np.zeros(len(scope), dtype=np.int64),
    )
    return bool((verdicts >= LEAST_ATTEMPTS).all())
