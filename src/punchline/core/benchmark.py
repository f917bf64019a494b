"""Benchmarks: one file each, pure functions only. A module here whose name holds no `_` is a benchmark."""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

from punchline.core.records import Gold, Grade, ImageRef, Item, Message, Request, Response, Rule, Sampling, Text

Files = Mapping[str, bytes]  # name of a raw file: its bytes


PUBLISHED = "the published image"  # how `pictures` calls it in errors; who calls knows its path
DEFAULT = "default"  # the condition that is always asked
FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
SCORERS = ("bertscore", "cosine")  # hops whose judge is a model that compares two texts


class Verdict(NamedTuple):
    """What a judge said, or a scorer measured."""

    judge: str  # its name: a card of config/judge/, or who judged a released answer
    response: Response


class Picture(NamedTuple):
    """One picture of an item as a model sees it."""

    name: str  # "" where an item has one only
    content: bytes
    suffix: str  # of its file: .png, .jpg
    width: int  # pixels
    height: int  # pixels
    derivation: dict[str, Any]  # what made it of the published image: boxes, font, library versions


class NoPicture(Exception):
    """A published image that no picture can be made of; the message is the reason that the item's ledger shows."""


class Benchmark(Protocol):
    """What a benchmark's module defines."""

    NAME: str
    TASKS: tuple[str, ...]
    CONDITIONS: tuple[str, ...]  # what can be asked; the first is DEFAULT, the others are asked when they are selected
    CHAINED: tuple[str, ...]  # conditions whose requests hang on the model's own answers
    IMAGES: bool  # whether its items have images
    JUDGES: tuple[str, ...]  # who sees answers before they are graded: "judge", and any of SCORERS
    ITEM_FILES: tuple[str, ...]  # raw files that items are made of
    GOLD_FILES: tuple[str, ...]  # raw files that gold is made of
    TABLES: dict[str, Any]  # Table of punchline.bench.table, by name

    def listing(self, files: Files) -> list[tuple[str, str, str]]:
        """(item id, source, page URL or "") of every item, in released order."""
        ...

    def items(self, files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
        """Items of the keys of `images`: their pictures, or why there are none."""
        ...

    def golds(self, files: Files) -> list[Gold]:
        """What is right, for every item."""
        ...

    def requests(self, item: Item) -> list[Request]:
        """What models are asked about an item, in all conditions but the CHAINED ones."""
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
        condition: str = DEFAULT,
    ) -> Sequence[Grade]:
        """Grades of one model's answers (by task) on one item in one condition, under one rule.

        `verdicts`, where there are JUDGES: by id of the judge's request; None when nobody was asked.
        """
        ...


class Illustrated(Protocol):
    """What the module `pictures` of a benchmark with IMAGES defines. Apart: no answer hangs on its code."""

    def pictures(self, item_id: str, content: bytes, files: Files) -> list[Picture]:
        """What models see, made of the bytes of an item's published image. Raises NoPicture."""
        ...


class Judged(Protocol):
    """What a benchmark with JUDGES defines besides."""

    def judge_requests(
        self, item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
    ) -> list[Request]:
        """What is asked about one model's answers (by task) on an item in one condition, under all rules, each once.

        A request's task is the hop that answers it: one of JUDGES.
        """
        ...


class Chains(Protocol):
    """What a benchmark with CHAINED conditions defines besides."""

    def chained_requests(self, item: Item, responses: Mapping[str, Mapping[str, Response]]) -> list[Request]:
        """What a model is asked on the ground of its own answers on an item, by condition and task."""
        ...


class Drawn(Protocol):
    """What the module `demo` of a benchmark defines."""

    def draw(self, folder: Path) -> None:
        """Write the raw files of its demo items to a folder."""
        ...


class Guesses(Protocol):
    """What a benchmark that has baselines of its own defines besides."""

    def baseline(self, name: str, request: Request, draw: random.Random) -> str | None:
        """What the baseline of that name answers, seeing the request only; None: it does not attempt the task."""
        ...


