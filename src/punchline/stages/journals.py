"""Care of journals: without what no longer counts; with what another folder was answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from punchline.core.errors import PunchlineError
from punchline.core.journal import Journal, Key, compact
from punchline.core.storage import read_columns
from punchline.project import paths
from punchline.project.needs import Project
from punchline.project.processes import take_folder
from punchline.project.provenance import Checks, Step
from punchline.project.runs import making, runs


def compacted(*, orphans: bool) -> Iterator[tuple[str, int, int]]:
    """(path, bytes before, bytes after) of every journal of the folder, each rewritten as it comes.

    Lines go whose key has a later one. With `orphans` answers go too that no run's current requests ask for; journals
    of whom no run selects are left as they are. Raises PunchlineError where that cannot be told, before anything goes.
    """
    take_folder()
    named = _named() if orphans else {}
    for path in sorted(Path(paths.JOURNALS).rglob("*.jsonl")):
        file = path.as_posix()
        if (whole := _whole(path)) != file:  # a shard's, left behind
            with Journal(whole) as journal:
                journal.take(path)
            path.unlink()
    for path in sorted(Path(paths.JOURNALS).rglob("*.jsonl")):
        keys = named.get(path.as_posix())
        yield path.as_posix(), *compact(path, keys)


def _whole(path: Path) -> str:
    """The journal that one belongs to: itself, or for a shard's that of who is asked."""
    folder = path.parent
    own = folder.parent.with_name(f"{folder.name}.jsonl") if folder.parent.name == paths.SHARDS else path
    return own.as_posix()


def _named() -> dict[str, set[Key]]:
    """{journal: keys of the answers that some run rests on}. Raises PunchlineError for a run that is not finished."""
    found: dict[str, set[Key]] = {}
    for name, chosen in runs().items():
        project, checks = Project(chosen.selection), Checks()
        unknown, way_out = (
            f"which answers the run {name} rests on is not known",
            "delete the run; without --orphans nothing of it is needed",
        )
        try:
            steps = list(_snapshots(project))
        except PunchlineError as error:  # a card that is gone
            raise PunchlineError(f"{unknown}: {error}", way_out=f"Bring it back, or {way_out}") from error
        for step in steps:
            if (reason := checks(step).reason) is not None:
                raise PunchlineError(
                    f"{unknown}: {reason}",
                    file=step.outputs[0],
                    way_out=f"{making(name, 'responses')}, or {way_out}",
                )
            columns = read_columns(step.outputs[0], ["request_id", "model_key"])
            keys = set(zip(columns["request_id"], columns["model_key"], strict=True))
            for _, journal, _ in step.journals():
                found.setdefault(journal, set()).update(keys)
    return found


def _snapshots(project: Project) -> Iterator[Step]:
    for benchmark in project.selection.benchmarks:
        for model in project.selection.models:
            yield project.snapshot(benchmark, model)
            for hop in project.hops(benchmark, model):
                yield project.hop_snapshot(benchmark, hop, model)


def merged(folder: Path) -> Iterator[tuple[str, int]]:
    """(journal, answers that it took over) of every journal below another folder's, or a copy of, data/responses."""
    take_folder()
    within = folder / paths.JOURNALS if (folder / paths.JOURNALS).is_dir() else folder
    files = sorted(
        path for path in within.rglob("*.jsonl") if path.relative_to(within).parts[0] != Path(paths.BATCHES).name
    )
    if not files:
        raise PunchlineError(
            "no journals in it", file=folder, way_out="Name a project, or a copy of its data/responses"
        )
    if within.resolve() == Path(paths.JOURNALS).resolve():
        raise PunchlineError("that is this project itself", file=folder, way_out="Name another project, or a copy")
    for path in files:
        own = _whole(Path(paths.JOURNALS) / path.relative_to(within))
        with Journal(own) as journal:
            yield own, journal.take(path)
