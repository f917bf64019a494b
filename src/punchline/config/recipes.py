"""Recipes of adapters: config/finetune/*.yaml, read and checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from punchline import paths
from punchline.config import adapters
from punchline.config.cards import as_record, read_card, stems
from punchline.config.yaml_files import read_yaml
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, nearest
from punchline.schema import ModelCard, Record

FOLDER = "config/finetune"
DTYPES = ("auto", "float32", "bfloat16", "float16")  # of weights


class Split(Record, frozen=True, kw_only=True):
    """Which items are held out. Whole clusters are, by their name alone: whatever else is selected, they stay so."""

    by: str  # what the benchmark calls a cluster: contest, strip
    held_out: float | Literal["tables"]  # share; "tables": those that the benchmark's fine-tuning tables test on
    seed: int = 0  # of a share


class Lora(Record, frozen=True, kw_only=True):
    targets: list[str]  # names of linear layers, of the language model only
    r: int
    alpha: int
    dropout: float


class Recipe(Record, frozen=True, kw_only=True):
    """One file of config/finetune/. `name` is its stem."""

    name: str
    base: str  # stem of config/model/*.yaml, engine transformers
    benchmark: str
    tasks: list[str]
    conditions: list[str]
    adapter_for: Literal["all", "task"]  # one for all tasks together, or one for each
    split: Split
    shuffles: int = 1  # orders of each item's pictures that are trained on
    items: int | None = None  # train on the first so many of the train part only
    lora: Lora
    epochs: int
    batch: int  # examples
    accumulate: int  # batches a step of the optimiser
    lr: float
    schedule: Literal["cosine", "constant"]
    warm_up: float  # share of all steps
    weight_decay: float
    clip: float  # largest norm of the gradients
    seed: int
    dtype: str  # of the base's weights; the adapter's are float32 in training
    max_length: int  # tokens of a prompt and its answer; longer ones are left out
    recompute: bool = False  # activations again in the backward pass: less memory, more time
    # Minutes that its job asks a scheduler for. Left out of what it trains by.
    runtime: Annotated[int, msgspec.Meta(ge=1)] | msgspec.UnsetType = msgspec.UNSET

    def trained_by(self) -> dict[str, Any]:
        """The settings that determine a training, as plain data."""
        plain: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(self, runtime=msgspec.UNSET))
        return plain

    @property
    def file(self) -> str:
        """Path of the recipe, for messages."""
        return f"{FOLDER}/{self.name}.yaml"


def read_recipe(name: str) -> Recipe:
    """The recipe config/finetune/<name>.yaml. Raises PunchlineError naming file and key."""
    file = Path(FOLDER) / f"{name}.yaml"
    if name not in stems(FOLDER):
        raise PunchlineError(f"unknown recipe {name!r}", file=file, hint=nearest(name, stems(FOLDER)))
    adapters.check(name, file.as_posix())
    content = read_yaml(file)
    if "name" in content:
        raise PunchlineError("the file's stem is the name", file=file, field="name", hint="Delete the line")
    for key in ("lr", "weight_decay"):  # 1e-4 is a text in YAML 1.1, which wants 1.0e-4
        if isinstance(value := content.get(key), str) and re.fullmatch(r"[0-9]{1,9}e-?[0-9]{1,2}", value):
            content[key] = float(value)
    recipe = as_record({**content, "name": name}, Recipe, lambda _: file.as_posix())
    _check(recipe)
    return recipe


def _check(recipe: Recipe) -> None:
    """Raises PunchlineError for a value that no training can do with."""

    def wrong(field: str, what: str, hint: str | None = None) -> PunchlineError:
        return PunchlineError(what, file=recipe.file, field=field, hint=hint)

    def among(field: str, value: str, valid: Iterable[str]) -> None:
        if value not in (there := list(valid)):
            raise wrong(field, f"unknown: {value!r}", nearest(value, there))

    among("base", recipe.base, stems("config/model"))
    among("benchmark", recipe.benchmark, trainable())
    card = read_card(recipe.base)
    if card.engine != "transformers" or "adapter" in card.options:
        what = f"expected a card with engine: transformers and no adapter, {recipe.base} has engine: {card.engine}"
        what += " and an adapter" if card.options.get("adapter") else ""
        raise wrong("base", what)
    benchmark, hook = benchmarks.load(recipe.benchmark), benchmarks.training(recipe.benchmark)
    for field, values, valid in (
        ("tasks", recipe.tasks, benchmark.TASKS),
        ("conditions", recipe.conditions, [c for c in benchmark.CONDITIONS if c not in benchmark.CHAINED]),
    ):
        if not values or len(set(values)) < len(values):
            raise wrong(field, "expected at least one name, each once")
        for value in values:
            among(field, value, valid)
    among("split.by", recipe.split.by, [hook.CLUSTER])
    among("dtype", recipe.dtype, DTYPES)
    if not recipe.lora.targets or len(set(recipe.lora.targets)) < len(recipe.lora.targets):
        raise wrong("lora.targets", "expected at least one name, each once")
    share = recipe.split.held_out
    if isinstance(share, float | int) and not 0 < share < 1:
        raise wrong("split.held_out", f"expected a share between 0 and 1, or tables, got {share!r}")
    if recipe.shuffles > 1 and not hasattr(hook, "variants"):
        raise wrong("shuffles", f"{recipe.benchmark} has no orders to shuffle", "Write 1, or leave the line out")
    for field, count in (
        ("shuffles", recipe.shuffles),
        ("items", recipe.items),
        ("lora.r", recipe.lora.r),
        ("lora.alpha", recipe.lora.alpha),
        ("epochs", recipe.epochs),
        ("batch", recipe.batch),
        ("accumulate", recipe.accumulate),
        ("max_length", recipe.max_length),
    ):
        if count is not None and count < 1:
            raise wrong(field, f"expected at least 1, got {count}")
    for field, number, low, high in (
        ("lora.dropout", recipe.lora.dropout, 0.0, 0.99),
        ("warm_up", recipe.warm_up, 0.0, 1.0),
        ("lr", recipe.lr, 1e-12, 10.0),
        ("weight_decay", recipe.weight_decay, 0.0, 10.0),
        ("clip", recipe.clip, 1e-6, 1e6),
        ("seed", recipe.seed, 0, 2**31),
        ("split.seed", recipe.split.seed, 0, 2**31),
    ):
        if not low <= number <= high:  # NaN is in no range
            raise wrong(field, f"out of range: {number!r}")


def trainable() -> list[str]:
    """Benchmarks that say what is to be learnt from their gold."""
    return [name for name, hook in benchmarks.every(benchmarks.training).items() if hook is not None]


def can_train(card: ModelCard, adapter: str, benchmarks: Collection[str]) -> bool:
    """True if an adapter has a recipe for selected benchmarks.

    Raises PunchlineError for one that is neither there nor trainable.
    """
    there = Path(paths.adapter(adapter)).is_file()
    if adapter not in stems(FOLDER):
        if there:
            return False
        hint = nearest(adapter, stems(FOLDER))
        raise PunchlineError(f"no recipe {adapter!r}. {hint}", file=card.file, field="adapter")
    benchmark = read_recipe(adapter).benchmark
    if benchmark in benchmarks or there:
        return benchmark in benchmarks
    raise PunchlineError(
        f"the adapter {adapter} is not trained, and training it needs items of {benchmark}",
        file=card.file,
        hint="Select that benchmark too",
    )
