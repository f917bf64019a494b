"""Benchmarks: one package each, pure functions only. A folder of punchline/benchmarks/ is a benchmark."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from punchline.errors import PunchlineError, nearest
from punchline.schema import Gold, ImageRef, Item, Message, Request, Response, Sampling, Scalar, Score, Text
from punchline.text import log_line

T = TypeVar("T")

Files = Mapping[str, bytes]  # name of a raw file: its bytes
Images = Mapping[str, tuple[ImageRef, ...] | str]  # item id: its pictures, or why there are none


PUBLISHED = "the published image"  # how `pictures` calls it in errors; who calls knows its path
PICTURES = "punchline.benchmarks.pictures"  # what a benchmark without a module `pictures` shows
DEFAULT = "default"  # the condition that is always asked
FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
RIGHT = ("correct", "passed", "success")  # metrics of a right answer, where a benchmark defines nothing else
SCORERS = ("bertscore", "cosine")  # passes whose judge is a model that compares two texts


class Verdict(NamedTuple):
    """A judge's verdict, or a scorer's measurement."""

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
    """Definitions of a benchmark's `__init__.py` and the modules next to it."""

    NAME: str
    TASKS: tuple[str, ...]
    ITEM_FILES: tuple[str, ...]  # raw files that items are made of
    GOLD_FILES: tuple[str, ...]  # raw files that gold is made of
    TABLES: dict[str, Any]  # punchline.tables.declare.Table, by name

    # Not every benchmark defines these.
    CONDITIONS: tuple[str, ...] = (DEFAULT,)  # DEFAULT, then those that are asked when they are selected
    CHAINED: tuple[str, ...] = ()  # conditions whose requests depend on the model's own answers
    IMAGES: bool = True  # whether its default requests show images
    OPTIONS: tuple[str, ...] = ()  # tasks whose requests list options, one a line: `A. …`
    DESCRIPTION: str = ""  # the field of items whose text stands for a picture in requests; "": none
    CLOSED: tuple[str, ...] = ()  # tasks answered by a choice, labels, boxes or an order, for an extractor to read
    JUDGES: tuple[str, ...] = ()  # who sees answers before they are scored: "judge", and any of SCORERS
    COMPARED: Mapping[str, tuple[str, ...]] = {}  # scorers' passes over texts of the data: tables that print any
    LIBRARIES: Mapping[str, tuple[str, ...]] = {}  # packages, by stage whose results depend on their version
    ITEMS: Mapping[str, Any] = {}  # {column: function of item and gold}: what tables need of items
    METRICS: tuple[str, ...] = ()  # of scores: columns of the score files

    listing: Callable[[Files], list[tuple[str, str, str]]]  # (item id, source, page URL or "") in released order
    pages: Callable[[Files], dict[str, str]]  # addresses of pictures; only where IMAGES is false and DESCRIPTION is set
    items: Callable[[Files, Images], list[Item]]  # items of the keys of the images
    golds: Callable[[Files], Iterable[Gold]]  # of every item
    requests: Callable[[Item], Iterable[Request]]  # what models are asked in all conditions but the CHAINED ones

    # With OPTIONS: fields of an item, and gold values as far as there are any, whose options begin with the one at that
    # place, from 0.
    rotated: Callable[[Item, Mapping[str, Any], int], tuple[dict[str, Scalar], dict[str, Any]]]

    # Scores of one model's responses (by task) to one item in one condition, under one rule. `verdicts`: by id of the
    # judge's request; None where no judge was asked.
    # (responses, item, gold, model, rule, verdicts=None, condition=DEFAULT, tasks=None: scores of these only)
    score_item: Callable[..., Sequence[Score]]

    # With JUDGES: requests about one model's responses (by task) to an item in one condition, under all rules, equal
    # ones too. The task of a request is the pass that answers it: one of JUDGES.
    # (item, gold, responses, condition=DEFAULT)
    judge_requests: Callable[..., Iterable[Request]]

    # With COMPARED passes: requests to scorers about texts of the released files and of printed tables.
    data_requests: Callable[[Files, Sequence[Mapping[str, str]]], list[Request]]

    # With CHAINED conditions: requests that depend on a model's own responses, by condition and task.
    chained_requests: Callable[[Item, Mapping[str, Mapping[str, Response]]], Iterable[Request]]


