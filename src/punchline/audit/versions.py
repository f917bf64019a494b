"""Checks that scores are unchanged, and differences between two runs: prompt words, code, libraries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from punchline.artifacts.project import Project
from punchline.config.runs import making
from punchline.core.storage import Stored
from punchline.errors import PunchlineError, check_file
from punchline.paths import Paths, record_of
from punchline.schema import Request, Text
from punchline.workflow import digests
from punchline.workflow.provenance import Status, is_intact, read_provenance

SHOWN = 12  # words of a changed prompt
SCORE = "Make it first: snakemake --cores all, with both among models="


def differences(benchmark: str, placed: Sequence[tuple[Paths, str]]) -> Iterator[str]:
    """Differences between two score files besides the answers, one line each; `placed`: run and model of each file."""
    if len({where for where, _ in placed}) == 1:
        return
    yield from _changed_prompts([Path(where.requests(benchmark)) for where, _ in placed])
    ours, theirs = (read_provenance(record_of(where.scores(benchmark, name))) for where, name in placed)
    assert ours is not None and theirs is not None  # check_scores has read them
    for library in sorted(ours.libraries.keys() | theirs.libraries.keys()):
        versions = [made.libraries.get(library, "absent") for made in (ours, theirs)]
        if len(set(versions)) > 1:
            yield f"scored with {library} {' and '.join(versions)}"
    if ours.code != theirs.code:
        yield "scored by different versions of the code"


def _changed_prompts(files: Sequence[Path]) -> Iterator[str]:
    """Tasks asked in other words about the same items in two files, with the first words that changed."""
    if not all(file.is_file() for file in files):
        return
    ours, theirs = ({(r.item_id, r.task, r.condition, r.sample): r for r in Stored(file, Request)} for file in files)
    changed = [key for key in ours if key in theirs and ours[key].request_id != theirs[key].request_id]
    if changed:
        tasks = ", ".join(sorted({task for _, task, *_ in changed}))
        pair = [_words(of[changed[0]]) for of in (ours, theirs)]
        same = itertools.takewhile(lambda words: words[0] == words[1], zip(*pair, strict=False))
        start = max(0, len([*same]) - 2)
        words = " → ".join(f'"{" ".join(of[start : start + SHOWN])}"' for of in pair)
        yield f"asked otherwise: {tasks}: {words if pair[0] != pair[1] else 'other pictures or sampling parameters'}"


def _words(request: Request) -> list[str]:
    parts = [part for message in request.messages for part in message.content if isinstance(part, Text)]
    return " ".join(part.text for part in parts).split()


def check_scores(benchmark: str, model: str, project: Project) -> list[str]:
    """A note on a model's scores that are not what the run's selection gives now.

    Raises PunchlineError where they, items or gold are not there, or changed since.
    """
    where, selection = project.paths, project.selection
    read, path = (where.items(benchmark), where.gold(benchmark)), where.scores(benchmark, model)
    for needed in (path, *read):
        check_file(needed, "no such file", hint=SCORE)
    record = read_provenance(record_of(path))
    changed = [file for file in read if record is not None and digests.of_file(file) != record.inputs.get(file)]
    if changed or not is_intact(path):
        what = f"were made before {changed[0]} changed" if changed else "are not those that were made"
        raise PunchlineError(f"these scores {what}", file=path, hint=f"Make them again: {making(selection.run)}")
    if benchmark not in selection.benchmarks:
        return []
    why = Status().of_all(project.score(benchmark, model))
    return [] if why is None else [f"scores of {model} are compared as they were made: {why}"]
