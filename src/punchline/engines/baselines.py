"""Baselines: chance, constants, geometry, OCR. They see what a model sees: the request and, where they look, its image.

What the baseline of a name answers is said by the benchmark's own module `baselines`; `prior` gives the constants of
its card. A task that a baseline does not attempt is `missing`.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import cv2
import msgspec

import punchline
from punchline.comics import ocr
from punchline.core import benchmark as benchmarks
from punchline.core import shortcuts
from punchline.core.benchmark import Guesses, Looks, NoAnswer, facet
from punchline.core.engine import Engine, has_all_images, image_file, images_in, read_options, response
from punchline.core.threads import threads
from punchline.errors import PunchlineError, nearest
from punchline.schema import ModelCard, Request, Response, State, sha256
from punchline.workflow import code

BLIND = ("prior", "longest-option")  # baselines that see no image
Look = Callable[[Callable[[Path], Any], Path], Any]  # what a benchmark's `look` gives of a file, each at most once


class Options(msgspec.Struct, frozen=True):
    """Options of a card."""

    baseline: Literal["prior", "random", "label-order", "reading-order", "ocr", "longest-option", "last-panel"]
    answers: dict[Any, Any] | None = None  # of prior, by task


class _Looking:
    """The benchmarks whose baselines look at images: each benchmark's own module says it, when it is asked."""

    def __contains__(self, benchmark: str) -> bool:
        return isinstance(facet(benchmark, "baselines"), Looks)


class Baseline(Engine):
    """The engine."""

    name = "baselines"
    sees = _Looking()

    def __init__(self, card: ModelCard, seed: int) -> None:
        options = _read(card)
        self.baseline, self.answers = options.baseline, options.answers or {}
        self.seed = seed
        self.needs_images = self.baseline not in BLIND
        self.repeatable = self.baseline != "ocr"
        self.version = f"{punchline.__version__} ({self.baseline})"

    def identity(self) -> dict[str, Any]:
        """The baseline, its constants, and the libraries that it reads comics with; the seed only where one is used."""
        identity: dict[str, Any] = {"baseline": self.baseline}
        if self.baseline in BLIND:
            return identity | ({"answers": self.answers} if self.answers else {})
        if self.baseline == "random":
            identity["seed"] = self.seed
        if self.baseline == "ocr":
            identity["ocr"] = ocr.derivation()
        return identity | {"opencv": cv2.__version__}

    def code(self, benchmark: str) -> str:
        """Digest of what computes the answers."""
        return code.digest("punchline.engines.baselines", benchmarks.module_of(benchmark, "baselines"))

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """One response a request, image by image, several images at a time.

        `failed` where nothing can be read off an image that the answer would need.
        """
        by_image: dict[tuple[str | None, ...], list[Request]] = {}  # each image is read once
        for request in requests:
            by_image.setdefault(tuple(image.sha256 for image in images_in(request)), []).append(request)
        pool = ThreadPoolExecutor(threads())
        try:
            for responses in pool.map(lambda same: self._about_one(same, images, model_key), by_image.values()):
                yield from responses
        finally:
            pool.shutdown(cancel_futures=True)

    def _about_one(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> list[Response]:
        """Responses to requests with the same image."""
        looked: Look = functools.cache(lambda look, path: look(path))
        responses = []
        for request in requests:
            state, text = self._answer(request, images, looked)
            responses.append(response(self, request, model_key, state, **{"text" if state == "ok" else "reason": text}))
        return responses

    def _answer(self, request: Request, images: Mapping[str, Path], looked: Look) -> tuple[State, str]:
        """The state and, with it, the answer or the reason why there is none."""
        module = facet(request.benchmark, "baselines")
        if isinstance(module, Looks) and self.needs_images and not has_all_images(request):
            return "missing", "image missing"
        try:
            text = self._text(request, module, images, looked)
        except NoAnswer as error:
            return "failed", str(error)
        return ("missing", "not attempted") if text is None else ("ok", text)

    def _text(
        self, request: Request, module: Guesses | Looks | None, images: Mapping[str, Path], looked: Look
    ) -> str | None:
        """The baseline's answer to a request; None: not attempted."""
        loaded = benchmarks.load(request.benchmark)
        if request.task not in loaded.TASKS:
            return None
        if self.baseline == "prior":
            return self.answers.get(request.task)
        if request.task in loaded.OPTIONS and self.baseline in shortcuts.BY_OPTIONS:
            offered = shortcuts.options(request)
            return shortcuts.BY_OPTIONS[self.baseline](offered, self._draw(request)) if offered else None
        if module is None or not hasattr(module, "baseline"):
            return None
        if not isinstance(module, Looks):
            return module.baseline(self.baseline, request, self._draw(request))
        digest = next((image.sha256 for image in images_in(request)), None)
        draw, look = self._draw(request), module.look
        return module.baseline(self.baseline, request, draw, lambda: looked(look, image_file(digest, request, images)))

    def _draw(self, request: Request) -> random.Random:
        return random.Random(int(sha256(f"{self.seed} {request.request_id}".encode()), 16))


engine = Baseline


def _read(card: ModelCard) -> Options:
    """Checked options: the baseline, and the constants of prior."""
    options = read_options(card, Options, "config/model/prior.yaml")
    wrong = functools.partial(PunchlineError, file=card.file)
    if options.baseline != "prior":
        if options.answers is not None:
            raise wrong(f"{options.baseline} takes no answers; only prior does", field="answers")
        return options
    if not options.answers:
        what = f"expected an answer for at least one task, got {options.answers!r}"
        raise wrong(what, field="answers", hint="Write one a line, as `Q5: Surprise`")
    tasks = [task for benchmark in benchmarks.every(benchmarks.load).values() for task in benchmark.TASKS]
    for task, text in options.answers.items():
        if task not in tasks:
            raise wrong(f"unknown task {task!r}", field="answers", hint=nearest(str(task), tasks))
        if not isinstance(text, str):
            hint = 'Put it in quotation marks: YAML reads Yes as true and "Yes" as a text'
            raise wrong(f"an answer must be a text, got {text!r}", field=f"answers.{task}", hint=hint)
    return options
