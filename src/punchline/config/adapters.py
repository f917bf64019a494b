"""Trained adapters: what the folder data/adapters/<name>/ holds, and how it is loaded onto its base.

Training (punchline.train) writes punchline.json last: a folder without it is no adapter. A module of its
own, so that no answer depends on the code that trains.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from punchline.errors import PunchlineError
from punchline.files import MANIFEST, decoded, sha256_file
from punchline.paths import adapter
from punchline.schema import Record, digest_of

HELD_OUT = "heldout.csv"
WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"  # the names that peft reads
WHOLE = "all"  # the one part of an adapter that answers every task


class Base(Record, frozen=True, kw_only=True):
    """The model that an adapter was trained on."""

    card: str  # stem of config/model/*.yaml
    id: str
    revision: str


class Part(Record, frozen=True, kw_only=True):
    """One set of weights: of the whole adapter, or of one task."""

    examples: dict[str, int]  # by task
    steps: int  # of the optimiser
    parameters: int  # that were trained
    modules: int  # that they were put on
    losses: list[float]  # mean over the answers' tokens, by epoch


class Trained(Record, frozen=True, kw_only=True):
    """punchline.json: all that an adapter was made of, and what it was made into."""

    name: str
    files: dict[str, str]  # sha256 of every file of weights and settings, by path in the folder
    parts: dict[str, Part]  # by task; WHOLE: one for all
    base: Base
    recipe: dict[str, Any]
    corpus: str  # whose items it was trained on
    trained: list[str]  # items
    held_out: list[str]  # items
    left_out: dict[str, int]  # why examples were not trained on: how many
    versions: dict[str, str]  # of packages
    dtype: str
    device: str


def folder_of(name: str) -> Path:
    """Folder of an adapter."""
    return manifest_of(name).parent


def manifest_of(name: str) -> Path:
    """The file that says that an adapter is there: what training is asked for."""
    return Path(adapter(name))


def trained(name: str) -> Trained | None:
    """Content of an adapter's punchline.json; None: it is not trained. Raises PunchlineError for a damaged file."""
    path = manifest_of(name)
    if not path.is_file():
        return None
    return decoded(path.read_bytes(), Trained, "an adapter's manifest", path, hint=f"Delete {path.parent}, train again")


def files_beside(name: str) -> list[str]:
    """Weights and settings of an adapter that is trained."""
    return [(folder_of(name) / file).as_posix() for file in manifest.files] if (manifest := trained(name)) else []


def identity(name: str) -> str:
    """The digest of an adapter's weights, or `untrained`."""
    return digest_of(manifest.files) if (manifest := trained(name)) else "untrained"


def how_to_train(name: str) -> str:
    """The command that trains an absent adapter."""
    return f"the adapter {name} is not trained: snakemake {manifest_of(name)}"


def load(name: str, model: Any, model_id: str, revision: str, file: str) -> tuple[Any, tuple[str, ...]]:
    """Put an adapter onto a base that is in memory: (the model, one of whose parts answers at a time, the parts).

    Raises PunchlineError, naming the card `file`, where it is not trained, was trained on another base, or its files
    are not those that punchline.json lists.
    """
    from peft import PeftModel

    manifest = trained(name)
    if manifest is None:
        raise PunchlineError(how_to_train(name), file=file, field="adapter")
    if (manifest.base.id, manifest.base.revision) != (model_id, revision):
        what = f"the adapter {name} was trained on {manifest.base.id} at {manifest.base.revision}"
        raise PunchlineError(what, file=file, field="id", hint="Write that id and revision, or train again")
    folder = folder_of(name)
    for path, digest in manifest.files.items():
        if not (folder / path).is_file() or sha256_file(folder / path) != digest:
            raise PunchlineError(f"not as {MANIFEST} lists it", file=folder / path, hint="Run with --forcerun train")
    places = {part: str(folder if part == WHOLE else folder / part) for part in manifest.parts}
    (first, place), *others = places.items()
    tuned = PeftModel.from_pretrained(model, place, adapter_name=first)
    for part, place in others:
        tuned.load_adapter(place, adapter_name=part)
    tuned.eval()
    return tuned, tuple(manifest.parts)


def part_for(parts: Collection[str], task: str) -> str | None:
    """The part that answers a task; None: the adapter was trained for other tasks."""
    return WHOLE if WHOLE in parts else task if task in parts else None
