"""Baselines for text, without a model: an explainer that repeats its prompt, and a judge that counts words.

The module `wording` of a benchmark splits a request into its parts. `echo` is the floor of any benchmark whose judge
accepts the question itself; `overlap` is the floor of judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

import punchline
from punchline.core.benchmark import facet, module_of
from punchline.core.engine import Engine, read_options, response
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Request, Response, State, Text
from punchline.workflow import code


class Options(msgspec.Struct, frozen=True):
    """Options of a card."""

    baseline: Literal["echo", "overlap"]
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


class Lexical(Engine):
    """The engine."""

    name = "lexical"
    needs_images = False

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        options = read_options(card, Options, "config/judge/overlap.yaml")
        self.baseline, self.threshold = options.baseline, options.threshold
        if (self.baseline == "overlap") != (self.threshold is not None):
            expected = "expected a share from 0 to 1" if self.threshold is None else "echo takes no threshold"
            raise PunchlineError(f"{expected}, got {self.threshold!r}", file=card.file, field="threshold")
        self.version = f"{punchline.__version__} ({self.baseline})"

    def identity(self) -> dict[str, Any]:
        """The baseline and its constants."""
        return {"baseline": self.baseline, "threshold": self.threshold}

    def code(self, benchmark: str) -> str:
        """Digest of what computes the answers."""
        return code.digest("punchline.engines.lexical", module_of(benchmark, "wording"))

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """One response a request; `missing` for a request whose prompt has not what the baseline goes by."""
        for request in requests:
            parts = (part.text for m in request.messages for part in m.content if isinstance(part, Text))
            text = self._answer(request.benchmark, "\n".join(parts))
            state: State = "missing" if text is None else "ok"
            yield response(self, request, model_key, state, text=text, reason="not attempted" if text is None else None)

    def _answer(self, benchmark: str, prompt: str) -> str | None:
        words = facet(benchmark, "wording")
        if words is None:
            return None
        said: str | None = None
        if self.baseline == "echo":
            said = words.echo(prompt)
        elif (texts := words.compared(prompt)) is not None:
            said = words.verdict(overlap(*texts), float(self.threshold or 0))
        return said


engine = Lexical
