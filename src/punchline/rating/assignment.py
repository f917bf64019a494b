"""Seeded draws of a study: items, raters of each unit, orders."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from punchline.grouping import grouped

T = TypeVar("T")


def drawing_order(sources: Mapping[str, str], seed: int) -> list[str]:
    """The ids of {item id: source} in a seeded order, from all sources equally as far as possible."""
    by_source = grouped(sorted(sources), sources.__getitem__)
    draw = random.Random(f"items/{seed}")
    queues = [draw.sample(items, len(items)) for _, items in sorted(by_source.items())]
    return [item for items in itertools.zip_longest(*map(reversed, queues)) for item in items if item is not None]


def assigned(groups: Sequence[str], raters: int, overlap: int, seed: int) -> list[list[int]]:
    """By rater, the indices of their units, each in an order of its own.

    `groups`: of each unit the group to balance by, such as the source of its text. Every unit has `overlap` different
    raters; raters differ by at most 1 in their number of units and by at most 2 in those of one group.
    """
    draw = random.Random(f"raters/{seed}")
    order = list(range(len(groups)))
    draw.shuffle(order)
    order.sort(key=lambda unit: groups[unit])
    units_of_rater: list[list[int]] = [[] for _ in range(raters)]
    for unit in order:
        for rater in sorted(range(raters), key=lambda rater: (len(units_of_rater[rater]), draw.random()))[:overlap]:
            units_of_rater[rater].append(unit)
    for units in units_of_rater:
        draw.shuffle(units)
    return units_of_rater


def with_checks(units: Sequence[T], checks: Sequence[T], rater: str, seed: int) -> list[T]:
    """A rater's units with attention checks at drawn places, one in each of as many equal stretches."""
    draw = random.Random(f"checks/{rater}/{seed}")
    sequence: list[T] = []
    for number, check in enumerate(checks):
        stretch = list(units[number * len(units) // len(checks) : (number + 1) * len(units) // len(checks)])
        stretch.insert(draw.randint(0, len(stretch)), check)
        sequence += stretch
    return sequence if checks else list(units)
