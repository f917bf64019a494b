"""Resources of a model's job, from its card, and the GPUs of this machine."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from punchline.config.recipes import Recipe
from punchline.schema import ModelCard

ASKED = ("openai", "transformers", "vllm")  # engines that compute or are called: several jobs may ask a model by them
MANY_THREADS = 8  # of what computes on the CPU


def computes(card: ModelCard) -> bool:
    """True if a model's job loads its weights, itself or in a server that it starts."""
    return card.engine in ("transformers", "similarity") or (card.engine == "vllm" and "base_url" not in card.options)


def gpus(card: ModelCard | None) -> int:
    """GPUs of a model's job: as the card says, else as many as its engine takes; 0 without a card."""
    if card is not None and card.gpus is not None:
        return card.gpus
    if card is None or not computes(card):
        return 0
    if card.engine == "vllm":
        return math.prod(int(card.options.get(f"{kind}_parallel", 1)) for kind in ("tensor", "pipeline", "data"))
    return int(card.options.get("device") != "cpu")


def threads(card: ModelCard | None) -> int:
    """Threads of a model's job; Snakemake gives it fewer if there are fewer."""
    if card is not None and computes(card):
        return 4 if gpus(card) else MANY_THREADS  # with a GPU, images and text are prepared on the CPU
    # OCR looks at several images at a time.
    return MANY_THREADS if card is not None and card.options.get("baseline") == "ocr" else 1


def weights_gb(card: ModelCard) -> float:
    """About how much memory a model's weights take, by its folder, else by size and type in its name; 0: unknown."""
    if not computes(card):
        return 0.0
    if (folder := Path(str(card.options.get("id", "")))).is_dir():
        return sum(path.stat().st_size for path in folder.glob("*.safetensors")) / 1e9
    sizes = re.findall(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])", str(card.options.get("id", "")))
    kind = " ".join(str(card.options.get(key, "")) for key in ("id", "dtype", "quantization")).lower()
    each = 4.0 if "float32" in kind else 1.0 if re.search("fp8|int8", kind) else 2.0
    return float(sizes[0]) * (0.6 if re.search("int4|awq|gptq|4bit", kind) else each) if sizes else 0.0


def memory_mb(card: ModelCard | None, attempt: int) -> int:
    """Main memory that a model's job asks for: its weights and 4 GB; more when it is tried again."""
    return int((4.0 + (weights_gb(card) if card is not None else 0.0)) * 1024) * attempt


def minutes(settings: ModelCard | Recipe | None, attempt: int) -> int | None:
    """Run time that a card or a recipe sets for its job, more when it is tried again; None if it sets none."""
    return settings.runtime * attempt if settings is not None and settings.runtime else None


def gpu_memory() -> list[int] | None:
    """MiB of each GPU that nvidia-smi and CUDA_VISIBLE_DEVICES show; None without nvidia-smi."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        lines = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.split("\n")
    except (OSError, subprocess.SubprocessError):
        return None
    sizes = [int(line) for line in lines if line.strip().isdigit()]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return sizes
    return sizes[: len([device for device in visible.split(",") if device.strip() not in ("", "-1")])]


def too_small(card: ModelCard) -> str | None:
    """Reason why this machine is too small for a card; None if it is not, or if its engine checks it."""
    if not computes(card):
        return None
    count, weights = gpus(card), weights_gb(card)
    memory = gpu_memory() if count else []
    if memory is None and (Path("/dev/kfd").exists() or sys.platform == "darwin"):
        return None  # GPUs that nvidia-smi does not know
    if not memory and (not count or small(card)):
        ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        return f"its weights take about {weights:.0f} GB, this machine has {ram:.0f} GB" if weights > ram else None
    if len(memory or ()) < count:
        return f"it asks for {count} GPU, there are {len(memory or ())}; gpus: 0 in its card runs it on the CPU"
    usable = sum(sorted(memory or ())[-count:]) * 2**20 / 1e9
    return f"its weights take about {weights:.0f} GB, its GPUs have {usable:.0f} GB" if weights > usable else None


def small(card: ModelCard) -> bool:
    """True if a model whose card names no number of GPUs runs on a CPU too: a scorer or a folder, below 5 GB."""
    here = Path(str(card.options.get("id", ""))).is_dir() or card.engine == "similarity"
    return card.gpus is None and here and weights_gb(card) < 5.0
