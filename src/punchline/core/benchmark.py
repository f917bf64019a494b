"""Benchmarks: one package each, pure functions only. A folder of punchline/benchmarks/ is a benchmark."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from punchline.errors import PunchlineError, nearest
from punchline.schema import Gold, ImageRef, Item, Message, Request, Response, Rule, Sampling, Score, Text

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
    CLOSED: tuple[str, ...]  # tasks answered by a choice, labels, boxes or an order: an extractor may read the answers
    JUDGES: tuple[str, ...]  # who sees answers before they are scored: "judge", and any of SCORERS
    COMPARED: dict[str, tuple[str, ...]]  # scorers' hops asked about texts of the data itself: tables that print any
    ITEM_FILES: tuple[str, ...]  # raw files that items are made of
    GOLD_FILES: tuple[str, ...]  # raw files that gold is made of
    LIBRARIES: dict[str, tuple[str, ...]]  # packages whose version results hang on, by stage: pictures, judge, score
    ITEMS: dict[str, Any]  # {column: function of item and gold}: what tables need of items
    METRICS: tuple[str, ...]  # of scores: columns of the score files
    TABLES: dict[str, Any]  # punchline.tables.declare.Table, by name

    def listing(self, files: Files) -> list[tuple[str, str, str]]:
        """(item id, source, page URL or "") of every item, in released order."""
        ...

    def items(self, files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
        """Items of the keys of `images`: their pictures, or why there are none."""
        ...

    def golds(self, files: Files) -> Iterable[Gold]:
        """What is right, for every item."""
        ...

    def requests(self, item: Item) -> list[Request]:
        """What models are asked about an item, in all conditions but the CHAINED ones."""
        ...

    def score_item(
        self,
        responses: Mapping[str, Response],
        item: Item,
        gold: Gold,
        model: str,
        rule: Rule,
        verdicts: Mapping[str, Verdict] | None = None,
        condition: str = DEFAULT,
    ) -> Sequence[Score]:
        """Grades of one model's answers (by task) on one item in one condition, under one rule.

        `verdicts`, where there are JUDGES: by id of the judge's request; None when nobody was asked.
        """
        ...

    def judge_requests(
        self, item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
    ) -> list[Request]:
        """With JUDGES: requests about one model's answers (by task) on an item in one condition, under all rules.

        Each once. The task of a request is the pass that answers it: one of JUDGES.
        """
        ...

    def data_requests(self, files: Files, printed: Sequence[Mapping[str, str]]) -> list[Request]:
        """With COMPARED passes: requests to scorers about texts of the released files and of printed tables."""
        ...

    def chained_requests(self, item: Item, responses: Mapping[str, Mapping[str, Response]]) -> list[Request]:
        """With CHAINED conditions: requests that depend on a model's own answers, by condition and task."""
        ...


class Illustrated(Protocol):
    """What the module `pictures` of a benchmark with IMAGES defines. Apart: no answer hangs on its code."""

    def pictures(self, item_id: str, content: bytes, files: Files) -> list[Picture]:
        """What models see, made of the bytes of an item's published image. Raises NoPicture."""
        ...


class Guesses(Protocol):
    """What the module `baselines` of a benchmark defines, where it has one."""

    def baseline(self, name: str, request: Request, draw: random.Random) -> str | None:
        """What the baseline of that name answers, seeing the request only; None: it does not attempt the task."""
        ...


@runtime_checkable
class Looks(Protocol):
    """What the module `baselines` defines where a benchmark's baselines look at its pictures."""

    PRIOR: tuple[str, ...]  # tasks that have one answer for all items, where a card of the baseline `prior` gives it

    def look(self, path: Path) -> Any:
        """What can be read off a picture, for all requests about it. It is used by one thread."""
        ...

    def baseline(self, name: str, request: Request, draw: random.Random, seen: Callable[[], Any]) -> str | None:
        """What the baseline of that name answers; None: it does not attempt the task. Raises NoAnswer.

        `seen` gives what `look` gave of the request's picture. A task that is not attempted looks at nothing.
        """
        ...


class NoAnswer(Exception):
    """A picture off which nothing can be read that a baseline goes by; the message is the reason in the response."""


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
    """The prompt with {name} replaced once: what stands in a value is never read as a place to fill.

    Raises PunchlineError for a name that has no value.
    """
    pieces = prompt.split("{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}")
        if name not in values:
            what = f"the prompt {prompt[:60]!r}… has a place for {{{name}}}, and there is no such field"
            raise PunchlineError(what, hint=nearest(name, list(values)))
        filled += [str(values[name]), rest]
    return "".join(filled)


