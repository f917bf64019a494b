"""Baselines: chance, constants, geometry, OCR. They see what a model sees: the request and its image.

Answers are written so that both scoring rules read them as meant (docs/pixelhumor.md). A task that a baseline does not
attempt is `missing`. Those of PixelHumor, which look at comics, are here; another benchmark's `baseline` says what the
baseline of a name answers there.
"""

from __future__ import annotations

import functools
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2

import punchline
from punchline.benchmarks import pixelhumor
from punchline.comics import ocr
from punchline.comics.number import OFFSET, Label, erase_labels, read_labels
from punchline.comics.split import Box, read_image, reading_order, split
from punchline.core import benchmark as benchmarks
from punchline.core.engine import check_options
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import Image, ModelCard, Request, Response, State, sha256

OPTIONS = ("baseline", "answers")
ROW = 30  # pixels of height by which labels in one row of panels may differ

_KEY_LIKE = re.compile(r"""(\d[\])}*_"']{0,4}\s{0,3}):(?!\d)""")  # what a reader could take for the next panel's number


def panels(labels: Sequence[Label], boxes: Sequence[Box], width: int, height: int) -> list[tuple[Label, Box]]:
    """Labels with their panels, in reading order.

    labels: as read from a comic of width x height pixels; boxes: its panels as found, in reading order. A label belongs
    to the box that it lies in. Where a label lies in no box, or two in one, the boxes are not trusted: panels are then
    laid out from the labels alone, each reaching to the next label on its right and to the next row below.
    """
    own: dict[int, Label] = {}
    for label in labels:
        around = [i for i, b in enumerate(boxes) if b.x1 <= label.x < b.x2 and b.y1 <= label.y < b.y2]
        if not around:
            break
        own[min(around, key=lambda i: abs(boxes[i].x1 - label.x) + abs(boxes[i].y1 - label.y))] = label
    if len(own) == len(labels):
        return [(own[i], boxes[i]) for i in sorted(own)]

    rows: list[list[Label]] = []
    for label in sorted(labels, key=lambda label: (label.y, label.x)):
        if rows and label.y - rows[-1][0].y <= ROW:
            rows[-1].append(label)
        else:
            rows.append([label])
    laid_out = []
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        bottom = below[0].y - OFFSET[1] if below else height
        row.sort(key=lambda label: (label.x, label.y))
        for label, right in zip(row, [*row[1:], None], strict=True):
            x1, y1 = label.x - OFFSET[0], label.y - OFFSET[1]
            x2 = right.x - OFFSET[0] if right else width
            laid_out.append((label, Box(x1, y1, max(x2, x1 + 1), max(bottom, y1 + 1))))
    return [laid_out[i] for i in reading_order([box for _, box in laid_out])]


def panel_text(label: int, text: str) -> str:
    """One panel's line of an answer to Q8, from which both rules read `label` and nothing else as a panel's number."""
    return f"{label}: " + (_KEY_LIKE.sub(r"\1;", text) or '""')


class Comic:
    """What can be read off one numbered comic, each thing at most once. For one thread."""

    def __init__(self, path: Path) -> None:
        self.image = read_image(path)
        self.labels = read_labels(self.image)
        self._panels: list[tuple[Label, Box]] | None = None  # not cached_property: in 3.11 all comics share its lock

    @property
    def panels(self) -> list[tuple[Label, Box]]:
        """Labels and their panels in reading order."""
        if self._panels is None:
            height, width = self.image.shape[:2]
            self._panels = panels(self.labels, split(self.image), width, height)
        return self._panels

    def texts(self) -> dict[Label, str]:
        """The text in each label's panel, in the order of the labels."""
        lines = ocr.read_lines(erase_labels(self.image))
        texts = ocr.panel_texts(lines, [box for _, box in self.panels])
        return dict(sorted(zip((label for label, _ in self.panels), texts, strict=True)))


def answer_random(task: str, comic: Comic, rng: random.Random) -> str:
    """A uniform draw from the answers that the question allows; Q5: 1 to 4 styles; Q7: a permutation of the labels."""
    labels = [str(label.label) for label in comic.labels]
    if task == "Q5":
        return ", ".join(rng.sample(pixelhumor.STYLES, rng.randint(1, 4)))
    if task == "Q7":
        return ", ".join(rng.sample(labels, len(labels)))
    choices = {"Q1": ("Yes", "No"), "Q2": pixelhumor.SOUND_EFFECTS, "Q3": labels, "Q4": pixelhumor.MODALITIES}
    return rng.choice(choices[task])


def answer_label_order(task: str, comic: Comic, rng: random.Random) -> str:
    """The labels as they count."""
    return ", ".join(str(label.label) for label in comic.labels)


def answer_reading_order(task: str, comic: Comic, rng: random.Random) -> str:
    """The labels of the panels, split and put in order by geometry."""
    return ", ".join(str(label.label) for label, _ in comic.panels)


def answer_ocr(task: str, comic: Comic, rng: random.Random) -> str:
    """Q7 as reading-order; Q8: the text read in each panel."""
    if task == "Q8":
        return "\n".join(panel_text(label.label, text) for label, text in comic.texts().items())
    return answer_reading_order(task, comic, rng)


