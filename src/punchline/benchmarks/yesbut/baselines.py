"""Right options of YesBut, for shortcuts."""

from __future__ import annotations

from punchline.benchmarks.yesbut import OPTIONS
from punchline.schema import Gold, Rule


def closed_answers(gold: Gold, rule: Rule) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The letter of each question's right option."""
    return {task: (gold.values[task.rpartition("_")[0]], ()) for task in OPTIONS}
