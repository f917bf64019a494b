"""Sampling: what a card may ask for, and how the next token is drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from punchline.core.engine import sampling_in
from punchline.engines.transformers.prompts import Prompt
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Scalar

SAMPLING = ("temperature", "max_tokens", "top_p", "top_k", "min_p", "repetition_penalty", "seed")


def check_sampling(card: ModelCard) -> None:
    """Raises PunchlineError for a card's sampling parameter that is unknown here or out of range."""
    for name, value in sampling_in(card, SAMPLING):
        wrong = partial(PunchlineError, file=card.file, field=f"sampling.{name}")
        whole = name in ("max_tokens", "top_k", "seed")
        if not isinstance(value, int if whole else (int, float)):  # a card takes no bool for a number
            raise wrong(f"expected a number, got {value!r}")
        least = {"max_tokens": 1.0, "repetition_penalty": 1e-6}.get(name, 0.0)
        if value < least or (name in ("top_p", "min_p") and value > 1):
            raise wrong(f"out of range: {value!r}")


def greedy(sampling: Mapping[str, Scalar]) -> bool:
    return not sampling.get("temperature")


def _row_seed(prompt: Prompt) -> int:
    """63 bits from the seed in force (sample included) and the request."""
    name = f"{prompt.sampling['seed']} {prompt.requests[0].request_id}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1


class _Penalty:
    """Repetition penalty that padding does not take part in: it would change answers with the batch."""

    def __init__(self, penalty: float, tensors: Mapping[str, Any]) -> None:
        import torch
        from transformers import RepetitionPenaltyLogitsProcessor

        self.penalise = RepetitionPenaltyLogitsProcessor(penalty)
        mask, ids = tensors["attention_mask"].bool(), tensors["input_ids"]
        self.prompt = torch.where(mask, ids, ids.gather(1, mask.int().argmax(1, keepdim=True)))

    def __call__(self, ids: Any, scores: Any) -> Any:
        import torch

        return self.penalise(torch.cat([self.prompt, ids[:, self.prompt.shape[1] :]], dim=1), scores)


class _Draw:
    """A draw from the softmax by the Gumbel-max trick: greedy search then takes it.

    Every row has a generator of its own, seeded by the request, so that a draw does not depend on the batch.
    """

    def __init__(self, batch: Sequence[Prompt], device: Any) -> None:
        import torch

        self.generators = [torch.Generator(device).manual_seed(_row_seed(prompt)) for prompt in batch]

    def __call__(self, ids: Any, scores: Any) -> Any:
        import torch

        uniform = torch.empty_like(scores, dtype=torch.float32)
        for row, generator in zip(uniform, self.generators, strict=True):
            row.uniform_(generator=generator)
        return scores - torch.log(-torch.log(uniform.clamp_(1e-20, 1 - 6e-8)))


def processors(batch: Sequence[Prompt], tensors: Mapping[str, Any], device: Any) -> Any:
    """Processors of the next token's scores, in transformers' order: penalty, temperature, cuts, the draw."""
    import transformers as hf

    sampling: Mapping[str, Any] = batch[0].sampling
    chain = hf.LogitsProcessorList()
    if (penalty := sampling.get("repetition_penalty", 1)) != 1:
        chain.append(_Penalty(float(penalty), tensors))
    if not greedy(sampling):
        warpers = {"temperature": (hf.TemperatureLogitsWarper, 1.0), "top_k": (hf.TopKLogitsWarper, 0)}
        warpers |= {"top_p": (hf.TopPLogitsWarper, 1.0), "min_p": (hf.MinPLogitsWarper, 0.0)}
        for name, (warper, neutral) in warpers.items():
            if (value := sampling.get(name, neutral)) != neutral:
                chain.append(warper(type(neutral)(value)))
        chain.append(_Draw(batch, device))
    return chain
