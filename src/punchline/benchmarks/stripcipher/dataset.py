"""StripCipher's tables of the strips themselves: tables 1 and 3, figure 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from punchline.benchmarks.stripcipher import REVIEWED, STRIPS
from punchline.benchmarks.stripcipher.strips import CATEGORIES, Strip, choices, strips_of
from punchline.core.benchmark import Files
from punchline.stats.estimate import EXACT, POSITIVE, Array, Estimate, Kind, Value, mean, percent, total
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table

NOT_THEIRS = "Strips and reviewed texts are not the authors', who released none: ours do not compare with the paper's."


def _estimate(
    strips: Sequence[Strip], sums: Sequence[Sequence[float]], value: Value, kind: Kind | None = None
) -> Estimate:
    return Estimate(np.array(sums, dtype=np.float64), value, [strip.item_id for strip in strips], kind=kind)


def _kinds(columns: Array) -> Array:
    return np.asarray((columns > 0).sum(axis=-1), dtype=np.float64)


def _counts(strips: Sequence[Strip], names: Sequence[str], kind: Kind | None = None) -> dict[str, Estimate]:
    """Numbers of strips, of frames and of categories that some strip has, under these names."""
    categories = [[strip.reviewed.category == category for category in CATEGORIES] for strip in strips]
    counts = (
        _estimate(strips, [[1.0] for _ in strips], total, kind),
        _estimate(strips, [[strip.frames] for strip in strips], total, kind),
        _estimate(strips, categories, _kinds, kind),
    )
    return dict(zip(names, counts, strict=True))


def _length(strip: Strip, task: str) -> tuple[float, float]:
    """(words in all options, options); for reordering (frames, 1): its options are sequences."""
    if task == "reordering":
        return float(strip.frames), 1.0
    options = choices(strip)[task].options
    return float(sum(len(option.split()) for option in options)), float(len(options))


def _size(files: Files) -> Iterator[Row]:
    strips = list(strips_of(files).values())
    if strips:
        yield Row(model="strips", **_counts(strips, ("sequences", "frames", "categories"))).set(complete=False)


def _by_task(files: Files) -> Iterator[Row]:
    every = list(strips_of(files).values())
    for task in (*REVIEWED, "reordering"):
        strips = [strip for strip in every if task == "reordering" or task in choices(strip)]
        if strips:
            length = _estimate(strips, [_length(strip, task) for strip in strips], mean, POSITIVE)
            counts = _counts(strips, ("examples", "frames", "types"), EXACT)
            yield Row(model="strips", task=task, length=length, **counts).set(complete=False)


def _by_category(files: Files) -> Iterator[Row]:
    strips = [strip for strip in strips_of(files).values() if strip.reviewed.category is not None]
    for category in CATEGORIES if strips else ():
        flags = [[float(strip.reviewed.category == category), 1.0] for strip in strips]
        share, count = _estimate(strips, flags, percent), _estimate(strips, [flag[:1] for flag in flags], total)
        yield Row(model="strips", category=category, strips=count, percent=share).set(complete=False)


size = Table(
    "table1",
    "StripCipher table 1: its own row",
    data=_size,
    columns=("frames", "sequences", "categories"),
    counts=("frames", "sequences", "categories"),
    files=(STRIPS,),
    n_from="sequences",
    notes=("The other rows are other datasets.", NOT_THEIRS),
)
tasks = Table(
    "table3",
    "StripCipher table 3: the strips",
    data=_by_task,
    columns=("examples", "length", "frames", "types"),
    keys=("task",),
    counts=("examples", "frames", "types"),
    files=(STRIPS,),
    n_from="examples",
    notes=("length: words of an option; frames of a strip for reordering.", NOT_THEIRS),
)
categories = Table(
    "figure5",
    "StripCipher figure 5: categories of the strips",
    data=_by_category,
    columns=("strips", "percent"),
    keys=("category",),
    counts=("strips",),
    percents=("percent",),
    chart=Chart(("percent",), by="category"),
    files=(STRIPS,),
    notes=("The paper prints no number of this figure. Strips without a category are left out.",),
)
