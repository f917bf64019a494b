"""Baselines: chance, constants, geometry, OCR, and for text an explainer and a judge that count words.

They get what a model gets: the request and, where they look, its image. Answers that depend on a benchmark's tasks come
from the benchmark's module `baselines`. The module `wording` splits its prompts for `echo`, which repeats its prompt
(the floor of a benchmark whose judge accepts the question itself), and for `overlap`, the floor of judges. A task that
a baseline does not attempt is `missing`. The engine has a second name, lexical.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal, cast

import cv2
import msgspec

import punchline
from punchline.comics import ocr
from punchline.core import benchmark as benchmarks
from punchline.core import shortcuts
from punchline.core.benchmark import NoAnswer, optional_module
from punchline.core.engine import (
    NOT_ATTEMPTED,
    Engine,
    ImageFiles,
    has_all_images,
    image_file,
    images_in,
    read_options,
    response,
)
from punchline.core.threads import threads
from punchline.errors import check_known
from punchline.grouping import grouped
from punchline.schema import ModelCard, Request, Response, Text, sha256
from punchline.workflow import code


class Options(msgspec.Struct, frozen=True):
    """Options of a card."""

    baseline: Literal[
        "prior", "random", "label-order", "reading-order", "ocr", "longest-option", "last-panel", "echo", "overlap"
    ]
    answers: dict[str, str] | None = None  # of prior, by task
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None  # of overlap


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Words that carry no content: what English text has in every sentence.
_STOP = (
    "a about after all also an and any are as at be because been before being between both but by can caption "
    "cartoon could did do does doing element for from had has have he her here him his how humor if implies in into "
    "is it its itself joke just like may more most not of off on one only or other our out over own play plays "
    "reference references s same she should so some such t than that the their them then there these they this "
    "those through to too up very was we were what when where which while who why will with would you your "
)
STOP_WORDS = frozenset(_STOP.split())


def content_words(text: str) -> set[str]:
    """Lower-case words that carry content, without a plural's or a verb's final s."""
    words = (word.lower().split("'")[0].split("’")[0] for word in _WORD.findall(text))
    return {word.removesuffix("s") if len(word) > 3 else word for word in words if word not in STOP_WORDS}


def overlap(reference: str, text: str) -> float:
    """Share of the reference's content words that the text has; 0 for a reference without any."""
    words = content_words(reference)
    return len(words & content_words(text)) / len(words) if words else 0.0


