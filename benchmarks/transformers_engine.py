"""The transformers engine against the loop that authors publish: one prompt, one generate; prints a Markdown table.

    python benchmarks/transformers_engine.py [--requests N] [--rounds N] [--mirror ../shared/upstream]
    python benchmarks/transformers_engine.py --gpu 2b|7b [--images FOLDER] [--peak-tflops 989] [--peak-tb 3.35]

Text: SmolLM2-135M on HumorBench's own requests (distinct prompts only: an answer that is computed once for many is no
feat). Rounds alternate between the two; on a busy machine read the ratio of CPU seconds, with --threads 1. --gpu:
Qwen2-VL's architecture with random weights, one question on each image; peaks are those of one H100 SXM (dense
bfloat16; HBM3) unless said.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from punchline.benchmarks import humorbench
from punchline.core import engine as engines
from punchline.core.progress import say
from punchline.core.records import Image, Message, ModelCard, Request, Sampling, Text
from punchline.core.storage import sha256_file
from punchline.project import small_models
from punchline.project.selection import read_card

NEW = 64  # tokens
Taken = tuple[float, float, int]  # seconds, CPU seconds, new tokens


def humorbench_requests(mirror: Path, count: int) -> list[Request]:
    """Distinct requests, greedy. Synthetic captions, said loudly, where HumorBench's files are not there."""
    folder = mirror / "humorbench"
    if folder.is_dir():
        files = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
        items = humorbench.items(files, {item_id: "" for item_id, _, _ in humorbench.listing(files)})
        found = [request for item in items for request in humorbench.requests(item)]
    else:
        say(f"REAL DATA ABSENT: no humorbench/ in {mirror}; synthetic captions are asked")
        words = ["a cat at a desk", "tells a dog", "with a phone", "that the king", "is late", "for the bus", "again"]
        texts = [" ".join(words[n % 7 :] * (3 + n % 4)) + f" {n}" for n in range(count)]
        found = [_ask(n, Text(text=f"Explain what the joke is.\n{text}")) for n, text in enumerate(texts)]
    distinct = {request.messages: request for request in found}
    greedy = Sampling(temperature=0.0, max_tokens=NEW)
    return [msgspec.structs.replace(request, sampling=greedy) for request in distinct.values()][:count]


def _ask(number: int, *content: Text | Image) -> Request:
    return Request(
        benchmark="humorbench",
        item_id=str(number),
        task="explain",
        condition="default",
        messages=(Message(role="user", content=content),),
        sampling=Sampling(temperature=0.0, max_tokens=NEW),
    )


