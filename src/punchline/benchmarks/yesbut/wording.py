"""YesBut's prompts as baselines read them that count words or repeat them."""

from __future__ import annotations

import re


def echo(prompt: str) -> None:
    """Nothing: no prompt of YesBut's tells what is in the picture that it asks about."""


def compared(prompt: str) -> tuple[str, str] | None:
    """(reference, candidate) of a judge's prompt; None for another.

    In one of the two prompts the candidate stands before the reference, in the other after it. What a candidate says is
    never taken for the reference.
    """
    _, marker, rest = prompt.partition("- Candidate literal description:")
    candidate, _, reference = rest.rpartition("- Reference literal description:")
    reference = re.split("\nUsing a scale|\nTask:", reference, maxsplit=1)[0]
    if not marker:
        _, marker, rest = prompt.partition("- The reference contradiction illustration:")
        reference, _, candidate = rest.partition("- The generated contradiction illustration:")
        candidate = candidate.rpartition("\nPlease directly")[0]
    return (reference, candidate) if marker else None


def verdict(share: float, threshold: float) -> str:
    """A score of 1 to 5 by the share; there is no threshold in it."""
    return f"Rating: [[{1 + round(4 * share)}]]"
