"""Respondents of a model's requests: engine versions, reasons of failures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from punchline.core.storage import rows_in
from punchline.schema import LENGTH

COLUMNS = ("engine", "engine_version", "state", "reason", "finish_reason")  # of a response


class Answerers(NamedTuple):
    """Engines that answered a model's requests, or those of a pass, with versions and reasons of failures."""

    versions: tuple[str, ...]
    failures: tuple[str, ...]
    truncated: float  # share of the answers that were cut off by their limit of tokens


def answerers_in(path: str | Path) -> Answerers:
    """The respondents of an index."""
    versions, failures, finishes = set(), set(), Counter[str | None]()
    for engine, version, state, reason, finish_reason in rows_in(path, COLUMNS):
        finishes[finish_reason] += 1
        versions.add(f"{engine} {version}")
        if state == "failed":
            failures.add(reason or "no reason given")
    return Answerers(tuple(sorted(versions)), tuple(sorted(failures)), finishes[LENGTH] / (finishes.total() or 1))
