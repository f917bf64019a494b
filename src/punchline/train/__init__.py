"""Fine-tuning with LoRA: recipes, splits, examples, a loop that can be stopped at any time, adapters.

A recipe is one file of config/finetune/. Examples are the benchmark's own requests, rendered as the transformers engine
renders them, followed by the gold answer (punchline.benchmarks.<name>.training); the loss is on the answer's tokens.
State lies in data/adapters/<name>.work/; its last checkpoint stays, so that a job that runs again with nothing changed
but a source file trains nothing. The same recipe, items and machine give the same bytes on a CPU, stopped and started
again or not; on a GPU that is not promised.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from punchline.artifacts.run import Run
from punchline.config import adapters
from punchline.config.adapters import WHOLE, Base, Part, Trained
from punchline.config.cards import read_card
from punchline.config.recipes import Recipe, read_recipe
from punchline.engines.transformers import Transformers
from punchline.engines.transformers.loaded import Loaded
from punchline.errors import PunchlineError
from punchline.files import MANIFEST, csv_text, exclusive_lock, read_records, write_bytes, write_text
from punchline.respond import image_files
from punchline.schema import Gold, Item, ModelCard, canonical, digest_of
from punchline.text import log_line
from punchline.train.examples import Encoded, encoded, examples_of, is_held_out
from punchline.train.training import Training

PACKAGES = ("torch", "transformers", "peft", "safetensors")


def train(recipe: Recipe, base: ModelCard, items: Sequence[Item], golds: Sequence[Gold], *, corpus: str) -> Trained:
    """Train an adapter, or go on where a stopped training was; write its folder and return what its manifest says.

    Raises PunchlineError where packages are missing or nothing is left to train on.
    """
    if absent := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
        raise PunchlineError(f"not installed: {', '.join(absent)}; run make hf", file=recipe.file)
    folder = adapters.folder_of(recipe.name)
    work = Path(f"{folder}.work")
    with exclusive_lock(work, "another process is training this"):
        held = [item.item_id for item in items if is_held_out(item, recipe)]
        engine, loaded, tokenised, excluded = _load(recipe, base, items, golds, held, work / "pictures")
        versions = {name: importlib.metadata.version(name) for name in PACKAGES}
        (folder / MANIFEST).unlink(missing_ok=True)  # until it is written again there is no adapter
        base_of = Base(card=recipe.base, id=engine.id, revision=engine.revision)
        parts, files = _train_parts(recipe, base_of, loaded, tokenised, versions)
        used = {one.example.request.item_id.partition("#")[0] for one in tokenised}
        manifest = Trained(
            name=recipe.name,
            files=files,
            parts=parts,
            base=base_of,
            recipe=recipe.trained_by(),
            corpus=corpus,
            trained=[item.item_id for item in items if item.item_id in used],
            held_out=held,
            left_out=dict(sorted(excluded.items())),
            versions=versions,
            dtype=loaded.dtype,
            device=loaded.device,
        )
        write_text(folder / adapters.HELD_OUT, csv_text(("item_id",), ({"item_id": name} for name in held)))
        write_bytes(folder / MANIFEST, msgspec.json.format(canonical(manifest), indent=1) + b"\n")
        shutil.rmtree(work / "pictures", ignore_errors=True)
    return manifest


def _load(
    recipe: Recipe, base: ModelCard, items: Sequence[Item], golds: Sequence[Gold], held: Sequence[str], pictures: Path
) -> tuple[Transformers, Loaded, list[Encoded], Counter[str]]:
    """(engine of the base, its weights, the examples as tokens, why others are excluded: how many)."""
    import torch

    examples, variants, excluded = examples_of(recipe, items, golds, pictures)
    card = msgspec.structs.replace(base, options={**base.options, "dtype": recipe.dtype})
    engine = Transformers(card, recipe.seed)
    if reason := engine.unavailable():
        raise PunchlineError(reason, file=card.file)
    torch.use_deterministic_algorithms(True, warn_only=True)
    loaded = Loaded(card, engine.id, engine.revision, engine.dtype)
    tokenised = list(encoded(recipe, engine, loaded, examples, image_files(variants), excluded))
    if not tokenised:
        what = [f"nothing to train on: {len(items)} items selected, {len(held)} of them held out"]
        what += [f"{count} examples: {reason}" for reason, count in sorted(excluded.items())]
        raise PunchlineError("; ".join(what), file=recipe.file, hint="Use no subset=, and a model that looks at images")
    return engine, loaded, tokenised, excluded


def _train_parts(
    recipe: Recipe, base: Base, loaded: Loaded, examples: list[Encoded], versions: dict[str, str]
) -> tuple[dict[str, Part], dict[str, str]]:
    """Train and write the parts of an adapter: (parts, {path: sha256})."""
    folder = adapters.folder_of(recipe.name)
    state: dict[str, Any] = {"recipe": recipe.trained_by(), "versions": versions}
    state["base"] = [base.id, base.revision, loaded.dtype, loaded.device]
    state["examples"] = [[one.example.request.request_id, one.example.target] for one in examples]
    parts, files = {}, dict[str, str]()
    for part in recipe.tasks if recipe.adapter_for == "task" else [WHOLE]:
        if chosen := [one for one in examples if part in (WHOLE, one.example.request.task)]:
            key = digest_of({**state, "part": part})
            training = Training(recipe, loaded, chosen, part, Path(f"{folder}.work/{part}.pt"), key)
            parts[part] = training.run()
            files |= training.write(folder, base.id)
    return parts, files


def write_adapter(run: Run, adapter: str) -> None:
    """Write an adapter, trained by its recipe on the selection's items."""
    recipe = read_recipe(adapter)
    items = read_records(run.paths.items(recipe.benchmark), Item)
    golds = read_records(run.paths.gold(recipe.benchmark), Gold)
    manifest = train(recipe, read_card(recipe.base), items, golds, corpus=run.selection.corpus.name)
    log_line(f"train {recipe.name}: trained on {len(manifest.trained):,} items, {len(manifest.held_out):,} held out")
    for reason, count in manifest.left_out.items():
        log_line(f"train {recipe.name}: {count:,} examples excluded: {reason}")
