"""StripCipher's tables of the strips themselves: tables 1 and 3, figure 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from punchline.benchmarks.stripcipher import REVIEWED, STRIPS
from punchline.benchmarks.stripcipher.strips import CATEGORIES, Strip, choices, strips_of
from punchline.core.benchmark import Files
from punchline.stats.estimate import EXACT, PERCENT, POSITIVE, Array, Estimate, Kind, mean, percent
from punchline.stats.functions import average, count
from punchline.tables.declare import Row, table


def _number(columns: Array) -> Array:
    return np.asarray((columns > 0).sum(axis=-1), dtype=np.float64)


def _counts(strips: Sequence[Strip], kind: Kind | None = None) -> tuple[Estimate, Estimate, Estimate]:
    """Numbers of strips, of frames, and of categories that some strip has."""
    ids = [strip.item_id for strip in strips]
    categories = np.array([[strip.reviewed.category == category for category in CATEGORIES] for strip in strips])
    frames = count([strip.frames for strip in strips], ids, kind)
    return count([1] * len(ids), ids, kind), frames, Estimate(categories, _number, ids, kind=kind)


@table("table1", of="data", files=(STRIPS,))
def size(files: Files) -> Iterator[Row]:
    if strips := list(strips_of(files).values()):
        sequences, frames, categories = _counts(strips)
        yield Row(model="strips", frames=frames, sequences=sequences, categories=categories).set(complete=False)


def _length(strip: Strip, task: str) -> tuple[int, int]:
    """(words in all options, options); for reordering (frames, 1): its options are sequences."""
    if task == "reordering":
        return strip.frames, 1
    options = choices(strip)[task].options
    return sum(len(option.split()) for option in options), len(options)


@table("table3", of="data", files=(STRIPS,))
def by_task(files: Files) -> Iterator[Row]:
    for task in (*REVIEWED, "reordering"):
        strips = [strip for strip in strips_of(files).values() if task == "reordering" or task in choices(strip)]
        if strips:
            examples, frames, types = _counts(strips, EXACT)
            sums = np.array([_length(strip, task) for strip in strips])
            length = Estimate(sums, mean, [strip.item_id for strip in strips], kind=POSITIVE)
            row = Row(model="strips", task=task, examples=examples, length=length, frames=frames, types=types)
            yield row.set(complete=False)


@table("figure5", of="data", files=(STRIPS,))
def categories(files: Files) -> Iterator[Row]:
    known = pd.Series({strip.item_id: strip.reviewed.category for strip in strips_of(files).values()}).dropna()
    for category in CATEGORIES if len(known) else ():
        flags = known == category
        share = replace(average(flags, flags.index, PERCENT), value=percent)
        row = Row(model="strips", category=category, strips=count(flags, flags.index), percent=share)
        yield row.set(complete=False)
