"""Respondents of a model's requests: engine versions, reasons of failures, unknown items."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from punchline.artifacts.project import Project
from punchline.core.storage import rows_in
from punchline.prepare import read_files
from punchline.schema import LENGTH

COLUMNS = ("engine", "engine_version", "state", "reason", "finish_reason")  # of a response


class Who(NamedTuple):
    """Who answered a model's requests, or those of a pass: engines with their versions, and why any failed."""

    versions: tuple[str, ...]
    failures: tuple[str, ...]
    truncated: float  # share of the answers that were cut off by their limit of tokens


def who_in(path: str | Path) -> Who:
    """The respondents of an index."""
    versions, failures, finishes = set(), set(), Counter[str | None]()
    for engine, version, state, reason, finish_reason in rows_in(path, COLUMNS):
        finishes[finish_reason] += 1
        versions.add(f"{engine} {version}")
        if state == "failed":
            failures.add(reason or "no reason given")
    return Who(tuple(sorted(versions)), tuple(sorted(failures)), finishes[LENGTH] / (finishes.total() or 1))


def respondents_of(project: Project, benchmark: str, model: str) -> dict[str, Who]:
    """Respondents by pass; "": the model itself."""
    passes = ("", *project.passes(benchmark, model))
    return {pass_: who_in(project.paths.snapshot(benchmark, model, pass_)) for pass_ in passes}


def unknown_items(project: Project, benchmark: str, model: str) -> list[str]:
    """Items that released answers speak of and the benchmark has not."""
    engine, loaded = project.engines[model], project.benchmark(benchmark)
    if not engine.files:
        return []
    files = read_files([project.paths.raw(benchmark, name) for name in loaded.ITEM_FILES])
    return engine.unknown({item_id for item_id, _, _ in loaded.listing(files)})
