"""Models of published architectures with random weights, for gpu.py."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.small_models.tiny import build_tiny

SHAPES = {  # hidden, intermediate, layers, heads, key/value heads: as published
    "2b": (1536, 8960, 28, 12, 2),
    "7b": (3584, 18944, 28, 28, 4),
}


def cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def freed() -> None:
    """Give back what nobody uses."""
    import torch

    gc.collect()
    if cuda():
        torch.cuda.empty_cache()


def random_qwen2_vl(size: str, folder: Path) -> Path:
    """Qwen2-VL's architecture with random weights and the tiny model's tokeniser; `tiny`: that model itself."""
    import torch
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    build_tiny(folder)
    if size == "tiny":
        return folder
    tiny = msgspec.json.decode((folder / "config.json").read_bytes())
    shape = SHAPES[size]
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")
    rope = {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [16, 24, 24]}
    context = {"vocab_size": 151936, "max_position_embeddings": 32768, "rope_parameters": rope}
    text = {**tiny["text_config"], **dict(zip(names, shape, strict=True)), **context}
    eyes = {"hidden_size": shape[0]}
    config = Qwen2VLConfig(**{**tiny, "dtype": "bfloat16", "text_config": text, "vision_config": eyes})
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda" if cuda() else "cpu"):
        model = Qwen2VLForConditionalGeneration(config)
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    del model
    freed()
    (folder / "punchline.json").unlink()
    settings = msgspec.json.decode((folder / "preprocessor_config.json").read_bytes())
    settings["max_pixels"] = 1280 * 28 * 28
    (folder / "preprocessor_config.json").write_bytes(msgspec.json.encode(settings))
    return folder


def random_roberta(size: str, folder: Path, texts: Sequence[str]) -> Path:
    """RoBERTa's architecture with random weights, and a BPE of the texts at hand."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaConfig, RobertaModel

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=50265, special_tokens=special, initial_alphabet=alphabet)
    )
    shape = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    if size == "tiny":
        shape = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    config = RobertaConfig(**shape, vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)
    torch.manual_seed(0)
    RobertaModel(config).save_pretrained(folder)
    bpe.model.save(str(folder))  # vocab.json and merges.txt, as RoBERTa's tokeniser reads them
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), special, strict=True))
    settings = {"tokenizer_class": "RobertaTokenizer", "model_max_length": 512, "add_prefix_space": True, **names}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"cls_token": "<s>", "sep_token": "</s>"}))
    return folder
