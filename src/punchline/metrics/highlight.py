"""Overlap of two sets of words."""

from __future__ import annotations

from typing import NamedTuple


class Overlap(NamedTuple):
    """Shares of words in 0..1."""

    jaccard: float
    precision: float  # of the candidate's words, those that the reference has
    recall: float  # of the reference's words, those that the candidate has


def overlap(candidate: tuple[str, ...], reference: tuple[str, ...]) -> Overlap | None:
    """Overlap of two sets of words; None where either is empty."""
    ours, theirs = set(candidate), set(reference)
    if not ours or not theirs:
        return None
    both = len(ours & theirs)
    return Overlap(both / len(ours | theirs), both / len(ours), both / len(theirs))