class NoAnswer(Exception):
    """A picture off which nothing can be read that a baseline goes by; the message is the reason in the response."""


def comparison(benchmark: str, item_id: str, pass_: str, condition: str, candidate: str, reference: str) -> Request:
    """A scorer's request: compare a candidate (assistant message) with a reference (user message)."""
    answer = (Message(role="assistant", content=(Text(text=candidate),)),)
    return Request(
        benchmark=benchmark,
        item_id=item_id,
        task=pass_,
        condition=condition,
        messages=(*answer, Message(role="user", content=(Text(text=reference),))),
        sampling=Sampling(temperature=0.0, max_tokens=1),
    )


def filled(prompt: str, values: Mapping[str, object]) -> str:
    """The prompt with {name} replaced once: what stands in a value is never read as a place to fill.

    Raises PunchlineError for a name that has no value.
    """
    try:
        return re.sub(r"\{([^{}]*)\}?", lambda place: str(values[place[1]]), prompt)
    except KeyError as error:
        what = f"the prompt {prompt[:60]!r}… has a place for {{{error.args[0]}}}, and there is no such field"
        raise PunchlineError(what, hint=nearest(error.args[0], list(values))) from error


@cache
def folders() -> tuple[str, ...]:
    """All benchmarks, whether they can be imported or not. Imports none: a job pays for those that it uses."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]) if module.ispkg))


@cache
def names() -> tuple[str, ...]:
    """The benchmarks whose card can be imported; standard error names the others."""
    return tuple(every(load, folders()))


def every(get: Callable[[str], T], benchmarks: Iterable[str] | None = None) -> dict[str, T]:
    """{benchmark: `get` of its name}. One whose modules cannot be imported is named on standard error and left out."""
    results = {}
    for name in names() if benchmarks is None else benchmarks:
        try:
            results[name] = get(name)
        except PunchlineError as error:
            _log_once(f"warning: benchmark {name} is left out: {error}")
    return results


_log_once = cache(log_line)


DEFINED_IN = {  # what a benchmark defines: which of its modules defines it
    **dict.fromkeys(("listing", "items", "golds", "pages"), "data"),
    **dict.fromkeys(("requests", "chained_requests"), "ask"),
    **dict.fromkeys(("TABLES", "ITEMS"), "tables"),
    "rotated": "options",
    "judge_requests": "judge",
    "data_requests": "compared",
    "score_item": "scoring",
}
DEFAULTS = {name: value for name, value in vars(Benchmark).items() if name.isupper()}


def load_on_demand(package: str) -> Callable[[str], Any]:
    """`__getattr__` of a benchmark's package: loads the module that defines a name when it is asked for.

    Inference imports no table code and scoring imports no prompts: a job starts sooner.
    """

    def get(name: str) -> Any:
        if name in DEFINED_IN and not is_one_file(package.rpartition(".")[2]):
            module = _imported(f"{package}.{DEFINED_IN[name]}")
            return getattr(module, name)
        if name not in DEFAULTS:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return DEFAULTS[name]

    return get


def _imported(name: str) -> Any:
    """Raises PunchlineError for a module that is absent or cannot be imported."""
    try:
        return importlib.import_module(name)
    except PunchlineError:  # it names its file
        raise
    except Exception as error:
        raise PunchlineError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def is_one_file(name: str) -> bool:
    """True for a benchmark whose `__init__.py` defines everything."""
    return (FOLDER / name / "__init__.py").is_file() and not (FOLDER / name / "data.py").is_file()


def module_of(name: str, module: str) -> str:
    """The full name of a benchmark's module (data, ask, scoring, tables, …): of one file, the package."""
    return f"punchline.benchmarks.{name}" + ("" if is_one_file(name) else f".{module}")


