"""Summary of a run: answers by state, tables, and the command that retries failed answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from punchline.artifacts.passes import ALL
from punchline.artifacts.project import Project
from punchline.core.engine import NOT_ATTEMPTED, reported_state
from punchline.core.storage import rows_in
from punchline.paths import DEFAULT_RUN
from punchline.schema import LENGTH

ORDER = ("answered", NOT_ATTEMPTED, "missing", "failed", "refused", "unparsed", "truncated")


def answers_of(project: Project, respondent: str) -> tuple[Counter[str], list[str]]:
    """Number of answers of each state of a respondent, and reasons of failures."""
    counts, reasons = Counter[str](), []
    for artifact in project.built_by("respond", respondent, ALL):
        index = artifact.outputs[0]
        columns = ["state", "reason", "finish_reason"]
        for state, reason, finish in rows_in(index, columns) if Path(index).is_file() else ():
            counts["answered" if state == "ok" else reported_state(state, reason)] += 1
            counts["truncated"] += finish == LENGTH
            reasons += [reason or "no reason given"] if state == "failed" else []
    scores = [project.paths.scores(name, respondent) for name in project.selection.benchmarks]
    for file in (path for path in scores if Path(path).is_file()):
        counts["unparsed"] += Counter(rows_in(file, ["state", "rule"]))["unparsable", "paper"]
    return counts, reasons


def summary(project: Project, tables: Collection[str]) -> Iterator[tuple[bool, str]]:
    """(whether something failed, a line) of what a run came to: a line for each respondent, tables, failures last."""
    failed = []
    for respondent in project.respondents:
        counts, reasons = answers_of(project, respondent)
        if not counts:
            continue
        states = ", ".join(f"{counts[state]:,} {state}" for state in ORDER if counts[state])
        yield False, f"{respondent}: {states}"
        if reasons:
            total = counts.total() - counts["truncated"] - counts["unparsed"]
            failed.append(f"{respondent}: {len(reasons):,} of {total:,} answers failed: {reasons[0]}")
    if tables:
        written = f"{len(tables):,} table{'s' * (len(tables) > 1)} written"
        yield False, f"{written}: {', '.join(sorted(tables)[:3])}{', …' * (len(tables) > 3)}"
    run = "" if project.selection.run == DEFAULT_RUN else f" run={project.selection.run}"
    yield from ((True, what) for what in failed)
    if failed:
        yield True, f"To ask these again: punchline retry{run}"
