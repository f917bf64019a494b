"""Agreement of annotators: consolidation of votes, plain agreement, Krippendorff's alpha."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

import numpy as np

from punchline.stats.estimate import Array, ratio

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


def nominal_statistics(pairs: Sequence[tuple[Hashable, Hashable]]) -> Array:
    """Statistics [n, 1 + k] of n units labelled by two annotators with k labels in all, for `nominal_alpha`.

    Column 0 is twice the agreement of the unit, the others count its labels: the diagonal and the margins of the
    coincidence matrix (Krippendorff 2004, chapter 11), summed over units, are all that the nominal alpha needs.
    """
    labels = dict.fromkeys(itertools.chain.from_iterable(pairs))
    rows = [(2 * (first == second), *map((first, second).count, labels)) for first, second in pairs]
    return np.array(rows, np.float64).reshape(len(pairs), 1 + len(labels))


def binary_statistics(
    pairs: Sequence[tuple[Collection[Hashable], Collection[Hashable]]], labels: Sequence[Hashable]
) -> Array:
    """Statistics [n, 3] for `nominal_alpha` of n units to which two annotators gave any number of `labels`.

    Each label of each unit is a yes-or-no question of its own; all of them are pooled into one alpha.
    """
    given = np.array([[[label in one for label in labels] for one in pair] for pair in pairs], np.bool_)
    first, second = np.moveaxis(given.reshape(len(pairs), 2, len(labels)), 1, 0)
    agreeing, yes = 2 * (first == second).sum(axis=1), first.sum(axis=1) + second.sum(axis=1)
    return np.stack([agreeing, yes, 2 * len(labels) - yes], axis=1).astype(np.float64)


def nominal_alpha(sums: Array) -> Array:
    """Krippendorff's alpha for two annotators and nominal labels from summed statistics [..., 1 + k]: values [...].

    1 - (n - 1) (n - sum_c o_cc) / (n^2 - sum_c n_c^2) (Krippendorff 2004, chapter 11); NaN where only one label, or
    none, was ever given. The package `krippendorff` computes the same from the single votes; sums
    can be added and left out.
    """
    agreeing, counts = sums[..., 0], sums[..., 1:]
    n = counts.sum(axis=-1)
    return 1 - ratio((n - 1) * (n - agreeing), n**2 - (counts**2).sum(axis=-1))
