"""Asking an engine by way of a journal, and what a journal holds, without a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from punchline.core.engine import Engine
from punchline.journal import Answers, Key, read_lines
from punchline.respond import answered, write_index
from punchline.schema import Request, Response


def ask(
    engine: Engine | None,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    *,
    journal: str | Path,
    index: str | Path,
    key: str,
    label: str = "test",
    **options: Any,
) -> Counter[str]:
    """Answer requests, write the index; how many answers of each state it holds."""
    with answered(engine, requests, images, journal=journal, key=key, label=label, **options) as log:
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
