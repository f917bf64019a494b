"""Fine-tuning with LoRA: recipes, splits, examples, a loop that can be stopped at any time, adapters.

A recipe is one file of config/finetune/. Examples are the benchmark's own requests, rendered as the transformers engine
renders them, followed by the gold answer (punchline.benchmarks.<name>.training); the loss is on the answer's tokens.
State lies in data/adapters/<name>.work/; its last checkpoint stays, so that a job that runs again with nothing changed
but a source file trains nothing. The same recipe, items and machine give the same bytes on a CPU, stopped and started
again or not; on a GPU that is not promised.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import math
import os
import random
import re
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from punchline.core import benchmark as benchmarks
from punchline.core.errors import PunchlineError
from punchline.core.progress import say
from punchline.core.records import Gold, Image, ImageRef, Item, ModelCard, Request, digest_of, sha256
from punchline.core.storage import csv_text, read_records, write_bytes, write_text
from punchline.engines.transformers import Loaded, Prompt, Transformers
from punchline.project import adapters
from punchline.project.adapters import WHOLE, Base, Part, Trained
from punchline.project.needs import Project
from punchline.project.recipes import Recipe, read_recipe
from punchline.project.selection import read_card
from punchline.stages.infer import image_files
from punchline.stages.job import make

PACKAGES = ("torch", "transformers", "peft", "safetensors")
# Parts of a model that read images: never trained, as in Qwen's own framework, where the names above occur in the
# language model only.
EYES = r"(.*\.)?(visual|vision_tower|vision_model|multi_modal_projector|image_newline)(\..*)?"
CHECKPOINT_S = 120.0  # how much work a kill may cost at most
SAY_S = 10.0


class Hook(Protocol):
    """What punchline.benchmarks.<name>.training defines; `variants` (see stripcipher's) where there are some."""

    CLUSTER: str

    def held_out(self, item: Item) -> bool:
        """Whether the benchmark's fine-tuning tables test on the item."""
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


# ------------------------------------------------------------------------------------------------------------- examples


def is_held_out(item: Item, recipe: Recipe) -> bool:
    """Whether an item is held out: by its cluster and the recipe's split alone."""
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
        for variant, rows in _variants(hook, item, recipe.shuffles):
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
                elif any(digest is None for digest in _digests(request)):
                    left_out["image missing"] += 1
                else:
                    own.append(Example(request, target))
        used += bool(own)
        found += own
    return found, shown, left_out


def _variants(hook: Hook, item: Item, count: int) -> Iterator[tuple[Item, dict[str, tuple[int, ...]]]]:
    """(the item as shown, pictures to be composed anew); the first is the item itself."""
    yield item, {}
    if count > 1:
        yield from hook.variants(item, count)[1:]  # type: ignore[attr-defined]


def _digests(request: Request) -> list[str | None]:
    return [part.sha256 for message in request.messages for part in message.content if isinstance(part, Image)]


def with_rows(item: Item, rows: Mapping[str, Sequence[int]], asked: Sequence[Request], folder: Path) -> Item:
    """The item with frames side by side in other orders, as pictures in `folder`; as it was where nobody looks at
    them or frames are missing."""
    refs = {ref.name: ref for ref in item.images}
    seen = {digest for request in asked for digest in _digests(request)}
    made = []
    for name, order in rows.items():
        parts = [refs.get(f"frame{place + 1}") for place in order]
        if name in refs and refs[name].sha256 in seen and all(parts):
            made.append(_row(name, [part for part in parts if part is not None], folder))
    by_name = {ref.name: ref for ref in made}
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


# ------------------------------------------------------------------------------------------------------------- training


def unavailable() -> str | None:
    """Missing packages."""
    absent = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    return f"not installed: {', '.join(absent)}; run make hf" if absent else None


def train(
    recipe: Recipe,
    base: ModelCard,
    items: Sequence[Item],
    golds: Sequence[Gold],
    *,
    corpus: str,
    checkpoint_s: float = CHECKPOINT_S,
) -> Trained:
    """Train an adapter, or go on where a stopped training was; write its folder and return what its manifest says.

    Raises PunchlineError where packages are missing or nothing is left to train on.
    """
    if reason := unavailable():
        raise PunchlineError(reason, file=recipe.file)
    import torch

    work = Path(f"{adapters.folder_of(recipe.name)}.work")
    with _alone(work):
        examples, shown, left_out = examples_of(recipe, items, golds, work / "pictures")
        held = [item.item_id for item in items if is_held_out(item, recipe)]
        _something(recipe, examples, items, held, left_out)
        card = msgspec.structs.replace(base, options={**base.options, "dtype": recipe.dtype})
        engine = Transformers(card, recipe.seed)
        if reason := engine.unavailable():
            raise PunchlineError(reason, file=card.file)
        torch.use_deterministic_algorithms(True, warn_only=True)
        loaded = Loaded(card, engine.id, engine.revision, engine.dtype)
        encoded = list(_encoded(recipe, engine, loaded, examples, image_files(shown), left_out))
        _something(recipe, [one.example for one in encoded], items, held, left_out)
        versions = {name: importlib.metadata.version(name) for name in PACKAGES}
        of = {
            "recipe": msgspec.to_builtins(recipe),
            "base": [engine.id, engine.revision, loaded.dtype, loaded.device],
            "versions": versions,
            "examples": [[one.example.request.request_id, one.example.target] for one in encoded],
        }
        groups = {WHOLE: encoded}
        if recipe.adapter_for == "task":
            by_task = {task: [one for one in encoded if one.example.request.task == task] for task in recipe.tasks}
            groups = {task: own for task, own in by_task.items() if own}
        folder = adapters.folder_of(recipe.name)
        (folder / adapters.MANIFEST).unlink(missing_ok=True)  # until it is written again there is no adapter
        parts, files = {}, {}
        for part, own in groups.items():
            training = Training(recipe, loaded, own, part, work / f"{part}.pt", digest_of({**of, "part": part}))
            parts[part] = training.run(checkpoint_s)
            place = folder if part == WHOLE else folder / part
            for name, content in training.files(engine.id).items():
                write_bytes(place / name, content)
                files[(place / name).relative_to(folder).as_posix()] = sha256(content)
            training.close()
        used = {one.example.request.item_id.partition("#")[0] for one in encoded}
        made = Trained(
            name=recipe.name,
            files=files,
            parts=parts,
            base=Base(card=recipe.base, id=engine.id, revision=engine.revision),
            recipe=msgspec.to_builtins(recipe),
            corpus=corpus,
            trained=[item.item_id for item in items if item.item_id in used],
            held_out=held,
            left_out=dict(sorted(left_out.items())),
            versions=versions,
            dtype=loaded.dtype,
            device=loaded.device,
        )
        write_text(folder / adapters.HELD_OUT, csv_text(("item_id",), ({"item_id": name} for name in held)))
        manifest = json.dumps(msgspec.to_builtins(made), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_text(folder / adapters.MANIFEST, manifest)
        shutil.rmtree(work / "pictures", ignore_errors=True)
    return made


def write_adapter(project: Project, adapter: str) -> None:
    """An adapter, trained by its recipe on the selection's items."""
    step, recipe = project.finetune(adapter), read_recipe(adapter)

    def write() -> None:
        items = read_records(project.paths.items(recipe.benchmark), Item)
        golds = read_records(project.paths.gold(recipe.benchmark), Gold)
        made = train(recipe, read_card(recipe.base), items, golds, corpus=project.selection.corpus.name)
        say(f"finetune {recipe.name}: trained on {len(made.trained):,} items, {len(made.held_out):,} held out")
        for reason, count in made.left_out.items():
            say(f"finetune {recipe.name}: {count:,} examples left out: {reason}")

    make(step, write)


def _something(
    recipe: Recipe, examples: Sequence[Example], items: Sequence[Item], held: Sequence[str], left_out: Mapping[str, int]
) -> None:
    """Raises PunchlineError where there is nothing to train on."""
    if examples:
        return
    why = "; ".join(f"{count} examples: {reason}" for reason, count in sorted(left_out.items()))
    raise PunchlineError(
        f"nothing to train on: {len(items)} items selected, {len(held)} of them held out" + (f"; {why}" if why else ""),
        file=recipe.file,
        way_out="Select the whole corpus (no subset=), and a model that looks at images: models=[…]",
    )


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """One training of a recipe at a time."""
    work.mkdir(parents=True, exist_ok=True)
    handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise PunchlineError("another process is training this", file=work, way_out="Wait for it") from None
    finally:
        os.close(handle)


def _encoded(
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
            say(f"finetune {recipe.name}: {number:,} of {len(examples):,} examples read")
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


class Training:
    """One adapter in the making: at any step its weights, the optimiser's state and the losses are all there is.

    Order of examples and dropout are drawn from the recipe's seed and the step's number, so that a training that goes
    on from a checkpoint is the one that was stopped.
    """

    def __init__(
        self, recipe: Recipe, loaded: Loaded, examples: Sequence[Encoded], part: str, checkpoint: Path, of: str
    ) -> None:
        import torch
        from peft import LoraConfig, get_peft_model

        self.recipe, self.loaded, self.examples, self.part = recipe, loaded, examples, part
        self.checkpoint, self.of = checkpoint, of
        torch.manual_seed(recipe.seed)
        names = "|".join(map(re.escape, recipe.lora.targets))
        config = LoraConfig(
            r=recipe.lora.r,
            lora_alpha=recipe.lora.alpha,
            lora_dropout=recipe.lora.dropout,
            target_modules=rf"(.*\.)?({names})",
            exclude_modules=EYES,
            bias="none",
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by an old name
                self.tuned = get_peft_model(loaded.model, config)
        except ValueError as error:  # no module has such a name
            raise PunchlineError(" ".join(str(error).split())[:300], file=recipe.file, field="lora.targets") from error
        self.modules = len(self.tuned.base_model.targeted_module_names)
        self.weights = {name: weight for name, weight in loaded.model.named_parameters() if weight.requires_grad}
        self.tuned.train()
        if recipe.recompute:
            loaded.model.gradient_checkpointing_enable()
            loaded.model.enable_input_require_grads()
        self.optimiser = torch.optim.AdamW(
            self.weights.values(), lr=recipe.lr, weight_decay=recipe.weight_decay, betas=(0.9, 0.999), eps=1e-8
        )
        self.step = 0
        self.losses: list[list[float]] = [[0.0, 0.0] for _ in range(recipe.epochs)]  # sum, tokens
        self.per_epoch = math.ceil(len(examples) / (recipe.batch * recipe.accumulate))
        self.steps = self.per_epoch * recipe.epochs

    @property
    def label(self) -> str:
        return f"finetune {self.recipe.name}" + (f" ({self.part})" if self.part != WHOLE else "")

    def run(self, checkpoint_s: float) -> Part:
        """Train to the end, from the checkpoint if there is one of this training."""
        self._resume()
        started = saved = said = time.monotonic()
        first = self.step
        while self.step < self.steps:
            epoch = self.step // self.per_epoch
            self._one_step(epoch)
            self.step += 1
            now = time.monotonic()
            if self.step == self.steps or now - saved >= checkpoint_s:
                self._save()
                saved = time.monotonic()
            if self.step == self.steps or now - said >= SAY_S:
                said = now
                left = (now - started) / (self.step - first) * (self.steps - self.step)
                total, tokens = self.losses[epoch]
                say(
                    f"{self.label}: step {self.step:,} of {self.steps:,}, loss {total / tokens:.4f}, {left:,.0f} s left"
                )
        return Part(
            examples=dict(sorted(Counter(one.example.request.task for one in self.examples).items())),
            steps=self.steps,
            parameters=sum(weight.numel() for weight in self.weights.values()),
            modules=self.modules,
            losses=[total / tokens for total, tokens in self.losses],
        )

    def _one_step(self, epoch: int) -> None:
        import torch

        order = list(range(len(self.examples)))
        random.Random(f"{self.recipe.seed} {epoch}").shuffle(order)
        size = self.recipe.batch
        start = self.step % self.per_epoch * size * self.recipe.accumulate
        chosen = [self.examples[i] for i in order[start : start + size * self.recipe.accumulate]]
        tokens = sum(len(one.answer) for one in chosen)
        torch.manual_seed(int(hashlib.sha256(f"{self.recipe.seed} {self.step}".encode()).hexdigest()[:8], 16))
        for group in self.optimiser.param_groups:
            group["lr"] = self.recipe.lr * rate(self.step, self.steps, self.recipe.schedule, self.recipe.warm_up)
        for i in range(0, len(chosen), size):
            summed = answers_loss(self.loaded, chosen[i : i + size])
            (summed / tokens).backward()
            self.losses[epoch][0] += float(summed.detach())
        self.losses[epoch][1] += tokens
        torch.nn.utils.clip_grad_norm_(self.weights.values(), self.recipe.clip)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)

    def _save(self) -> None:
        import torch

        state = {
            "of": self.of,
            "step": self.step,
            "losses": self.losses,
            "weights": {name: weight.detach().cpu() for name, weight in self.weights.items()},
            "optimiser": self.optimiser.state_dict() if self.step < self.steps else None,
        }
        content = io.BytesIO()
        torch.save(state, content)
        write_bytes(self.checkpoint, content.getvalue())

    def _resume(self) -> None:
        import torch

        if not self.checkpoint.is_file():
            return
        try:
            state = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
        except Exception as error:  # a damaged zip, a pickle of something else: torch's errors share no base
            say(f"{self.label}: {self.checkpoint} cannot be read ({type(error).__name__}): training starts anew")
            return
        if not isinstance(state, dict) or state.get("of") != self.of:
            say(f"{self.label}: {self.checkpoint} is of another training: this one starts anew")
            return
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(state["weights"][name])
        if state["optimiser"] is not None:
            self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.losses = state["step"], state["losses"]
        what = "was trained before" if self.step == self.steps else f"goes on at step {self.step:,} of {self.steps:,}"
        say(f"{self.label}: {what}")

    def files(self, base_id: str) -> dict[str, bytes]:
        """Weights and settings as peft reads them; the same bytes for the same training."""
        import safetensors.torch
        from peft import get_peft_model_state_dict

        weights = get_peft_model_state_dict(self.tuned, save_embedding_layers=False)
        weights = {name: weights[name].detach().cpu().contiguous() for name in sorted(weights)}
        config = self.tuned.peft_config["default"].to_dict()
        config |= {"base_model_name_or_path": base_id, "inference_mode": True}
        settings = json.dumps(config, indent=2, sort_keys=True, default=sorted) + "\n"  # sets become lists
        return {
            adapters.WEIGHTS: safetensors.torch.save(weights, metadata={"format": "pt"}),
            adapters.CONFIG: settings.encode(),
        }

    def close(self) -> None:
        """Take the adapter off the base again."""
        self.optimiser.zero_grad(set_to_none=True)
        self.loaded.model = self.tuned.unload()


def rate(step: int, steps: int, schedule: str, warm_up: float) -> float:
    """Share of the learning rate at a step: up from 0 in the first `warm_up` of all steps, then constant or a half
    cosine down to 0."""
    warm = math.ceil(warm_up * steps)
    if step < warm:
        return step / warm
    if schedule == "constant":
        return 1.0
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


IGNORED = -100  # a label that torch's cross entropy leaves out


def with_answers(loaded: Loaded, batch: Sequence[Encoded]) -> tuple[dict[str, Any], Any]:
    """(tensors of prompts and answers, labels of the answers' columns).

    Prompts stand as the engine makes them, padded on the left; answers follow, padded on the right. labels: [batch,
    longest answer], IGNORED where padding is.
    """
    import torch

    inputs = loaded.read([one.prompt for one in batch])
    tensors = {name: value for name, value in inputs.tensors.items() if name != "shared"}
    prompt = tensors["input_ids"]
    width = max(len(one.answer) for one in batch)
    ids = torch.full((len(batch), width), loaded.tokenizer.pad_token_id, dtype=prompt.dtype)
    labels = torch.full((len(batch), width), IGNORED, dtype=torch.long)
    for row, one in enumerate(batch):
        ids[row, : len(one.answer)] = torch.tensor(one.answer)
        labels[row, : len(one.answer)] = torch.tensor(one.answer)
    there = (labels != IGNORED).to(tensors["attention_mask"].dtype)
    made = {}
    for name, value in tensors.items():
        more = {"input_ids": ids, "attention_mask": there}.get(name)
        if more is None and value.shape == prompt.shape:  # what kind of token each is: text
            more = torch.zeros_like(ids, dtype=value.dtype)
        made[name] = value if more is None else torch.cat([value, more], dim=1)
    if loaded.processor is None:  # rows may be padded in the middle there, which a model's own count would not see
        made["position_ids"] = (made["attention_mask"].cumsum(dim=1) - 1).clamp(min=0)
    return made, labels


def answers_loss(loaded: Loaded, batch: Sequence[Encoded]) -> Any:
    """Cross entropy summed over the tokens of the answers, end tokens included."""
    import torch

    tensors, labels = with_answers(loaded, batch)
    model = loaded.model
    moved = {
        name: value.to(model.device, model.dtype if value.is_floating_point() else None)
        for name, value in tensors.items()
    }
    logits = model(**moved, use_cache=False, logits_to_keep=labels.shape[1] + 1).logits[:, :-1]
    return torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), labels.to(logits.device).flatten(), ignore_index=IGNORED, reduction="sum"
    )