def loop(engine: Any, requests: Sequence[Request], images: Mapping[str, Path]) -> Taken:
    """(seconds, CPU seconds, new tokens) of one generate a prompt, with the same weights as the engine's."""
    import PIL.Image
    import torch

    model, tokenizer, processor = engine._loaded.model, engine._loaded.tokenizer, engine._loaded.processor
    tokens, started, cpu = 0, time.perf_counter(), time.process_time()
    for request in requests:
        parts = request.messages[-1].content
        if processor is None:
            turn = [{"role": "user", "content": "".join(part.text for part in parts if isinstance(part, Text))}]
            inputs = tokenizer.apply_chat_template(
                turn, add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
        else:
            content = [{"type": "image"} if isinstance(p, Image) else {"type": "text", "text": p.text} for p in parts]
            text = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
            pictures = [PIL.Image.open(images[p.sha256 or ""]).convert("RGB") for p in parts if isinstance(p, Image)]
            inputs = processor(text=[text], images=pictures, return_tensors="pt")
            inputs["pixel_values"] = inputs["pixel_values"].to(model.dtype)
        inputs = inputs.to(model.device)
        with torch.no_grad():
            written = model.generate(**inputs, max_new_tokens=NEW, do_sample=False)
        tokens += written.shape[1] - inputs["input_ids"].shape[1]
    return time.perf_counter() - started, time.process_time() - cpu, tokens


def answered(engine: Any, requests: Sequence[Request], images: Mapping[str, Path]) -> Taken:
    """(seconds, CPU seconds, new tokens) of the engine."""
    started, cpu = time.perf_counter(), time.process_time()
    given = list(engine.answer(requests, images, "benchmark"))
    assert all(response.state == "ok" for response in given), {response.reason for response in given}
    tokens = sum(response.usage.completion or 0 for response in given)
    return time.perf_counter() - started, time.process_time() - cpu, tokens


def compare(engine: Any, requests: list[Request], images: Mapping[str, Path], rounds: int, single: int) -> Taken:
    """Print the table; what the engine took. `single`: prompts of the loop for each round."""
    taken: dict[str, Taken] = {"engine": (0.0, 0.0, 0), "one prompt at a time": (0.0, 0.0, 0)}
    share = len(requests) // rounds
    counts = dict(zip(taken, (share * rounds, single * rounds), strict=True))
    list(engine.answer(requests[:1], images, "warm-up"))
    for n in range(rounds):
        part = requests[n * share : (n + 1) * share]
        spread = part[:: max(1, share // single)][:single]
        for name, new in zip(taken, (answered(engine, part, images), loop(engine, spread, images)), strict=True):
            wall, cpu, tokens = taken[name]
            taken[name] = (wall + new[0], cpu + new[1], tokens + new[2])
            say(f"round {n + 1}, {name}: {new[2] / new[0]:.1f} tokens/s, {new[2] / new[1]:.1f} a CPU second")
    print("| | requests | seconds | requests/s | tokens/s | tokens a CPU second |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rates = {}
    for name, (wall, cpu, tokens) in taken.items():
        rates[name] = counts[name] / wall, tokens / wall, tokens / cpu
        print(f"| {name} | {counts[name]} | {wall:.1f} | " + " | ".join(f"{r:.2f}" for r in rates[name]) + " |")
    ratios = [many / one for many, one in zip(*rates.values(), strict=True)]
    print("| ratio | | | " + " | ".join(f"{ratio:.1f}" for ratio in ratios) + " |")
    return taken["engine"]


def random_qwen2_vl(size: str, folder: Path) -> int:
    """Qwen2-VL's architecture with random bfloat16 weights and the tiny model's tokeniser; how many parameters."""
    import torch
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    small_models.build("tiny-qwen2-vl", folder)
    tiny = msgspec.json.decode((folder / "config.json").read_bytes())
    shape = {  # hidden, intermediate, layers, heads, key/value heads: as published
        "2b": (1536, 8960, 28, 12, 2),
        "7b": (3584, 18944, 28, 28, 4),
    }[size]
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")
    rope = {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [16, 24, 24]}
    context = {"vocab_size": 151936, "max_position_embeddings": 32768, "rope_parameters": rope}
    text = {**tiny["text_config"], **dict(zip(names, shape, strict=True)), **context}
    config = Qwen2VLConfig(
        **{**tiny, "dtype": "bfloat16", "text_config": text, "vision_config": {"hidden_size": shape[0]}}
    )
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen2VLForConditionalGeneration(config)
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    (folder / "punchline.json").unlink()
    settings = msgspec.json.decode((folder / "preprocessor_config.json").read_bytes())
    settings["max_pixels"] = 1280 * 28 * 28
    (folder / "preprocessor_config.json").write_bytes(msgspec.json.encode(settings))
    return int(model.num_parameters())


def on_gpu(size: str, pictures: Path, rounds: int, peak_flops: float, peak_bytes: float) -> None:
    """Requests/s, tokens/s and shares of the peaks, with one question on each image."""
    images = {sha256_file(path): path for path in sorted(pictures.glob("*.png"))}
    requests = [_ask(n, Image(sha256=d), Text(text="Why is this funny?")) for n, d in enumerate(images)]
    with tempfile.TemporaryDirectory() as folder:
        parameters = random_qwen2_vl(size, Path(folder) / "model")
        card = ModelCard(
            name="random-qwen2-vl",
            engine="transformers",
            options={"id": str(Path(folder) / "model"), "dtype": "bfloat16", "device": "cuda"},
        )
        engine: Any = engines.load(card, 0)
        seconds, _, tokens = compare(engine, requests, images, rounds, single=8)
        first = [msgspec.structs.replace(r, sampling=Sampling(temperature=0.0, max_tokens=1)) for r in requests]
        started = time.perf_counter()
        given = list(engine.answer(first, images, "prefill"))
        prefill = sum({r.latency_s or 0.0 for r in given})  # of the model, without reading the images
        wall = time.perf_counter() - started
        prompt = sum(r.usage.prompt or 0 for r in given)
        steps = tokens / len(requests) * len({r.latency_s for r in given})
        decode = max(seconds - wall, 1e-9)
        print(f"\n{parameters / 1e9:.2f} G parameters, {prompt / len(requests):.0f} prompt tokens a request.")
        print(f"Prefill: {2 * parameters * prompt / prefill / peak_flops:.1%} of peak FLOP/s;", end=" ")
        print(f"decode: {2 * parameters * steps / decode / peak_bytes:.1%} of peak bytes/s (weights only).")
        engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--single", type=int, default=6, help="prompts of the loop for each round")
    parser.add_argument("--threads", type=int, default=0, help="of torch; default: its own choice")
    parser.add_argument("--mirror", type=Path, default=Path(os.environ.get("PUNCHLINE_MIRROR", "../shared/upstream")))
    parser.add_argument("--gpu", choices=["2b", "7b"])
    parser.add_argument("--images", type=Path, default=Path("data/images/pixelhumor"))
    parser.add_argument("--peak-tflops", type=float, default=989)
    parser.add_argument("--peak-tb", type=float, default=3.35)
    args = parser.parse_args()
    import torch

    if args.threads:
        torch.set_num_threads(args.threads)
    if args.gpu:
        on_gpu(args.gpu, args.images, args.rounds, args.peak_tflops * 1e12, args.peak_tb * 1e12)
        return
    card = read_card("smollm2-135m-transformers")
    if not Path(card.options["id"]).is_dir():
        small_models.build("smollm2-135m-instruct")
    card = msgspec.structs.replace(card, sampling={})
    requests = humorbench_requests(args.mirror, args.requests)
    say(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {len(requests)} requests")
    compare(engines.load(card, 0), requests, {}, args.rounds, args.single)


if __name__ == "__main__":
    main()
