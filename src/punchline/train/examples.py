"""Training examples: a benchmark's questions with gold answers, as texts and as token ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from punchline.benchmarks.pictures import png_of
from punchline.comics import frames
from punchline.comics.split import read_image
from punchline.config.recipes import Recipe
from punchline.core import benchmark as benchmarks
from punchline.core.engine import ImageFiles, has_all_images
from punchline.engines.transformers import Transformers
from punchline.engines.transformers.loaded import Loaded
from punchline.engines.transformers.prompts import Prompt
from punchline.files import write_bytes
from punchline.schema import Gold, ImageRef, Item, Request, sha256
from punchline.text import track


class Example(NamedTuple):
    """One question and the answer to learn."""

    request: Request
    target: str


class Encoded(NamedTuple):
    """An example as token ids."""

    example: Example
    prompt: Prompt
    answer: list[int]  # the answer's tokens and the end token


def is_held_out(item: Item, recipe: Recipe) -> bool:
    """True if an item is held out: by its cluster and the recipe's split alone."""
    if recipe.split.held_out == "tables":
        return bool(benchmarks.optional_module(recipe.benchmark, "training").held_out(item))
    name = f"{recipe.benchmark}|split|{recipe.split.seed}|{item.cluster}"
    return int(sha256(name.encode())[:15], 16) / 16**15 < recipe.split.held_out


def examples_of(
    recipe: Recipe, items: Sequence[Item], golds: Sequence[Gold], pictures: Path
) -> tuple[list[Example], list[Item], Counter[str]]:
    """(examples in the items' order, the items asked about with their variants, {reason: number of excluded examples}).

    Only items of the train part; `items` of the recipe counts those that have an example. Pictures of variants are
    written to the folder `pictures`.
    """
    benchmark, hook = benchmarks.load(recipe.benchmark), benchmarks.optional_module(recipe.benchmark, "training")
    gold_of = {gold.item_id: gold for gold in golds}
    examples, variants = list[Example](), list[Item]()
    excluded, used = Counter[str](), set[str]()
    for item in items:
        if is_held_out(item, recipe):
            continue
        if recipe.items is not None and len(used) >= recipe.items:
            break
        # (item with its own ids, {picture: order of frames}); the first is the item itself
        orders = hook.variants(item, recipe.shuffles)[1:] if recipe.shuffles > 1 else []
        for variant in (item, *(with_rows(variant, rows, pictures) for variant, rows in orders)):
            variants.append(variant)
            for request in benchmark.requests(variant):
                if request.task not in recipe.tasks or request.condition not in recipe.conditions:
                    continue
                target = hook.target(request, variant, gold_of[item.item_id])
                if target is None or not target.strip():
                    excluded["no answer to train on"] += 1
                elif not has_all_images(request):
                    excluded["image missing"] += 1
                else:
                    examples.append(Example(request, target))
                    used.add(item.item_id)
    return examples, variants, excluded


def with_rows(item: Item, rows: Mapping[str, Sequence[int]], folder: Path) -> Item:
    """The item with frames side by side in other orders, as pictures in `folder`."""
    refs = {ref.name: ref for ref in item.images}
    for name, order in rows.items():
        if name in refs:
            picture = png_of(name, frames.row([read_image(refs[f"frame{place + 1}"].path) for place in order]), {})
            digest = sha256(picture.content)
            path = folder / f"{digest}.png"
            write_bytes(path, picture.content)
            size = {"width": picture.width, "height": picture.height}
            refs[name] = ImageRef(path=path.as_posix(), sha256=digest, name=name, **size)
    return msgspec.structs.replace(item, images=tuple(refs.values()))


def encoded(
    recipe: Recipe,
    engine: Transformers,
    loaded: Loaded,
    examples: Sequence[Example],
    images: ImageFiles,
    excluded: Counter[str],
) -> Iterator[Encoded]:
    """Examples as the engine renders them; those that do not fit are counted in `excluded`."""
    end = loaded.tokenizer.eos_token_id
    end = end if end in loaded.ends else loaded.ends[0]
    for example in track(examples, len(examples), f"train {recipe.name}: reading examples"):
        prompt = engine.prompt(example.request, {"max_tokens": 1}, images, loaded)
        if isinstance(prompt, tuple):
            excluded[prompt[1]] += 1
            continue
        answer = [*loaded.tokenise(example.target), end]
        length = len(prompt.tokens) if not prompt.images else loaded.read([prompt]).lengths[0]
        if length + len(answer) > min(recipe.max_length, loaded.context or recipe.max_length):
            excluded[f"longer than {recipe.max_length} tokens"] += 1
            continue
        yield Encoded(example, prompt, answer)