# What each baseline that looks at the comic does, and for which tasks.
LOOKING: dict[str, tuple[Callable[[str, Comic, random.Random], str], tuple[str, ...]]] = {
    "random": (answer_random, ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7")),
    "label-order": (answer_label_order, ("Q7",)),
    "reading-order": (answer_reading_order, ("Q7",)),
    "ocr": (answer_ocr, ("Q7", "Q8")),
}
BASELINES = ("prior", *LOOKING)
NAMES_LABELS = ("Q3", "Q7", "Q8")  # tasks whose answer names labels


class Baseline:
    """The engine."""

    name = "baselines"
    sees = (pixelhumor.NAME,)  # elsewhere no baseline looks at an image

    def __init__(self, card: ModelCard, seed: int) -> None:
        self.baseline, self.answers = _options(card)
        self.seed = seed
        self.needs_images = self.baseline != "prior"
        self.version = f"{punchline.__version__} ({self.baseline})"

    def identity(self) -> dict[str, Any]:
        """The baseline, its constants, and the libraries that it reads comics with; the seed only where one is used."""
        identity: dict[str, Any] = {"baseline": self.baseline, "v": 1}
        if self.baseline == "prior":
            return identity | {"answers": self.answers}
        if self.baseline == "random":
            identity["seed"] = self.seed
        if self.baseline == "ocr":
            identity["ocr"] = ocr.derivation()
        return identity | {"opencv": cv2.__version__}

    def unavailable(self) -> str | None:
        """Never."""
        return None

    def close(self) -> None:
        """Nothing is open."""

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """One response a request, comic by comic, several comics at a time.

        A comic on which no label can be read is `failed` where one is needed.
        """
        comics: dict[tuple[str | None, ...], list[Request]] = {}  # by image: each is looked at once
        for request in requests:
            comics.setdefault(tuple(_digests(request)), []).append(request)
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            for responses in pool.map(lambda asked: self._about_one(asked, images, model_key), comics.values()):
                yield from responses
        finally:
            pool.shutdown(cancel_futures=True)

    def _about_one(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> list[Response]:
        """Responses to requests with the same image."""
        opened = functools.cache(Comic)
        responses = []
        for request in requests:
            state, text = self._answer(request, images, opened)
            responses.append(
                Response(
                    request_id=request.request_id,
                    model_key=model_key,
                    state=state,
                    text=text if state == "ok" else None,
                    reason=text if state != "ok" else None,
                    engine=self.name,
                    engine_version=self.version,
                )
            )
        return responses

    def _answer(
        self, request: Request, images: Mapping[str, Path], opened: Callable[[Path], Comic]
    ) -> tuple[State, str]:
        """The state and, with it, the answer or the reason why there is none."""
        if request.benchmark != pixelhumor.NAME:
            return self._elsewhere(request)
        digests = _digests(request)
        if self.needs_images and None in digests:
            return "missing", "image missing"
        tasks = LOOKING[self.baseline][1] if self.baseline in LOOKING else self.answers
        if request.task not in tasks:
            return "missing", "not attempted"
        if self.baseline not in LOOKING:
            return "ok", self.answers[request.task]
        digest = next(iter(digests), None)
        if digest is None or digest not in images:
            raise PunchlineError(
                f"no file for the image {digest} of {request.task}",
                record=request.item_id,
                way_out="Run again with --forcerun pictures",
            )
        comic = opened(images[digest])
        if request.task in NAMES_LABELS and not comic.labels:
            return "failed", "no label can be read on the image"
        return "ok", LOOKING[self.baseline][0](request.task, comic, self._draw(request))

    def _draw(self, request: Request) -> random.Random:
        return random.Random(int(sha256(f"{self.seed} {request.request_id}".encode()), 16))

    def _elsewhere(self, request: Request) -> tuple[State, str]:
        """What the baseline says of another benchmark's request."""
        module = benchmarks.guesses(request.benchmark)
        text = None
        if request.task in benchmarks.load(request.benchmark).TASKS and module is not None:
            text = module.baseline(self.baseline, request, self._draw(request))
        return ("missing", "not attempted") if text is None else ("ok", text)


def engine(card: ModelCard, seed: int) -> Baseline:
    """The engine of a model card with the options `baseline` and, for prior, `answers`."""
    return Baseline(card, seed)


def _digests(request: Request) -> list[str | None]:
    return [part.sha256 for message in request.messages for part in message.content if isinstance(part, Image)]


def _options(card: ModelCard) -> tuple[str, dict[str, str]]:
    """Checked options: the baseline, and the constants of prior."""
    file = card.file
    check_options(card, OPTIONS)
    baseline, answers = card.options.get("baseline"), card.options.get("answers")
    if baseline not in BASELINES:
        what = "the option is missing" if baseline is None else f"unknown baseline {baseline!r}"
        raise PunchlineError(what, file=file, field="baseline", way_out=nearest(str(baseline), BASELINES))
    if baseline != "prior":
        if answers is not None:
            raise PunchlineError(f"{baseline} takes no answers; only prior does", file=file, field="answers")
        return baseline, {}
    if not isinstance(answers, dict) or not answers:
        raise PunchlineError(
            f"expected an answer for at least one task, got {answers!r}",
            file=file,
            field="answers",
            way_out="Write one a line, as `Q5: Surprise`",
        )
    for task, text in answers.items():
        if task not in pixelhumor.TASKS:
            raise PunchlineError(
                f"unknown task {task!r}", file=file, field="answers", way_out=nearest(str(task), pixelhumor.TASKS)
            )
        if not isinstance(text, str):
            raise PunchlineError(
                f"an answer must be a text, got {text!r}",
                file=file,
                field=f"answers.{task}",
                way_out='Put it in quotation marks: YAML reads Yes as true and "Yes" as a text',
            )
    return baseline, dict(answers)
