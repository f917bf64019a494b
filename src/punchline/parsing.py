"""`punchline.parse`: what an answer says, read by the code that scoring reads it with."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from string import ascii_uppercase
from typing import Any

from punchline.core import benchmark as benchmarks
from punchline.errors import nearest
from punchline.schema import RULES


def parse(
    benchmark: str,
    task: str,
    text: str,
    rule: str = "paper",
    options: Mapping[str, str] | Iterable[str] | None = None,
    labels: Iterable[str | int] | None = None,
    size: tuple[int, int] | None = None,
) -> Any:
    """The value that an answer commits itself to, or None where it commits itself to none.

    Letters, labels, names and written texts are str, panel numbers int, scores float; several of them a list; boxes
    lists [top, left, height, width] in shares of the image; texts of panels, and a joint answer, dicts.
    `options`: the option texts as shown, in order, or {letter: text}. `labels`: the numbers of the comic's panels or
    frames. `size`: the image's (width, height), for boxes in pixels. Raises ValueError for an unknown benchmark, task
    or rule, and where the task needs options or labels.
    """
    if benchmark not in benchmarks.names():
        raise ValueError(f"no benchmark {benchmark!r}. {nearest(benchmark, benchmarks.names())}")
    reader = importlib.import_module(benchmarks.module_of(benchmark, "answers"))
    if not hasattr(reader, "NEEDS"):
        raise ValueError(f"{benchmark} defines no parse(task, text, rule, options, labels, size) and no NEEDS")
    tasks = tuple(dict.fromkeys((*benchmarks.load(benchmark).TASKS, *reader.NEEDS)))
    if task not in tasks:
        raise ValueError(f"{benchmark} has no task {task!r}. {nearest(task, tasks)}")
    if rule not in RULES:
        raise ValueError(f"no rule {rule!r}. {nearest(rule, RULES)}")
    if reader.NEEDS.get(task) == "options" and not options:
        raise ValueError(f"task {task} of {benchmark} needs options: the texts of the options as shown, in order")
    if reader.NEEDS.get(task) == "labels" and not labels:
        raise ValueError(f"task {task} of {benchmark} needs labels: the numbers of the panels, such as [1, 2, 3]")
    by_letter = options if isinstance(options, Mapping) else dict(zip(ascii_uppercase, options or (), strict=False))
    numbers = [str(label) for label in labels or ()]
    value = reader.parse(task, text, rule, options=by_letter, labels=numbers, size=size)
    return json.loads(json.dumps(value))  # lists in place of tuples