class Baseline(Engine):
    """The engine."""

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        super().__init__(card, seed)
        self.options = options = read_options(card, Options, "docs/models.md")
        self.baseline, self.name = options.baseline, card.engine
        self.needs_images = self.baseline not in ("prior", "longest-option", *TEXT)
        self.repeatable = self.baseline != "ocr"
        self.version = f"{punchline.__version__} ({self.baseline})"
        if (self.baseline == "overlap") != (options.threshold is not None):
            raise self.wrong("overlap needs a share from 0 to 1, and no other baseline takes one", field="threshold")
        if (self.baseline == "prior") != bool(options.answers):
            what = "prior needs an answer for at least one task, and no other baseline takes any"
            raise self.wrong(what, field="answers", hint='Write one a line, as `Q1: "Yes"`')
        for task in options.answers or ():  # only then are all benchmarks imported, by every job
            tasks = [task for benchmark in benchmarks.every(benchmarks.load).values() for task in benchmark.TASKS]
            check_known(task, tasks, f"unknown task {task!r}", file=card.file, field="answers")

    def identity(self) -> dict[str, Any]:
        """The baseline, its constants, and the libraries that it reads comics with; the seed only where one is used."""
        identity = {**msgspec.structs.asdict(self.options), "opencv": cv2.__version__}
        if self.baseline == "random":
            identity["seed"] = self.seed
        if self.baseline == "ocr":
            identity["ocr"] = ocr.derivation()
        return identity

    def looks_at(self, benchmark: str) -> bool:
        """True if the benchmark's own module, which the baseline asks, looks at images."""
        return self.needs_images and hasattr(optional_module(benchmark, "baselines"), "look")

    def code(self, benchmark: str) -> str:
        """Digest of the files that compute the answers."""
        if self.baseline in TEXT:
            return code.digest("engines/baselines.py", *benchmarks.files_of(benchmark, "wording"))
        own = benchmarks.files_of(benchmark, "__init__", "baselines", "words")
        return code.digest("engines/baselines.py", "core/shortcuts.py", "core/variants.py", "comics", *own)

    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """One response a request, image by image, several images at a time.

        `failed` where nothing can be read off an image that the answer would need.
        """
        # Each image is read once.
        by_image = grouped(requests, lambda request: tuple(image.sha256 for image in images_in(request)))

        def about_one(same: Sequence[Request]) -> list[Response]:
            looked = functools.cache(lambda look, path: look(path))
            return [self._answer(request, images, looked, model_key) for request in same]

        with ThreadPoolExecutor(threads()) as pool:
            for responses in pool.map(about_one, by_image.values()):
                yield from responses

    def attempts(self, request: Request) -> bool:
        """False for a task that the baseline does not know. No image is read: what would look at one is an attempt."""

        def look() -> Any:
            raise NoAnswer("not looked at")

        try:
            return ANSWERS.get(self.baseline, _by_task)(self, request, look) is not None
        except NoAnswer:
            return True

    def _answer(self, request: Request, images: ImageFiles, looked: Callable[..., Any], model_key: str) -> Response:
        """The response to a request; `looked(look, path)`: what a benchmark's `look` gives of a file."""
        respond = functools.partial(response, self, request, model_key)
        module = optional_module(request.benchmark, "baselines")
        if self.looks_at(request.benchmark) and not has_all_images(request):
            return respond("missing", reason="image missing")

        def look() -> Any:
            digest = next((image.sha256 for image in images_in(request)), None)
            return looked(module.look, image_file(digest, request, images))

        try:
            text = ANSWERS.get(self.baseline, _by_task)(self, request, look)
        except NoAnswer as error:
            return respond("failed", reason=str(error))
        return respond("missing", reason=NOT_ATTEMPTED) if text is None else respond("ok", text=text)


def _by_task(engine: Baseline, request: Request, look: Callable[[], Any]) -> str | None:
    """Answer by the options that the request shows, else by the benchmark's own module."""
    benchmark, module = benchmarks.load(request.benchmark), optional_module(request.benchmark, "baselines")
    draw = random.Random(int(sha256(f"{engine.seed} {request.request_id}".encode()), 16))
    if request.task in benchmark.OPTIONS and engine.baseline in shortcuts.BY_OPTIONS:
        offered = shortcuts.options(request)
        return shortcuts.BY_OPTIONS[engine.baseline](offered, draw) if offered else None
    if request.task not in benchmark.TASKS or not hasattr(module, "baseline"):
        return None
    looking = (look,) if hasattr(module, "look") else ()
    return cast("str | None", module.baseline(engine.baseline, request, draw, *looking))


def _by_words(engine: Baseline, request: Request, look: Callable[[], Any]) -> str | None:
    """The prompt as an explanation (echo), or the verdict on an answer in it (overlap)."""
    prompt = "\n".join(part.text for message in request.messages for part in message.content if isinstance(part, Text))
    wording, threshold = optional_module(request.benchmark, "wording"), engine.options.threshold
    if wording is None:
        return None
    if threshold is None:
        return cast("str | None", wording.echo(prompt))
    compared = wording.compared(prompt)
    return cast("str | None", wording.verdict(overlap(*compared), threshold)) if compared else None


def _constant(engine: Baseline, request: Request, look: Callable[[], Any]) -> str | None:
    return (engine.options.answers or {}).get(request.task)


TEXT = ("echo", "overlap")  # baselines that read the prompt only
ANSWERS = {"prior": _constant, "echo": _by_words, "overlap": _by_words}  # the others answer by task
engine = Baseline
