"""Conditions derived from a benchmark's default requests: without or with a picture, options alone or in every order.

They test what a score is worth (docs/validity.md). `conditions=all` leaves them out: no paper has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from punchline.core.benchmark import DEFAULT, Benchmark
from punchline.schema import Gold, Image, Item, Request, Text

T = TypeVar("T")

NO_IMAGE, CAPTION_ONLY, OPTIONS_ONLY, CIRCULAR = "no-image", "caption-only", "options-only", "circular"
WITH_IMAGE = "with-image"  # of a benchmark whose requests describe its pictures: the description and the picture
WITHOUT = (NO_IMAGE, CAPTION_ONLY, OPTIONS_ONLY)  # conditions without the picture, or what stands for it
ROTATION = re.compile(f"{CIRCULAR}-([1-9])")  # a rotation by so many options; rotation 0 is the default condition
MOST = 5  # options of a question
_CUT = "\0description\0"  # marks lines to leave out
_FIRST_OPTION = re.compile(r"^A\. ", re.MULTILINE)


def conditions(benchmark: Benchmark) -> list[str]:
    """Names of the derived conditions that a benchmark has."""
    images, described, options = benchmark.IMAGES, benchmark.DESCRIPTION, benchmark.OPTIONS
    required = {NO_IMAGE: images, CAPTION_ONLY: described, OPTIONS_ONLY: options, CIRCULAR: options}
    return [name for name, need in {**required, WITH_IMAGE: described and not images}.items() if need]


def is_derived(condition: str) -> bool:
    """True for the condition of a derived request."""
    return condition in (*WITHOUT, WITH_IMAGE) or ROTATION.fullmatch(condition) is not None


def turned(options: Sequence[T], by: int) -> list[T]:
    """Options that begin with the one at place `by`, from 0."""
    start = by % len(options)
    return [*options[start:], *options[:start]]


def requests(benchmark: Benchmark, item: Item, condition: str) -> Iterator[Request]:
    """Requests about an item in a derived condition; rotations are in conditions of their own, circular-1, …"""
    if condition == CIRCULAR:
        return _rotations(benchmark, item)
    if condition == WITH_IMAGE:
        return (_with_image(request, item) for request in _default(benchmark, item))
    if condition == CAPTION_ONLY:
        item = replace(item, fields={**item.fields, benchmark.DESCRIPTION: _CUT})
    edit = options_text if condition == OPTIONS_ONLY else _undescribed
    plain = (one for one in _default(benchmark, item) if condition != OPTIONS_ONLY or one.task in benchmark.OPTIONS)
    return (_texts(request, condition, edit) for request in plain)


def _texts(request: Request, condition: str, edit: Callable[[str], str]) -> Request:
    """A request without its images, its texts edited; empty ones are left out."""
    messages = []
    for message in request.messages:
        texts = (edit(part.text) for part in message.content if isinstance(part, Text))
        if content := tuple(Text(text=text) for text in texts if text):
            messages.append(replace(message, content=content))
    return replace(request, condition=condition, messages=tuple(messages))


def _with_image(request: Request, item: Item) -> Request:
    """A request with the item's picture above its last message."""
    *above, last = request.messages
    picture = Image(sha256=item.images[0].sha256 if item.images else None)
    message = replace(last, content=(picture, *last.content))
    return replace(request, condition=WITH_IMAGE, messages=(*above, message))


def _undescribed(text: str) -> str:
    """A text without the lines that hold the description."""
    return "\n".join(line for line in text.split("\n") if _CUT not in line)


def options_text(text: str) -> str:
    """A text from its list of options on; "" without one."""
    starts = [match.start() for match in _FIRST_OPTION.finditer(text)]
    return text[starts[-1] :] if starts else ""


def _default(benchmark: Benchmark, item: Item) -> list[Request]:
    return [request for request in benchmark.requests(item) if request.condition == DEFAULT]


def _rotations(benchmark: Benchmark, item: Item) -> Iterator[Request]:
    """Requests with the options rotated, each text once: a question may have fewer than MOST options."""
    seen = {request.messages for request in _default(benchmark, item)}
    for by in range(1, MOST):
        fields, _ = benchmark.rotated(item, {}, by)
        for request in _default(benchmark, replace(item, fields=fields)):
            if request.task in benchmark.OPTIONS and request.messages not in seen:
                seen.add(request.messages)
                yield replace(request, condition=f"{CIRCULAR}-{by}")


def scored_as(benchmark: Benchmark, item: Item, gold: Gold, condition: str) -> tuple[Item, Gold, Sequence[str]]:
    """Item, gold and tasks by which answers in a derived condition are scored as default ones are."""
    if match := ROTATION.fullmatch(condition):
        fields, values = benchmark.rotated(item, gold.values, int(match[1]))
        return replace(item, fields=fields), replace(gold, values=values), benchmark.OPTIONS
    return item, gold, benchmark.OPTIONS if condition == OPTIONS_ONLY else benchmark.TASKS