class Wording(Protocol):
    """What the module `wording` of a benchmark defines, where a baseline can go by the words of its prompts."""

    def echo(self, prompt: str) -> str | None:
        """An answer that repeats what the prompt tells; None where it tells nothing."""
        ...

    def compared(self, prompt: str) -> tuple[str, str] | None:
        """(what is right, what was said) of a judge's prompt; None for another."""
        ...

    def verdict(self, share: float, threshold: float) -> str:
        """What a judge says who finds that share of the words of what is right in what was said."""
        ...


def comparison(benchmark: str, item_id: str, hop: str, condition: str, candidate: str, reference: str) -> Request:
    """What a scorer is asked: to compare a candidate (as the assistant's words) with a reference (as the user's)."""
    said = (Message(role="assistant", content=(Text(text=candidate),)),)
    return Request(
        benchmark=benchmark,
        item_id=item_id,
        task=hop,
        condition=condition,
        messages=(*said, Message(role="user", content=(Text(text=reference),))),
        sampling=Sampling(temperature=0.0, max_tokens=1),
    )


def filled(prompt: str, values: Mapping[str, object]) -> str:
    """The prompt with {name} replaced once: what stands in a value is never read as a place to fill."""
    pieces = prompt.split("{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}")
        filled += [str(values[name]), rest]
    return "".join(filled)


def names() -> list[str]:
    """The benchmarks there are."""
    found = (module.name for module in pkgutil.iter_modules([str(FOLDER)]))
    return sorted(name for name in found if "_" not in name)


FACETS = {  # what a benchmark defines: which of its modules defines it
    "listing": "data",
    "items": "data",
    "golds": "data",
    "oddities": "data",
    "requests": "ask",
    "chained_requests": "ask",
    "judge_requests": "judge",
    "grade_item": "grade",
    "TABLES": "tables",
}


def facets(package: str) -> Callable[[str], Any]:
    """`__getattr__` of a benchmark's package: loads the module that defines a name when it is asked for.

    So that who asks imports no table and who grades imports no prompt: a stage's result hangs on the code it loads.
    """

    def get(name: str) -> Any:
        if name not in FACETS:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{FACETS[name]}"), name)

    return get


def load(name: str) -> Benchmark:
    """The benchmark of that name."""
    return cast(Benchmark, importlib.import_module(f"punchline.benchmarks.{name}"))


def illustrated(benchmark: Benchmark) -> Illustrated:
    """How the pictures of a benchmark with IMAGES are made."""
    assert benchmark.IMAGES
    return cast(Illustrated, _module(benchmark.NAME, "pictures"))


def drawn(name: str) -> Drawn | None:
    """How the demo items of a benchmark are drawn."""
    return cast(Drawn | None, _module(name, "demo"))


def guesses(name: str) -> Guesses | None:
    """A benchmark's own baselines."""
    whole = load(name)
    return cast(Guesses | None, whole if hasattr(whole, "baseline") else _module(name, "baselines"))


def training(name: str) -> ModuleType | None:
    """What a benchmark trains on (Hook of punchline.stages.finetune)."""
    return _module(name, "training")


@cache
def wording(name: str) -> Wording | None:
    """How a benchmark's prompts are worded."""
    return cast(Wording | None, _module(name, "wording") if name in names() else None)


def released_format(name: str) -> ModuleType | None:
    """How released answers to a benchmark are read (Format of punchline.bench.released)."""
    return _module(name, "replay") if name in names() else None


def released_formats() -> list[str]:
    """The benchmarks whose released answers can be read."""
    return [name for name in names() if released_format(name) is not None]


def _module(name: str, facet: str) -> ModuleType | None:
    """A benchmark's module of that name, a file beside it where the benchmark is no package; None: there is none."""
    for module in (f"punchline.benchmarks.{name}.{facet}", f"punchline.benchmarks.{name}_{facet}"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
    return None


def judged(benchmark: Benchmark) -> Judged:
    """The same benchmark, one with JUDGES."""
    assert benchmark.JUDGES
    return cast(Judged, benchmark)


def chains(benchmark: Benchmark) -> Chains:
    """The same benchmark, one with CHAINED conditions."""
    assert benchmark.CHAINED
    return cast(Chains, benchmark)
