"""Questions about a strip, and the pictures that they show."""

from __future__ import annotations

from punchline.benchmarks.stripcipher import ASKED, MEANING, REVIEWED, ROW, SEQUENCE, SHUFFLED
from punchline.benchmarks.stripcipher.options import options
from punchline.benchmarks.task import Task
from punchline.comics import frames
from punchline.schema import Item


def pictures_by_task(item: Item, condition: str) -> dict[Task, tuple[str, ...]]:
    """By task, the names of the pictures that an item is asked with in a condition."""
    n = int(str(item.fields["frames"]))
    in_sequence = tuple(f"frame{number}" for number in range(1, n + 1))
    shuffled = tuple(in_sequence[place] for place in frames.shown_order(n, item.item_id))
    in_row = condition == ROW
    pictures: dict[str, tuple[str, ...]] = {
        "prediction": ("row_masked",) if in_row else (*in_sequence[:-2], "masked", in_sequence[-1]),
        "comprehension": {SEQUENCE: in_sequence, SHUFFLED: shuffled}.get(condition, ("page",)),
    }
    return {
        task: pictures.get(task.name, ("row_shuffled",) if in_row else shuffled)
        for task in ASKED
        if task.condition == condition
        and (task.name not in REVIEWED or any(options(item, task.name, condition).values()))
        and (condition != MEANING or "meaning" in item.fields)
    }
