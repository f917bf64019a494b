"""Consolidation of annotators' votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

Label = TypeVar("Label", bound=Hashable)


def consolidate(
    votes: Sequence[Sequence[Label]], experts: Sequence[Sequence[Label]] = (), *, several: bool = False
) -> tuple[Label, ...]:
    """One answer out of many annotators' votes, as PixelHumor's labels were made (Ryan et al. 2025, section 3.2).

    `votes` and `experts`: one sequence of labels for each annotator, in the annotators' order; empty where one gave no
    answer. Labels are counted one by one. Where no label has two votes, the experts' votes are added. With `several`
    every label with at least two votes is kept, else all labels tied at the maximum. Labels come in the order in which
    they were first voted for; () where nothing is kept.
    """
    counts = Counter(label for vote in votes for label in vote)
    if max(counts.values(), default=0) <= 1:
        counts.update(label for vote in experts for label in vote)
    least = 2 if several else max(counts.values(), default=0)
    return tuple(label for label, count in counts.items() if count >= least)
