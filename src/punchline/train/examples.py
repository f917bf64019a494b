"""Training examples: a benchmark's questions with gold answers, as texts and as token ids."""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from punchline.config.recipes import Recipe
from punchline.core import benchmark as benchmarks
from punchline.core.engine import has_all_images
from punchline.engines.transformers import Transformers
from punchline.engines.transformers.loaded import Loaded
from punchline.engines.transformers.prompts import Prompt
from punchline.files import write_bytes
from punchline.schema import Gold, Image, ImageRef, Item, Request, sha256
from punchline.text import log_line

SAY_S = 10.0


class Hook(Protocol):
    """What punchline.benchmarks.<name>.training defines; `variants` (see stripcipher's) where there are some."""

    CLUSTER: str

    def held_out(self, item: Item) -> bool:
        """True if the benchmark's fine-tuning tables test on the item."""
        ...

    def target(self, request: Request, item: Item, gold: Gold) -> str | None:
        """The right answer as the benchmark's parser reads it; None: not trained on."""
        ...


@dataclass(frozen=True)
class Example:
    """One question and the answer to learn."""

    request: Request
    target: str


@dataclass(frozen=True)
class Encoded:
    """An example as token ids."""

    example: Example
    prompt: Prompt
    answer: list[int]  # the answer's tokens and the end token


def is_held_out(item: Item, recipe: Recipe) -> bool:
    """True if an item is held out: by its cluster and the recipe's split alone."""
    if recipe.split.held_out == "tables":
        return bool(benchmarks.training(recipe.benchmark).held_out(item))
    name = f"{recipe.benchmark}|split|{recipe.split.seed}|{item.cluster}"
    return int(sha256(name.encode())[:15], 16) / 16**15 < recipe.split.held_out


def examples_of(
    recipe: Recipe, items: Sequence[Item], golds: Sequence[Gold], pictures: Path
) -> tuple[list[Example], list[Item], Counter[str]]:
    """(what is trained on, in the items' order; the items as shown, variants included; why how many are left out).

    Only items of the train part; `items` of the recipe counts those that have an example. Pictures of variants are
    written to the folder `pictures`.
    """
    benchmark, hook = benchmarks.load(recipe.benchmark), benchmarks.training(recipe.benchmark)
    gold_of = {gold.item_id: gold for gold in golds}
    found: list[Example] = []
    shown: list[Item] = []
    left_out: Counter[str] = Counter()
    used = 0
    for item in items:
        if is_held_out(item, recipe):
            continue
        if recipe.items is not None and used >= recipe.items:
            break
        own: list[Example] = []
        # (the item as shown, pictures to be composed anew); the first is the item itself
        variants = hook.variants(item, recipe.shuffles)[1:] if recipe.shuffles > 1 else []
        for variant, rows in [(item, {}), *variants]:
            asked = benchmark.requests(variant)
            if rows:
                variant = with_rows(variant, rows, asked, pictures)
                asked = benchmark.requests(variant)
            shown.append(variant)
            for request in asked:
                if request.task not in recipe.tasks or request.condition not in recipe.conditions:
                    continue
                target = hook.target(request, variant, gold_of[item.item_id])
                if target is None or not target.strip():
                    left_out["no answer to train on"] += 1
                elif not has_all_images(request):
                    left_out["image missing"] += 1
                else:
                    own.append(Example(request, target))
        used += bool(own)
        found += own
    return found, shown, left_out


def with_rows(item: Item, rows: Mapping[str, Sequence[int]], asked: Sequence[Request], folder: Path) -> Item:
    """The item with frames side by side in other orders, as pictures in `folder`; as it was where nobody looks at
    them or frames are missing."""
    refs = {ref.name: ref for ref in item.images}
    contents = [part for request in asked for message in request.messages for part in message.content]
    seen = {part.sha256 for part in contents if isinstance(part, Image)}
    by_name = {}
    for name, order in rows.items():
        parts = [refs.get(f"frame{place + 1}") for place in order]
        if name in refs and refs[name].sha256 in seen and all(parts):
            by_name[name] = _row(name, [part for part in parts if part is not None], folder)
    images = tuple(by_name.get(ref.name, ref) for ref in item.images)
    return msgspec.structs.replace(item, images=images)


def _row(name: str, parts: Sequence[ImageRef], folder: Path) -> ImageRef:
    from punchline.comics import frames
    from punchline.comics.number import encode, png_size
    from punchline.comics.split import read_image

    content = encode(frames.row([read_image(io.BytesIO(Path(part.path).read_bytes())) for part in parts]))
    digest = sha256(content)
    path = folder / f"{digest}.png"
    if not path.is_file():
        write_bytes(path, content)
    width, height = png_size(content)
    return ImageRef(path=path.as_posix(), sha256=digest, width=width, height=height, name=name)


def encoded(
    recipe: Recipe,
    engine: Transformers,
    loaded: Loaded,
    examples: Sequence[Example],
    images: Mapping[str, Path],
    left_out: Counter[str],
) -> Iterator[Encoded]:
    """Examples as the engine renders them; those that do not fit are left out and counted."""
    end = loaded.tokenizer.eos_token_id
    end = end if end in loaded.ends else loaded.ends[0]
    said = time.monotonic()
    for number, example in enumerate(examples):
        if time.monotonic() - said > SAY_S:
            said = time.monotonic()
            log_line(f"finetune {recipe.name}: {number:,} of {len(examples):,} examples read")
        prompt = engine._prompt(example.request, {"max_tokens": 1}, images, loaded)
        if isinstance(prompt, tuple):
            left_out[prompt[1]] += 1
            continue
        if token := loaded.control_token_in(example.target):
            left_out[f"the answer holds the model's control token {token!r}"] += 1
            continue
        answer = [*loaded.tokenise(example.target), end]
        length = len(prompt.tokens) if not prompt.images else loaded.read([prompt]).lengths[0]
        if length + len(answer) > min(recipe.max_length, loaded.context or recipe.max_length):
            left_out[f"longer than {recipe.max_length} tokens"] += 1
            continue
        yield Encoded(example, prompt, answer)
