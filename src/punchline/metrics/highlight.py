"""Overlap of two sets of words."""

from __future__ import annotations


def overlap(candidate: tuple[str, ...], reference: tuple[str, ...]) -> dict[str, float]:
    """{jaccard, precision, recall: share of words}; {} where either set is empty."""
    ours, theirs = set(candidate), set(reference)
    if not ours or not theirs:
        return {}
    both = len(ours & theirs)
    return {"jaccard": both / len(ours | theirs), "precision": both / len(ours), "recall": both / len(theirs)}
