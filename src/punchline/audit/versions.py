"""Checks that scores are unchanged, and differences between two runs: prompt words, code, libraries."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from punchline.artifacts.project import Project
from punchline.config.cards import stems
from punchline.config.runs import making
from punchline.core.storage import Stored
from punchline.errors import PunchlineError, check_file, nearest
from punchline.paths import Paths, record_of
from punchline.schema import Request, Text
from punchline.workflow import digests
from punchline.workflow.provenance import Status, is_intact, read_provenance

PLACES = 3  # of a prompt that are shown
CHARACTERS = 100  # of each
SCORE = "Make it first: snakemake --cores all, with both among models="


def differences(benchmark: str, placed: Sequence[tuple[Paths, str]]) -> Iterator[str]:
    """Differences between two score files besides the answers, one line each; `placed`: run and model of each file."""
    if len({where for where, _ in placed}) == 1:
        return
    yield from _changed_prompts([Path(where.requests(benchmark)) for where, _ in placed])
    ours, theirs = (read_provenance(record_of(where.scores(benchmark, name))) for where, name in placed)
    if ours is None or theirs is None:
        return
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
        pair = (ours[changed[0]], theirs[changed[0]])
        parts = ([part for message in request.messages for part in message.content] for request in pair)
        words = _changed_words(*(" ".join(text.text for text in of if isinstance(text, Text)).split() for of in parts))
        yield f"asked otherwise: {tasks}: {words or 'other pictures or sampling parameters'}"


def _changed_words(before: list[str], after: list[str]) -> str:
    """`"in 3 sentences." → "in 4 sentences."`: the first places that changed, with the words before and after each."""
    changes = []
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            sides = (before[max(0, i1 - 2) : i2 + 1], after[max(0, j1 - 2) : j2 + 1])
            changes.append(" → ".join(f'"{" ".join(words)[:CHARACTERS]}"' for words in sides))
    return ", ".join(changes[:PLACES]) + (f" and {len(changes) - PLACES:,} more" if len(changes) > PLACES else "")


def check_scored(model: str, project: Project) -> None:
    """Raises PunchlineError for a model without scores in any benchmark."""
    results = project.paths.results
    known = {path.stem for path in Path(results).glob("*/scores/*.parquet")}
    if model not in known:
        hint = nearest(model, known) if known else SCORE
        raise PunchlineError(f"no scores of {model} in {results}/*/scores/", hint=hint)


def check_scores(benchmark: str, model: str, project: Project) -> list[str]:
    """A note on a model's scores that are not what the run's selection gives now.

    Raises PunchlineError where they, items or gold are not there, or changed since.
    """
    where, selection = project.paths, project.selection
    read, path = (where.items(benchmark), where.gold(benchmark)), where.scores(benchmark, model)
    check_scored(model, project)
    for needed in (path, *read):
        check_file(needed, "no such file", hint=SCORE)
    record = read_provenance(record_of(path))
    if record is None:
        return []  # made by nobody who records it
    changed = [file for file in read if digests.of_file(file) != record.inputs.get(file)]
    if changed or not is_intact(path):
        what = f"were made before {changed[0]} changed" if changed else "are not those that were made"
        raise PunchlineError(f"these scores {what}", file=path, hint=f"Make them again: {making(selection.run)}")
    if benchmark not in selection.benchmarks or model not in stems("config/model"):
        return []
    why = Status().of_all(project.score(benchmark, model))
    return [] if why is None else [f"scores of {model} are compared as they were made: {why}"]
