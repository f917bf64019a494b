"""Benchmarks: one file each, pure functions only. A module here whose name holds no `_` is a benchmark."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from punchline.records import Gold, Grade, ImageRef, Item, Request, Response, Rule
from punchline.tables import Table

Files = Mapping[str, bytes]  # name of a raw file: its bytes


class Benchmark(Protocol):
    """What a benchmark's module defines."""

    NAME: str
    TASKS: tuple[str, ...]
    ITEM_FILES: tuple[str, ...]  # raw files that items are made of
    GOLD_FILES: tuple[str, ...]  # raw files that gold is made of
    TABLES: dict[str, Table]

    def comics(self, files: Files) -> list[tuple[str, str, str]]:
        """(item id, source, page URL) of every item, in released order."""
        ...

    def boxes(self, files: Files) -> dict[str, list[tuple[int, int, int, int, int]]]:
        """Panel boxes (x1, y1, x2, y2, label) of every item."""
        ...

    def items(self, files: Files, images: Mapping[str, ImageRef | str]) -> list[Item]:
        """Items of the keys of `images`: an image, or why there is none."""
        ...

    def golds(self, files: Files) -> list[Gold]:
        """What is right, for every item."""
        ...

    def requests(self, item: Item) -> list[Request]:
        """What models are asked about an item."""
        ...

    def grade_item(
        self, responses: Mapping[str, Response], item: Item, gold: Gold, model: str, rule: Rule
    ) -> Sequence[Grade]:
        """Grades of one model's answers (by task) on one item, under one rule."""
        ...

    def oddities(self, files: Files) -> list[str]:
        """What is odd in the released data and is tolerated."""
        ...


def load(name: str) -> Benchmark:
    """The benchmark of that name."""
    return cast(Benchmark, importlib.import_module(f"punchline.benchmarks.{name}"))
