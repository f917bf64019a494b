"""CSV files on the validity of a benchmark's scores, and those over all benchmarks of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from punchline.artifacts.run import Run
from punchline.files import csv_text, write_text
from punchline.validity import items, judges, links, option_order, people, pictures, repeats, shortcuts

# Columns and rows by file name: artifacts/project.py lists the names (VALIDITY).
OF_BENCHMARK: dict[str, tuple[Sequence[str], Callable[[Run, str], Sequence[dict[str, Any]]]]] = {
    "items": (items.COLUMNS, items.rows),
    "picture_gain": (pictures.COLUMNS, pictures.rows),
    "corrected": (judges.COLUMNS, judges.rows),
    "option_order": (option_order.COLUMNS, option_order.rows),
    "people": (people.COLUMNS, people.rows),
    "votes": (people.VOTES, people.votes),
    "repeats": (repeats.COLUMNS, repeats.rows),
    "verdicts": (repeats.VERDICTS, repeats.verdicts),
}


def write_shortcuts(run: Run, benchmark: str) -> None:
    """Write the values of shortcuts through one benchmark's closed questions."""
    write_text(run.paths.csv("shortcuts", benchmark), csv_text(shortcuts.COLUMNS, shortcuts.rows(run, benchmark)))


def write_validity(run: Run, benchmark: str) -> None:
    """Write the files on the validity of one benchmark's scores, each with a header if it has no rows."""
    for name, (columns, rows) in OF_BENCHMARK.items():
        write_text(run.paths.csv(name, benchmark), csv_text(columns, rows(run, benchmark)))


def write_shared(run: Run) -> None:
    """Write the files over all benchmarks of a run."""
    write_text(run.paths.csv("shortcuts"), csv_text(shortcuts.COLUMNS, shortcuts.of_all(run)))
    write_text(run.paths.csv("links"), csv_text(links.COLUMNS, links.rows(run)))
