"""Recipes of adapters: config/finetune/*.yaml, read and checked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from punchline import paths
from punchline.config.cards import check_names, read_card, stems
from punchline.config.yaml_files import read_yaml
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, check_known
from punchline.files import as_record
from punchline.schema import ModelCard, Record

FOLDER = "config/finetune"


Names = Annotated[list[str], msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class Split(Record, frozen=True, kw_only=True):
    """The items that are held out: whole clusters, chosen by their names alone, whatever else is selected."""

    by: str  # the benchmark's name of a cluster: contest, strip
    held_out: Annotated[float, msgspec.Meta(gt=0, lt=1)] | Literal["tables"]  # a share, or those of the tables' tests
    seed: Seed = 0  # of a share


class Lora(Record, frozen=True, kw_only=True):
    targets: Names  # linear layers, of the language model only
    r: Count
    alpha: Count
    dropout: Annotated[float, msgspec.Meta(ge=0, le=0.99)]


class Recipe(Record, frozen=True, kw_only=True):
    """One file of config/finetune/. `name` is its stem."""

    name: str
    base: str  # stem of config/model/*.yaml, engine transformers
    benchmark: str
    tasks: Names
    conditions: Names
    adapter_for: Literal["all", "task"]  # one for all tasks together, or one for each
    split: Split
    shuffles: Count = 1  # orders of each item's pictures that are trained on
    items: Count | None = None  # train on the first so many of the train part only
    lora: Lora
    epochs: Count
    batch: Count  # examples
    accumulate: Count  # batches a step of the optimiser
    lr: Annotated[float, msgspec.Meta(ge=1e-12, le=10)]
    schedule: Literal["cosine", "constant"]
    warm_up: Annotated[float, msgspec.Meta(ge=0, le=1)]  # share of all steps
    weight_decay: Annotated[float, msgspec.Meta(ge=0, le=10)]
    clip: Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]  # largest norm of the gradients
    seed: Seed
    dtype: Literal["auto", "float32", "bfloat16", "float16"]  # of the base's weights; the adapter's are float32
    max_length: Count  # tokens of a prompt and its answer; longer ones are excluded
    recompute: bool = False  # activations again in the backward pass: less memory, more time
    runtime: Count | msgspec.UnsetType = msgspec.UNSET  # minutes requested from a scheduler; not part of the training

    def trained_by(self) -> dict[str, Any]:
        """The settings that determine a training, as plain data."""
        return dict(msgspec.to_builtins(msgspec.structs.replace(self, runtime=msgspec.UNSET)))

    @property
    def file(self) -> str:
        """Path of the recipe, for messages."""
        return f"{FOLDER}/{self.name}.yaml"


def read_recipe(name: str) -> Recipe:
    """The recipe config/finetune/<name>.yaml.

    Raises PunchlineError, naming file and key, also for values that its base or its benchmark does not allow.
    """
    file = f"{FOLDER}/{name}.yaml"
    check_known(name, stems(FOLDER), f"unknown recipe {name!r}", file=file)
    recipe = as_record({**read_yaml(file), "name": name}, Recipe, lambda _: file)
    check_names([recipe.base], stems("config/model"), file, "base")
    check_names([recipe.benchmark], benchmarks.having("training"), file, "benchmark")
    card = read_card(recipe.base)
    if card.engine != "transformers" or "adapter" in card.options:
        raise PunchlineError("expected a card of engine transformers, no adapter", file=file, field="base")
    benchmark, hook = benchmarks.load(recipe.benchmark), benchmarks.optional_module(recipe.benchmark, "training")
    conditions = [condition for condition in benchmark.CONDITIONS if condition not in benchmark.CHAINED]
    check_names(recipe.tasks, benchmark.TASKS, file, "tasks")
    check_names(recipe.conditions, conditions, file, "conditions")
    check_names([recipe.split.by], [hook.CLUSTER], file, "split.by")
    if recipe.shuffles > 1 and not hasattr(hook, "variants"):
        raise PunchlineError(f"{recipe.benchmark} has no orders to shuffle", file=file, field="shuffles")
    return recipe


def can_train(card: ModelCard, adapter: str, benchmarks: Collection[str]) -> bool:
    """True if an adapter has a recipe for selected benchmarks.

    Raises PunchlineError for one that neither exists nor can be trained.
    """
    exists = Path(paths.adapter(adapter)).is_file()
    if exists and adapter not in stems(FOLDER):
        return False
    check_known(adapter, stems(FOLDER), f"no recipe {adapter!r}", file=card.file, field="adapter")
    benchmark = read_recipe(adapter).benchmark
    if exists or benchmark in benchmarks:
        return benchmark in benchmarks
    raise PunchlineError(f"to train the adapter {adapter}, select {benchmark} too", file=card.file, field="adapter")
