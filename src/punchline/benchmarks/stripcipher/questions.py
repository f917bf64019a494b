"""Which questions are asked of a strip, and which pictures they show."""

from __future__ import annotations

from punchline.benchmarks.stripcipher import MEANING, REVIEWED, ROW, SEQUENCE, SHUFFLED
from punchline.comics import frames
from punchline.core.benchmark import DEFAULT
from punchline.core.records import Item


def asked(item: Item, condition: str) -> dict[str, tuple[str, ...]]:
    """By task, the names of the pictures that an item is asked with in a condition."""
    n = int(str(item.fields["frames"]))
    order = frames.shown_order(n, item.item_id)
    in_sequence = tuple(f"frame{number}" for number in range(1, n + 1))
    shuffled = tuple(in_sequence[place] for place in order)
    masked = (*in_sequence[:-2], "masked", in_sequence[-1])
    reviewed = [task for task in REVIEWED if f"{task}_A" in item.fields]
    found: dict[str, tuple[str, ...]] = {}
    if condition in (DEFAULT, ROW):
        one = condition == ROW
        if "prediction" in reviewed:
            found["prediction"] = ("row_masked",) if one else masked
        if "comprehension" in reviewed and not one:
            found["comprehension"] = ("page",)
        found["reordering_choice"] = found["reordering_generation"] = ("row_shuffled",) if one else shuffled
    elif condition in (SEQUENCE, SHUFFLED):
        if "comprehension" in reviewed:
            found["comprehension"] = in_sequence if condition == SEQUENCE else shuffled
    elif condition == MEANING and "meaning" in item.fields:
        found["reordering_choice"] = shuffled
    return found
