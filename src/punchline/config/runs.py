"""Runs: named selections, each with its own files next to the shared ones."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import msgspec

from punchline.config.selection import Chosen, Selection, read_chosen, read_selection
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, nearest
from punchline.files import parse_csv
from punchline.paths import DEFAULT_RUN, LAST_RUN, RUNS, Paths


def _plain(selection: Selection) -> dict[str, Any]:
    plain = msgspec.to_builtins(selection) | {"corpus": selection.corpus.name}
    return {key: value for key, value in plain.items() if key != "run"}


def _text(value: Any) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else "none" if value is None else str(value)


def selected(selection: Selection) -> dict[str, Any]:
    """{key: value} of a selection, without unset keys."""
    return {key: v for key, v in _plain(selection).items() if key != "subset_sha256" and v not in (None, [])}


def selection_text(selection: Selection) -> str:
    """A selection in one line."""
    return ", ".join(f"{key} {_text(value)}" for key, value in selected(selection).items())


def changes_in_place(selection: Selection) -> list[str]:
    """One line with the changes of a run's selection, `key: before → after`; empty for a new or an unchanged run."""
    before, new = read_chosen(selection.run), _plain(selection)
    old = new if before is None else _plain(before.selection)
    changed = [key for key in old | new if old.get(key) != new.get(key)]
    if not changed:
        return []
    text = "; ".join(f"{key}: {_text(old.get(key))} → {_text(new.get(key))}" for key in changed)
    keep = "add --config run=NAME" if selection.run == DEFAULT_RUN else "give the new one another name"
    return [f"the {selection.run} run changes in place: {text} (to keep it, {keep})"]


def selection_of(run: str) -> Selection:
    """The selection of a run's last call; for the default run without one, that of config/run.yaml.

    Raises PunchlineError for an unknown run.
    """
    if (chosen := read_chosen(run)) is not None:
        return chosen.selection
    return read_selection({} if run == DEFAULT_RUN else {"run": run})[0]


def last_run() -> str:
    """The run that was made last here; the default run if none was, or it is gone."""
    file = Path(LAST_RUN)
    name = file.read_text(encoding="utf-8") if file.is_file() else DEFAULT_RUN
    return name if read_chosen(name) else DEFAULT_RUN


def nothing_scored(table: str) -> bool:
    """True if a table's CSV has rows of models or baselines, and none has a scored item."""
    rows = [cells for _, cells in parse_csv(Path(table).read_bytes(), (), file=table)]
    counts = [row["n"] for row in rows if row.get("kind") in ("measured", "baseline") and row.get("n")]
    return bool(counts) and all(float(count) == 0 for count in counts)


def runs() -> dict[str, Chosen]:
    """{name: selection of its last call} of every run."""
    names = [DEFAULT_RUN, *sorted(path.name for path in Path(RUNS[1]).glob("*") if path.is_dir())]
    return {name: chosen for name in names if (chosen := read_chosen(name)) is not None}


def find_root(start: Path, above: bool = True) -> Path:
    """The project of a folder: itself or, with `above`, one above it. Raises PunchlineError."""
    for folder in (start, *(start.parents if above else ())):
        if (folder / "Snakefile").is_file() and (folder / "config" / "run.yaml").is_file():
            return folder
    what = f"no project: no Snakefile with config/run.yaml in {start}" + (" or above it" if above else "")
    raise PunchlineError(what, hint="Go to the project, or name its root: --root")


def making(run: str, *targets: str, **overrides: str) -> str:
    """The command that builds targets in a run."""
    values = ({} if run == DEFAULT_RUN else {"run": run}) | overrides
    config = ["--config", *(shlex.quote(f"{key}={value}") for key, value in values.items())] if values else []
    return " ".join(["snakemake --cores all", *targets, *config])


def run_of(name: str, run: str = DEFAULT_RUN) -> str:
    """The run of a path below results/; `run` for another path or a name."""
    found = re.match(f"{RUNS[1]}/([^/]+)|{Paths().results}/", Path(name).as_posix())
    return (found[1] or DEFAULT_RUN) if found else run


def table_named(name: str, run: str = DEFAULT_RUN, *others: Path) -> tuple[str, str]:
    """(benchmark, table) of a table given by name or path, or by one of the paths `others`.

    Raises PunchlineError, also for a name of several tables that the run selects or that its results hold.
    """
    run = run_of(name, run)
    where, chosen = Paths(run=run), selection_of(run).benchmarks
    folders = (where.results, *(f"{where.results}/{benchmark}" for benchmark in benchmarks.folders()))
    made = {file for folder in folders if Path(file := f"{folder}/{name}.csv").is_file()}
    for known in (chosen, benchmarks.folders()):  # the others are slow to import
        tables = benchmarks.every(lambda benchmark: benchmarks.load(benchmark).TABLES, known)
        paths = {where.table(t.file): (benchmark, t.name) for benchmark, of in tables.items() for t in of.values()}
        for path in (Path(name), *others):
            if path.as_posix() in paths:
                return paths[path.as_posix()]
        if known is chosen and made - paths.keys():
            continue  # another benchmark's table of this name is there
        matches = {file: table for file, table in paths.items() if name in (table[1], "/".join(table))}
        near = {file: table for file, table in matches.items() if table[0] in chosen or file in made}
        matches = near or matches
        if len(matches) > 1:
            raise PunchlineError(f"several benchmarks have a {name}", hint=f"Name one of {', '.join(matches)}")
        if matches:
            return next(iter(matches.values()))
    names = {*paths, *map("/".join, paths.values()), *(table for _, table in paths.values())}
    raise PunchlineError(f"no table {name!r}", hint=nearest(name, names))