@cache
def names() -> tuple[str, ...]:
    """The benchmarks there are."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]) if module.ispkg))


FACETS = {  # what a benchmark defines: which of its modules defines it
    "listing": "data",
    "items": "data",
    "golds": "data",
    "requests": "ask",
    "chained_requests": "ask",
    "judge_requests": "judge",
    "data_requests": "compared",
    "score_item": "scoring",
    "TABLES": "tables",
    "ITEMS": "tables",
}


UNSAID: dict[str, Any] = {  # what a card need not say
    "CONDITIONS": (DEFAULT,),
    "CHAINED": (),
    "CLOSED": (),
    "IMAGES": True,
    "JUDGES": (),
    "COMPARED": {},
    "LIBRARIES": {},
    "METRICS": (),
}

LOADED: set[str] = set()  # modules of benchmarks that this process has asked for something


OPTIONAL: dict[str, Any] = {"ITEMS": {}}  # what a module need not define


def facets(package: str) -> Callable[[str], Any]:
    """`__getattr__` of a benchmark's package: loads the module that defines a name when it is asked for.

    So that who asks imports no table and who scores imports no prompt: a stage's result hangs on the code it loads.
    What a card does not say is what most say.
    """

    def get(name: str) -> Any:
        if name in UNSAID:
            return UNSAID[name]
        if name not in FACETS:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = _imported(f"{package}.{FACETS[name]}")
        LOADED.add(module.__name__)
        return getattr(module, name, OPTIONAL[name]) if name in OPTIONAL else getattr(module, name)

    return get


def _imported(name: str) -> Any:
    """Raises PunchlineError for a module that is not there, or no Python."""
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise PunchlineError(f"not Python: {error.msg}", file=error.filename, line=error.lineno) from error
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        file = "src/" + name.replace(".", "/") + ".py"
        hint = "docs/new-benchmark.md says what a benchmark's folder holds"
        raise PunchlineError("the benchmark's file is not there", file=file, hint=hint) from error


def module_of(name: str, facet: str) -> str:
    """The module of a benchmark that defines a facet: data, ask, scoring, tables, …"""
    return f"punchline.benchmarks.{name}.{facet}"


def libraries(benchmark: Benchmark, stage: str) -> tuple[str, ...]:
    """Packages whose version the result of a stage hangs on, as the benchmark's LIBRARIES says."""
    return benchmark.LIBRARIES.get(stage, ())


def load(name: str) -> Benchmark:
    """The benchmark of that name. Raises PunchlineError for one that its card calls otherwise."""
    benchmark = cast(Benchmark, _imported(f"punchline.benchmarks.{name}"))
    if name != benchmark.NAME:
        file = f"src/punchline/benchmarks/{name}/__init__.py"
        raise PunchlineError(f"the folder {name} calls itself {benchmark.NAME!r}", file=file, field="NAME")
    return benchmark


def _facet(name: str, facet: str) -> Any:
    """A module of a benchmark that is loaded by name; None where there is no such benchmark, or no such module."""
    module = module_of(name, facet)
    if name not in names() or importlib.util.find_spec(module) is None:
        return None
    return importlib.import_module(module)


def illustrated(benchmark: Benchmark) -> Illustrated:
    """How the pictures of a benchmark with IMAGES are made."""
    assert benchmark.IMAGES
    return cast(Illustrated, _facet(benchmark.NAME, "pictures"))


@cache
def guesses(name: str) -> Guesses | Looks | None:
    """The baselines of a benchmark; None: it has none."""
    return cast("Guesses | Looks | None", _facet(name, "baselines"))


def training(name: str) -> Any:
    """What a benchmark trains on (Hook of punchline.train); None: nothing."""
    return _facet(name, "training")


@cache
def wording(name: str) -> Wording | None:
    """How a benchmark's prompts are worded; None: no baseline goes by its words."""
    return cast("Wording | None", _facet(name, "wording"))


def released_format(name: str) -> Any:
    """How released answers to a benchmark are read (punchline.benchmarks.released.Format); None: none were released."""
    return _facet(name, "replay")


@cache
def shown(name: str) -> Any:
    """How a benchmark's items are called and judged at a glance (NAMES, `right`); None: by what all have in common."""
    return _facet(name, "shown")


def studies(name: str) -> Mapping[str, Any]:
    """What people are asked about a benchmark's answers (Study of punchline.benchmarks.study), by name."""
    module = _facet(name, "studies")
    return {} if module is None else cast("Mapping[str, Any]", module.STUDIES)


def released_formats() -> list[str]:
    """The benchmarks whose released answers can be read."""
    return [name for name in names() if released_format(name) is not None]
