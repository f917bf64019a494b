"""Build a Qwen2-VL of random weights that reads images: python tests/small_models/tiny.py FOLDER. It needs torch."""

import copy
import hashlib
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT))

from scripts.small_model import build, write_json  # noqa: E402

NOTICE = """A Qwen2-VL architecture with random weights (seed {seed}): its answers mean nothing.
Made by Punchline; Apache License 2.0.
"""
SEED = 20240901
CONTEXT = 8192  # tokens
ATTENTION = 2.5  # gain of attention weights: with 1, answers hardly depend on the prompt
VOCABULARY = 512  # tokens, special ones included
SPECIAL = [f"<|{name}|>" for name in ("endoftext", "im_start", "im_end", "vision_start", "vision_end", "vision_pad")]
SPECIAL += ["<|image_pad|>", "<|video_pad|>"]
# What the tiny model's tokeniser is trained on.
TEXT = """
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
TEMPLATE = (
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


def write_tiny(folder: Path) -> None:
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
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    settings = {"vocab_size": VOCABULARY, "min_frequency": 1, "show_progress": False}
    trainer = trainers.BpeTrainer(special_tokens=SPECIAL, initial_alphabet=alphabet, **settings)
    bpe.train_from_iterator([TEXT], trainer)
    assert bpe.get_vocab_size() == VOCABULARY
    bpe.save(str(folder / "tokenizer.json"))
    ids = {token: bpe.token_to_id(token) for token in SPECIAL}

    end = ids["<|endoftext|>"]
    ends = {"bos_token_id": end, "eos_token_id": ids["<|im_end|>"], "pad_token_id": end}
    text = {"model_type": "qwen2_vl_text", "vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 128}
    text |= {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": False}
    rope = {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [4, 6, 6]}
    vision = {"model_type": "qwen2_vl_vision", "depth": 2, "embed_dim": 64, "hidden_size": 64}
    config = {"architectures": ["Qwen2VLForConditionalGeneration"], "model_type": "qwen2_vl", "dtype": "float32"}
    config |= {"tie_word_embeddings": False, "image_token_id": ids["<|image_pad|>"]}
    config |= {f"{name}_token_id": ids[f"<|{name}|>"] for name in ("vision_start", "vision_end")}
    config |= {"text_config": text | {"max_position_embeddings": CONTEXT, "rope_parameters": rope} | ends}
    config |= {"vision_config": vision | {"num_heads": 4, "mlp_ratio": 2}, "video_token_id": ids["<|video_pad|>"]}
    model = Qwen2VLForConditionalGeneration(Qwen2VLConfig(**copy.deepcopy(config)))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            seed = int.from_bytes(hashlib.sha256(f"{SEED} {name}".encode()).digest()[:4], "big")
            if weight.dim() == 1:
                weight.fill_(0.0 if name.endswith("bias") else 1.0)
            else:
                fan_in = weight[0].numel() if "embed_tokens" not in name else 1
                gain = ATTENTION if "self_attn" in name else 1.0
                weight.normal_(0, gain / math.sqrt(fan_in), generator=torch.Generator().manual_seed(seed))
    model.save_pretrained(folder)

    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", {"do_sample": False, **ends})
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    tokens = {"tokenizer_class": "Qwen2Tokenizer", "processor_class": "Qwen2VLProcessor", "bos_token": None}
    tokens |= {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None}
    tokens |= {"additional_special_tokens": SPECIAL[1:], "model_max_length": CONTEXT, "padding_side": "left"}
    tokens |= {"add_prefix_space": False, "clean_up_tokenization_spaces": False, "errors": "replace"}
    write_json(folder / "tokenizer_config.json", {**tokens, "split_special_tokens": False})
    pixels = {"processor_class": "Qwen2VLProcessor", "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2}
    pixels |= {"min_pixels": 56 * 56, "max_pixels": 256 * 28 * 28}  # 256 tokens an image
    pixels |= {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
    write_json(folder / "preprocessor_config.json", {**pixels, "image_processor_type": "Qwen2VLImageProcessor"})
    write_json(folder / "video_preprocessor_config.json", {**pixels, "video_processor_type": "Qwen2VLVideoProcessor"})
    (folder / "NOTICE").write_text(NOTICE.format(seed=SEED), encoding="utf-8")


def build_tiny(folder: Path) -> Path:
    """Build the model in `folder`; return it."""
    build(write_tiny, folder)
    return folder


if __name__ == "__main__":
    build_tiny(Path(sys.argv[1]))
