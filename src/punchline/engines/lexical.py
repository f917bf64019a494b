"""Baselines for text, without a model: an explainer that repeats what it was told, and a judge that counts words.

They see what a model sees: the request. `echo` is the floor of any benchmark whose judge can be talked round by the
question itself; `overlap` says how far a judge gets that understands nothing (docs/humorbench.md has its agreement with
people).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import punchline
from punchline.core.engine import check_options
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import ModelCard, Request, Response, Text

BASELINES = ("echo", "overlap")
OPTIONS = ("baseline", "threshold")

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


def overlap(element: str, explanation: str) -> float:
    """Share of the element's content words that the explanation has; 0 for an element without any."""
    wanted = content_words(element)
    return len(wanted & content_words(explanation)) / len(wanted) if wanted else 0.0


def _field(prompt: str, name: str, until: str | None) -> str | None:
    """What a prompt has after the last line that begins with `name:`, up to the line that begins with `until:`."""
    start = prompt.rfind(f"\n{name}:")
    if start < 0:
        return None
    end = prompt.find(f"\n{until}:", start + 1) if until is not None else len(prompt)
    return prompt[start + len(name) + 2 : end if end >= 0 else len(prompt)].strip()


def rating(prompt: str) -> str | None:
    """A score of 1 to 5 by the share of the reference's content words; None for a prompt that asks for none.

    It reads YesBut's two prompts: in one the candidate stands before the reference, in the other after it. What a
    candidate says is never taken for the reference.
    """
    _, found, rest = prompt.partition("- Candidate literal description:")
    candidate, _, reference = rest.rpartition("- Reference literal description:")
    reference = re.split("\nUsing a scale|\nTask:", reference, maxsplit=1)[0]
    if not found:
        _, found, rest = prompt.partition("- The reference contradiction illustration:")
        reference, _, candidate = rest.partition("- The generated contradiction illustration:")
        candidate = candidate.rpartition("\nPlease directly")[0]
    return f"Rating: [[{1 + round(4 * overlap(reference, candidate))}]]" if found else None


class Lexical:
    """The engine."""

    name = "lexical"
    needs_images = False

    def __init__(self, card: ModelCard) -> None:
        file = card.file
        check_options(card, OPTIONS)
        self.baseline = card.options.get("baseline")
        if self.baseline not in BASELINES:
            what = "the option is missing" if self.baseline is None else f"unknown baseline {self.baseline!r}"
            raise PunchlineError(what, file=file, field="baseline", way_out=nearest(str(self.baseline), BASELINES))
        threshold = card.options.get("threshold")
        wanted = self.baseline == "overlap"
        if wanted != (isinstance(threshold, int | float) and not isinstance(threshold, bool) and 0 <= threshold <= 1):
            expected = "expected a share from 0 to 1" if wanted else "echo takes no threshold"
            raise PunchlineError(f"{expected}, got {threshold!r}", file=file, field="threshold")
        self.threshold = threshold
        self.version = f"{punchline.__version__} ({self.baseline})"

    def identity(self) -> dict[str, Any]:
        """The baseline and its constants."""
        return {"baseline": self.baseline, "threshold": self.threshold, "v": 2 if self.baseline == "overlap" else 1}

    def unavailable(self) -> str | None:
        """Never."""
        return None

    def close(self) -> None:
        """Nothing is open."""

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """One response a request; `missing` for a request whose prompt has not what the baseline goes by."""
        for request in requests:
            parts = (part.text for m in request.messages for part in m.content if isinstance(part, Text))
            text = self._answer("\n".join(parts))
            yield Response(
                request_id=request.request_id,
                model_key=model_key,
                state="missing" if text is None else "ok",
                text=text,
                reason="not attempted" if text is None else None,
                engine=self.name,
                engine_version=self.version,
            )

    def _answer(self, prompt: str) -> str | None:
        element = _field(prompt, "Anticipated answer point", None)
        if self.baseline == "echo":
            description, caption = _field(prompt, "Cartoon description", "Caption"), _field(prompt, "Caption", None)
            if description is None or caption is None or element is not None:
                return None
            return f"<explanation>{description} {caption}</explanation>"
        explanation = _field(prompt, "Student's answer", "Anticipated answer point")
        if explanation is None or element is None:
            return rating(prompt)
        share = overlap(element, explanation)
        verdict = "PASS" if share >= float(self.threshold or 0) else "FAIL"
        return f"<reasoning>{share:.3f} of the content words</reasoning>\n<judgement>{verdict}</judgement>"


def engine(card: ModelCard, seed: int) -> Lexical:
    """The engine of a model card with the options `baseline` and, for overlap, `threshold`; no seed is used."""
    return Lexical(card)
