"""Benchmarks: one file each, pure functions only. A module here whose name holds no `_` is a benchmark."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, cast

from punchline.records import Gold, Grade, ImageRef, Item, Request, Response, Rule
from punchline.tables import Table

Files = Mapping[str, bytes]  # name of a raw file: its bytes


class Verdict(NamedTuple):
    """What a judge said."""

    judge: str  # its name: a card of config/judge/, or who judged a released answer
    response: Response


class Benchmark(Protocol):
    """What a benchmark's module defines."""

    NAME: str
    TASKS: tuple[str, ...]
    IMAGES: bool  # whether its items have images
    JUDGED: bool  # whether answers go to a judge before they are graded
    ITEM_FILES: tuple[str, ...]  # raw files that items are made of
    GOLD_FILES: tuple[str, ...]  # raw files that gold is made of
    TABLES: dict[str, Table]

    def listing(self, files: Files) -> list[tuple[str, str, str]]:
        """(item id, source, page URL or "") of every item, in released order."""
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

    def oddities(self, files: Files) -> list[str]:
        """What is odd in the released data and is tolerated."""
        ...

    def grade_item(
        self,
        responses: Mapping[str, Response],
        item: Item,
        gold: Gold,
        model: str,
        rule: Rule,
        verdicts: Mapping[str, Verdict] | None = None,
    ) -> Sequence[Grade]:
        """Grades of one model's answers (by task) on one item, under one rule.

        `verdicts`, where JUDGED: by id of the judge's request; None when no judge was asked.
        """
        ...


class Illustrated(Protocol):
    """What a benchmark with IMAGES defines besides."""

    def boxes(self, files: Files) -> dict[str, list[tuple[int, int, int, int, int]]]:
        """Panel boxes (x1, y1, x2, y2, label) of every item."""
        ...


class Judged(Protocol):
    """What a benchmark that is JUDGED defines besides."""

    def judge_requests(self, item: Item, gold: Gold, responses: Mapping[str, Response]) -> list[Request]:
        """What a judge is asked about one model's answers (by task) on an item, under all rules, each request once."""
        ...


def load(name: str) -> Benchmark:
    """The benchmark of that name."""
    return cast(Benchmark, importlib.import_module(f"punchline.benchmarks.{name}"))


def illustrated(benchmark: Benchmark) -> Illustrated:
    """The same benchmark, one with IMAGES."""
    assert benchmark.IMAGES
    return cast(Illustrated, benchmark)


def judged(benchmark: Benchmark) -> Judged:
    """The same benchmark, one that is JUDGED."""
    assert benchmark.JUDGED
    return cast(Judged, benchmark)
