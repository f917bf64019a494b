"""Runs: named selections beside each other, each with its own views of what all share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from punchline.core.storage import parse_csv
from punchline.project.paths import DEFAULT_RUN, RUNS
from punchline.project.selection import Chosen, Selection, read_chosen, read_selection


def changes(before: Selection, after: Selection) -> list[str]:
    """`key: before → after` of every key of two selections that differs."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    old["corpus"], new["corpus"] = before.corpus.name, after.corpus.name
    return [f"{key}: {_text(old[key])} → {_text(new[key])}" for key in new if old[key] != new[key] and key != "run"]


def _text(value: Any) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def selection_text(selection: Selection) -> str:
    """A selection in one line."""
    plain = msgspec.to_builtins(selection) | {"corpus": selection.corpus.name}
    shown = {key: value for key, value in plain.items() if key not in ("run", "subset_sha256")}
    return ", ".join(f"{key} {_text(value)}" for key, value in shown.items() if value not in (None, []))


def changes_in_place(selection: Selection) -> list[str]:
    """One line that says how the default run is about to be another; none for a named run, or the same."""
    before = read_chosen(selection.run)
    if selection.run != DEFAULT_RUN or before is None:
        return []
    if not (changed := changes(before.selection, selection)):
        return []
    return [f"the default run changes in place: {'; '.join(changed)} (to keep it, add --config run=NAME)"]


def made_with(run: str) -> Selection:
    """The selection that a run was last made with; the default run's is config/run.yaml's before it was ever made.

    Raises PunchlineError for a run that there is not.
    """
    chosen = read_chosen(run)
    if chosen is not None:
        return chosen.selection
    return read_selection({} if run == DEFAULT_RUN else {"run": run})[0]


def nothing_scored(table: str) -> bool:
    """Whether a table's CSV has rows of models or baselines, and not one of them a scored item."""
    rows = [cells for _, cells in parse_csv(Path(table).read_bytes(), (), file=table)]
    counts = [row["n"] for row in rows if row.get("kind") in ("measured", "baseline") and row.get("n")]
    return bool(counts) and all(float(count) == 0 for count in counts)


def runs() -> dict[str, Chosen]:
    """{name: what it was last made with} of every run that was made."""
    names = [DEFAULT_RUN, *sorted(path.name for path in Path(RUNS[1]).glob("*") if path.is_dir())]
    found = {name: read_chosen(name) for name in names}
    return {name: chosen for name, chosen in found.items() if chosen is not None}