def files_of(name: str, *modules: str) -> list[str]:
    """Files of a benchmark's modules, by their paths below the package; of one file, the file."""
    return [f"benchmarks/{name}/{'__init__' if is_one_file(name) else module}.py" for module in modules]


def load(name: str) -> Benchmark:
    """The benchmark of that name. Raises PunchlineError for one that its card calls otherwise."""
    if not (FOLDER / name).exists():
        hint = f"A run selects it; --config benchmarks=[NAME] selects others. {nearest(name, folders())}"
        raise PunchlineError(f"there is no benchmark {name!r}", hint=hint)
    benchmark = cast(Benchmark, _imported(f"punchline.benchmarks.{name}"))
    if name != benchmark.NAME:
        file = f"src/punchline/benchmarks/{name}/__init__.py"
        raise PunchlineError(f"the folder {name} calls itself {benchmark.NAME!r}", file=file, field="NAME")
    return benchmark


@cache
def optional_module(name: str, module: str) -> Any:
    """An optional module of a benchmark; None: it has none, or there is no such benchmark.

    baselines: baseline(name, request, random numbers), an answer, None where it does not attempt the task; optional
    look(path), what can be read off a picture, for all requests about it and by one thread: then `baseline` is given a
    function that returns it, and may raise NoAnswer; optional closed_answers(gold, rule), {closed task: (right answer,
    all answers that it allows; () where the request lists options)} for shortcuts. labels: people's labels of released
    answers (SHOWN, `labelled`). people: raw votes behind its labels (FILES, `ballots`). pictures: see `illustrated`.
    replay: FILES, those that may lie in the folder `path` of a card (none: `path` is one file, before any
    `annotations`); read(files by name, path as messages call it, select), released answers. shown: NAMES and `right` of
    its items. studies: STUDIES, by name (punchline.benchmarks.study.Study). training: CLUSTER names its clusters;
    held_out(item): True if the fine-tuning tables test on the item; target(request, item, gold): the right answer as
    the parser reads it, None if there is none to train on; optional variants(item, count). wording: the structure of
    its prompts: echo(text), an answer that repeats what the prompt tells, or None; compared(text), (gold, answer) in a
    judge's prompt, or None; verdict(share, threshold), for a share of the gold's words in the answer.
    """
    where = module_of(name, module)
    if name not in folders() or importlib.util.find_spec(where) is None:
        return None
    loaded = _imported(where)
    function = "baseline" if module == "baselines" else module  # of one file, which defines it in place of the module
    return loaded if not is_one_file(name) or hasattr(loaded, function) else None


def having(module: str) -> list[str]:
    """The benchmarks that have an optional module."""
    return [name for name, found in every(lambda name: optional_module(name, module)).items() if found is not None]


def studies(name: str) -> Mapping[str, Any]:
    """Rating studies of a benchmark (Study of punchline.benchmarks.study), by name."""
    return getattr(optional_module(name, "studies"), "STUDIES", {})


def illustrated(benchmark: Benchmark) -> Any:
    """The picture module of a benchmark; by default models see the published image. No answer depends on its code.

    pictures(item id, bytes of the published image, files): what models see, as Pictures. Raises NoPicture.
    """
    return optional_module(benchmark.NAME, "pictures") or _imported(PICTURES)


def right(name: str, score: Score, gold: Gold) -> float | None:
    """Correctness of an answer from 0 to 1; None if undefined."""
    module = optional_module(name, "shown")
    if hasattr(module, "right"):
        return cast("float | None", module.right(score, gold))
    return next((score.metrics[metric] for metric in RIGHT if metric in score.metrics), None)
