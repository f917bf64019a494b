"""One question to models, as a benchmark declares it."""

from __future__ import annotations

from typing import NamedTuple

from punchline.core.benchmark import DEFAULT


class Task(NamedTuple):
    """A question that is asked in one condition."""

    name: str
    max_tokens: int
    condition: str = DEFAULT
    prompt: str = ""  # stem of its file in prompts/; "": the task's name
    picture: bool = True  # whether the item's picture is shown
    temperature: float = 0.0

    @property
    def file(self) -> str:
        """Stem of the prompt's file."""
        return self.prompt or self.name
