"""How fast a model answers: noted where it is asked, so that a plan can say how long what is left will take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from punchline.core.engine import Engine, model_key
from punchline.core.records import ModelCard, Record, Response, canonical
from punchline.project import paths
from punchline.project.resources import ASKED, gpus

STARTING_S = 1.0  # what comes this soon after the first answer was computed while the model started


class Speed(Record, frozen=True, kw_only=True):
    """What one job was answered, once the model had started."""

    benchmark: str
    gpus: int
    answers: int
    tokens_in: int
    tokens_out: int
    seconds: float

    @property
    def tokens_s(self) -> float:
        """Tokens a second, read and written."""
        return (self.tokens_in + self.tokens_out) / self.seconds

    def tokens(self, benchmark: str, answers: int, tokens_in: int) -> float:
        """Tokens of so many answers more, whose prompts have about `tokens_in`; measured ones of the same benchmark say
        better how many."""
        if self.benchmark == benchmark:
            return answers * (self.tokens_in + self.tokens_out) / self.answers
        return tokens_in + answers * self.tokens_out / self.answers


@dataclass(frozen=True)
class Meter:
    """Notes how fast a model answers, for this machine's plans only: no result rests on it."""

    key: str
    benchmark: str
    gpus: int

    def over(self, responses: Iterable[Response]) -> Iterator[Response]:
        """Pass answers through. What was measured when they end, or are ended, is noted."""
        answers = tokens_in = tokens_out = 0
        start = last = float("inf")
        try:
            for response in responses:
                last = time.monotonic()
                start = min(start, last + STARTING_S)
                counted = response.usage.prompt, response.usage.completion
                if last > start and counted[0] is not None and counted[1] is not None:
                    answers, tokens_in, tokens_out = answers + 1, tokens_in + counted[0], tokens_out + counted[1]
                yield response
        finally:
            if answers and tokens_out:
                counts = {"answers": answers, "tokens_in": tokens_in, "tokens_out": tokens_out}
                self._note(Speed(benchmark=self.benchmark, gpus=self.gpus, seconds=last - start, **counts))

    def _note(self, speed: Speed) -> None:
        path = Path(paths.speeds(self.key))
        with suppress(OSError):  # a folder that may not be written to loses a measurement, and nothing else
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab", buffering=0) as file:  # one write a line: several jobs may ask a model
                file.write(canonical(speed) + b"\n")


def meter(engine: Engine, card: ModelCard, benchmark: str) -> Meter | None:
    """Of a model's job; None where nothing is called or computed."""
    return Meter(model_key(engine, card, benchmark), benchmark, gpus(card)) if card.engine in ASKED else None


def measured(key: str, card: ModelCard, benchmark: str) -> Speed | None:
    """The most that was measured of who answers by this key with as many GPUs, of that benchmark if there is any."""
    speeds = []
    with suppress(FileNotFoundError):
        for line in Path(paths.speeds(key)).read_bytes().splitlines():
            with suppress(msgspec.DecodeError, UnicodeDecodeError):  # a write that was cut off
                speeds.append(msgspec.json.decode(line, type=Speed))
    alike = [speed for speed in speeds if speed.gpus == gpus(card)]
    return max(alike, key=lambda speed: (speed.benchmark == benchmark, speed.answers), default=None)
