"""The training loop of one adapter, and the loss on the answers' tokens."""

from __future__ import annotations

import io
import json
import math
import random
import re
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from punchline.config import adapters
from punchline.config.adapters import WHOLE, Part
from punchline.config.recipes import Recipe
from punchline.engines.transformers.loaded import Loaded
from punchline.errors import PunchlineError
from punchline.files import write_bytes
from punchline.schema import sha256
from punchline.text import log_line, track
from punchline.train.examples import Encoded

# Parts of a model that read images: never trained, as in Qwen's own framework, where names such as those that recipes
# target occur in the language model only.
NOT_TRAINED = r"(.*\.)?(visual|vision_tower|vision_model|multi_modal_projector|image_newline)(\..*)?"
CHECKPOINT_S = 120.0  # work that a kill may cost
IGNORED = -100  # a label that torch's cross entropy leaves out


class Training:
    """One adapter in training; its weights, the optimiser's state and the losses are its whole state.

    Order of examples and dropout are drawn from the recipe's seed and the step's number, so that a training that goes
    on from a checkpoint is the one that was stopped.
    """

    def __init__(
        self, recipe: Recipe, loaded: Loaded, examples: Sequence[Encoded], part: str, checkpoint: Path, digest: str
    ) -> None:
        import torch
        from peft import LoraConfig, get_peft_model

        self.recipe, self.loaded, self.examples, self.part = recipe, loaded, examples, part
        self.checkpoint, self.digest = checkpoint, digest
        self.label = f"train {recipe.name}" + (f" ({part})" if part != WHOLE else "")
        torch.manual_seed(recipe.seed)
        lora, names = recipe.lora, "|".join(map(re.escape, recipe.lora.targets))
        ranks: dict[str, Any] = {"r": lora.r, "lora_alpha": lora.alpha, "lora_dropout": lora.dropout, "bias": "none"}
        config = LoraConfig(target_modules=rf"(.*\.)?({names})", exclude_modules=NOT_TRAINED, **ranks)
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
        self.optimiser = torch.optim.AdamW(self.weights.values(), lr=recipe.lr, weight_decay=recipe.weight_decay)
        self.step = 0
        self.losses: list[list[float]] = [[0.0, 0.0] for _ in range(recipe.epochs)]  # sum, tokens
        self.per_epoch = math.ceil(len(examples) / (recipe.batch * recipe.accumulate))
        self.steps = self.per_epoch * recipe.epochs

    def run(self) -> Part:
        """Train to the end, from the checkpoint if there is one of this training."""
        self._resume()
        saved = time.monotonic()
        remaining = range(self.step, self.steps)
        for number in track(remaining, len(remaining), self.label, lambda: f", loss {self._mean_losses()[-1]:.4f}"):
            self._train_step(number // self.per_epoch)
            self.step = number + 1
            if self.step == self.steps or time.monotonic() - saved >= CHECKPOINT_S:
                self._save()
                saved = time.monotonic()
        examples = dict(sorted(Counter(one.example.request.task for one in self.examples).items()))
        counts = {"parameters": sum(weight.numel() for weight in self.weights.values()), "modules": self.modules}
        return Part(examples=examples, steps=self.steps, **counts, losses=self._mean_losses())

    def _mean_losses(self) -> list[float]:
        """By epoch, of those begun."""
        return [total / tokens for total, tokens in self.losses if tokens]

    def _train_step(self, epoch: int) -> None:
        import torch

        examples, size = list(self.examples), self.recipe.batch
        random.Random(f"{self.recipe.seed} {epoch}").shuffle(examples)
        start = self.step % self.per_epoch * size * self.recipe.accumulate
        chosen = examples[start : start + size * self.recipe.accumulate]
        tokens = sum(len(one.answer) for one in chosen)
        torch.manual_seed(int(sha256(f"{self.recipe.seed} {self.step}".encode())[:8], 16))
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

        state: dict[str, Any] = {"of": self.digest, "step": self.step, "losses": self.losses}
        state["weights"] = {name: weight.detach().cpu() for name, weight in self.weights.items()}
        state["optimiser"] = self.optimiser.state_dict() if self.step < self.steps else None
        content = io.BytesIO()
        torch.save(state, content)
        write_bytes(self.checkpoint, content.getvalue())

    def _resume(self) -> None:
        import torch

        if not self.checkpoint.is_file():
            return
        try:
            state = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
        except Exception:  # a damaged zip, a pickle of something else: torch's errors share no base
            state = None
        if not isinstance(state, dict) or state.get("of") != self.digest:
            log_line(f"{self.label}: {self.checkpoint} is damaged or of another training: starting from the beginning")
            return
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(state["weights"][name])
        if state["optimiser"] is not None:
            self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.losses = state["step"], state["losses"]
        what = "was trained before" if self.step == self.steps else f"goes on at step {self.step:,} of {self.steps:,}"
        log_line(f"{self.label}: {what}")

    def write(self, folder: Path, base_id: str) -> dict[str, str]:
        """Write weights and settings as peft reads them, take the adapter off the base; {path in the folder: sha256}.

        The same bytes for the same training.
        """
        import safetensors.torch
        from peft import get_peft_model_state_dict

        weights = get_peft_model_state_dict(self.tuned, save_embedding_layers=False)
        weights = {name: weights[name].detach().cpu().contiguous() for name in sorted(weights)}
        config = self.tuned.peft_config["default"].to_dict()
        config |= {"base_model_name_or_path": base_id, "inference_mode": True}
        settings = json.dumps(config, indent=2, sort_keys=True, default=sorted) + "\n"  # sets become lists
        within = "" if self.part == WHOLE else f"{self.part}/"
        files = {f"{within}{adapters.WEIGHTS}": safetensors.torch.save(weights, metadata={"format": "pt"})}
        files[f"{within}{adapters.CONFIG}"] = settings.encode()
        for name, content in files.items():
            write_bytes(folder / name, content)
        self.loaded.model = self.tuned.unload()
        return {name: sha256(content) for name, content in files.items()}


def rate(step: int, steps: int, schedule: str, warm_up: float) -> float:
    """Share of the learning rate at a step: up from 0 in the first `warm_up` of all steps, then constant or a half
    cosine down to 0."""
    warm = math.ceil(warm_up * steps)
    if step < warm:
        return step / warm
    return 1.0 if schedule == "constant" else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def with_answers(loaded: Loaded, batch: Sequence[Encoded]) -> tuple[dict[str, Any], Any]:
    """(tensors of prompts and answers, labels of the answers' columns).

    Prompts stand as the engine makes them, padded on the left; answers follow, padded on the right. labels: [batch,
    longest answer], IGNORED where padding is.
    """
    import torch

    tensors = loaded.read([one.prompt for one in batch]).tensors
    prompt = tensors["input_ids"]
    width = max(len(one.answer) for one in batch)
    ids = torch.full((len(batch), width), loaded.tokenizer.pad_token_id, dtype=prompt.dtype)
    labels = torch.full((len(batch), width), IGNORED, dtype=torch.long)
    for row, example in enumerate(batch):
        ids[row, : len(example.answer)] = labels[row, : len(example.answer)] = torch.tensor(example.answer)
    columns = {"input_ids": ids, "attention_mask": (labels != IGNORED).to(tensors["attention_mask"].dtype)}
    for name, value in tensors.items():
        if name not in columns and value.shape == prompt.shape:  # the kind of each token: text
            columns[name] = torch.zeros_like(ids, dtype=value.dtype)
    joined = {n: torch.cat([v, columns[n]], dim=1) if n in columns else v for n, v in tensors.items()}
    if loaded.processor is None:  # rows may be padded in the middle there, which a model's own count would not see
        joined["position_ids"] = (joined["attention_mask"].cumsum(dim=1) - 1).clamp(min=0)
    return joined, labels


def answers_loss(loaded: Loaded, batch: Sequence[Encoded]) -> Any:
    """Cross entropy summed over the tokens of the answers, end tokens included."""
    import torch

    tensors, labels = with_answers(loaded, batch)
    tensors = loaded.on_device(tensors)
    logits = loaded.model(**tensors, use_cache=False, logits_to_keep=labels.shape[1] + 1).logits[:, :-1]
    flat, wanted = logits.float().flatten(0, 1), labels.to(logits.device).flatten()
    return torch.nn.functional.cross_entropy(flat, wanted, ignore_index=IGNORED, reduction="sum")
