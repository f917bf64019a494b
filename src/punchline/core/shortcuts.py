"""Answers to multiple choice that need no understanding, from the options alone."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from punchline.core.variants import options_text
from punchline.schema import Request, Text

Options = Mapping[str, str]  # text by letter
_OPTION = re.compile(r"^([A-E])\. (.*)$", re.MULTILINE)


def options(request: Request) -> dict[str, str]:
    """{letter: text} of the last list of options that a request shows; {} without one."""
    texts = (part.text for message in request.messages for part in message.content if isinstance(part, Text))
    read: dict[str, str] = {}
    for letter, text in _OPTION.findall(options_text("\n".join(texts))):
        if letter == "ABCDE"[len(read) : len(read) + 1]:
            read[letter] = text.strip()
    return read


def longest_option(offered: Options) -> str:
    """Letter of the option with the most characters; of several the first."""
    return max(offered, key=lambda letter: len(offered[letter]))


# Baselines of every benchmark with OPTIONS.
BY_OPTIONS: dict[str, Callable[[Options, random.Random], str]] = {
    "random": lambda offered, draw: draw.choice("".join(offered)),
    "longest-option": lambda offered, draw: longest_option(offered),
}
