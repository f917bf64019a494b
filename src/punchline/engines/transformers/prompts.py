"""Prompts as the model reads them, and batches of prompts of like length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from punchline.grouping import grouped
from punchline.schema import Request, Scalar


@dataclass(frozen=True, eq=False)
class Prompt:
    """One prompt and the requests that it answers: several where the same question is asked greedily twice."""

    requests: list[Request]
    text: str  # rendered by the chat template
    tokens: tuple[int, ...]  # of the text; an image stands for one placeholder still
    images: tuple[Path, ...]
    size: int  # tokens, images estimated from their pixels
    sampling: Mapping[str, Scalar]
    part: str = ""  # of the adapter, which answers it


class Answer(NamedTuple):
    """A generated answer: token ids without the end token."""

    tokens: list[int]
    ended: bool  # by an end token
    prompt: int  # tokens, images included
    sampling: Mapping[str, Scalar]
    seconds: float  # that its batch took


def batches(prompts: Sequence[Prompt], size: int, tokens: int) -> list[list[Prompt]]:
    """Prompts with the same part of the adapter and sampling parameters together, the largest first, so that little is
    padded.

    At most `size` prompts a batch; its rows times its longest prompt and answer are at most `tokens`.
    """

    def alike(prompt: Prompt) -> tuple[Any, ...]:
        sampling = tuple((name, value) for name, value in sorted(prompt.sampling.items()) if name != "seed")
        return prompt.part, sampling, bool(prompt.images)

    result: list[list[Prompt]] = []
    for group in grouped(prompts, alike).values():
        batch: list[Prompt] = []
        for prompt in sorted(group, key=lambda prompt: -prompt.size):
            if not batch or len(batch) >= size or cost([batch[0]]) * (len(batch) + 1) > tokens:
                result.append(batch := [])
            batch.append(prompt)
    return sorted(result, key=lambda batch: (batch[0].part, -cost(batch)))


def cost(batch: Sequence[Prompt]) -> int:
    """Tokens that a batch's rows take at most; an estimate where there are images."""
    return len(batch) * (max(prompt.size for prompt in batch) + int(batch[0].sampling["max_tokens"] or 1))
