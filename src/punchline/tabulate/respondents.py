"""Respondents of a model's requests: engine versions, reasons of failures, unknown items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import msgspec

from punchline.artifacts.project import Project
from punchline.core.storage import rows_in
from punchline.prepare import read_files
from punchline.schema import LENGTH, Record


class Answered(Protocol):
    """Facts about a response that tables use."""

    @property
    def engine(self) -> str: ...

    @property
    def engine_version(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def finish_reason(self) -> str | None: ...


class Who(Record, frozen=True, kw_only=True):
    """Who answered a model's requests, or those of a pass: engines with their versions, and why any failed."""

    versions: tuple[str, ...]
    failures: tuple[str, ...]
    truncated: float = 0.0  # share of the answers that were cut off by their limit of tokens


def who_answered(responses: Iterable[Answered]) -> Who:
    """Respondents of all responses."""
    versions, failures, finishes = set(), set(), Counter[str | None]()
    for response in responses:
        finishes[response.finish_reason] += 1
        versions.add(f"{response.engine} {response.engine_version}")
        if response.state == "failed":
            failures.add(response.reason or "no reason given")
    share = finishes[LENGTH] / (finishes.total() or 1)
    return Who(versions=tuple(sorted(versions)), failures=tuple(sorted(failures)), truncated=share)


class _Response(msgspec.Struct, frozen=True):
    engine: str
    engine_version: str
    state: str
    reason: str | None
    finish_reason: str | None


def who_in(path: str | Path) -> Who:
    """The respondents of an index."""
    return who_answered(_Response(*row) for row in rows_in(path, _Response.__struct_fields__))


def respondents_of(project: Project, benchmark: str, model: str) -> dict[str, Who]:
    """Respondents by pass; "": the model itself."""
    where, passes = project.paths, project.passes(benchmark, model)
    indexes = {"": where.snapshot(benchmark, model)} | {
        pass_: where.snapshot(benchmark, model, pass_) for pass_ in passes
    }
    return {pass_: who_in(path) for pass_, path in indexes.items()}


def unknown_items(project: Project, benchmark: str, model: str) -> list[str]:
    """Items that released answers speak of and the benchmark has not."""
    engine, loaded = project.engines[model], project.benchmark(benchmark)
    if not engine.files:
        return []
    files = read_files([project.paths.raw(benchmark, name) for name in loaded.ITEM_FILES])
    return engine.unknown({item_id for item_id, _, _ in loaded.listing(files)})
