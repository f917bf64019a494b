"""Asking an engine by way of a journal, and what a journal holds, without a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.records import response

from punchline.core.engine import Engine
from punchline.journal import Answers, Key, read_lines
from punchline.respond import answered, write_index
from punchline.schema import ModelCard, Request, Response, State


class Counting(Engine):
    """An engine of tests: answers with `text`, else with the item's id, and counts what it is asked."""

    name = "counting"
    version = "1"

    def __init__(self, needs_images: bool = False, state: State = "ok", text: str | None = None) -> None:
        super().__init__(ModelCard(name="m", engine="counting"))
        self.needs_images, self.state, self.text = needs_images, state, text
        self.asked: list[str] = []

    def identity(self) -> dict[str, Any]:
        return {"v": 1}

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        for request in requests:
            self.asked.append(request.item_id)
            text = None if self.state != "ok" else request.item_id if self.text is None else self.text
            about = {"model_key": model_key, "engine": self.name, "engine_version": self.version}
            yield response(request, text, self.state, reason=None, **about)


def ask(
    engine: Engine | None, requests: Sequence[Request], images: Mapping[str, Path], *, index: Any, key: str, **more: Any
) -> Counter[str]:
    """Answer requests, write the index; how many answers of each state it holds."""
    with answered(engine, requests, images, key=key, **{"label": "test"} | more) as log:
        return write_index(index, requests, log, key)


def answers_in(*journals: str | Path) -> dict[Key, Response]:
    """The answers that count in journals. Raises PunchlineError for a damaged line."""
    with closing(Answers(journals)) as log:
        if log.damaged:
            raise log.damaged[0]
        keys = [(one.request_id, one.model_key) for path in journals for one in lines_of(path)]
        return {key: log.read(key) for key in keys}


def lines_of(journal: str | Path) -> list[Response]:
    """Every intact answer of a journal, in its order."""
    if not Path(journal).is_file():
        return []
    with Path(journal).open("rb") as stream:
        return [found for *_, found in read_lines(stream, file=journal) if isinstance(found, Response)]
