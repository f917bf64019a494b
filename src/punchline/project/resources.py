"""What a model's job takes of a machine, from its card."""

from __future__ import annotations

from punchline.core.records import ModelCard


def gpus(card: ModelCard) -> int:
    """How many a model's job asks a scheduler for: what the card says, else what its engine takes."""
    if card.gpus is not None:
        return card.gpus
    if card.engine == "vllm" and "base_url" not in card.options:
        return int(card.options.get("tensor_parallel", 1))
    if card.engine in ("transformers", "similarity"):
        return 0 if card.options.get("device") == "cpu" else 1
    return 0
