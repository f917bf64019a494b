"""The transformers engine against the loop that authors publish: one prompt, one generate; prints a Markdown table.

    python benchmarks/transformers_engine.py [--requests N] [--rounds N] [--mirror ../shared/upstream]

Text: SmolLM2-135M on HumorBench's own requests (distinct prompts only: an answer that is computed once for many is no
feat). Rounds alternate between the two; on a busy machine read the ratio of CPU seconds, with --threads 1. On a GPU:
gpu.py.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from punchline.benchmarks import humorbench
from punchline.core import engine as engines
from punchline.core.progress import say
from punchline.core.records import Image, Message, Request, Sampling, Text
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
        found = [ask(n, Text(text=f"Explain what the joke is.\n{text}")) for n, text in enumerate(texts)]
    distinct = {request.messages: request for request in found}
    greedy = Sampling(temperature=0.0, max_tokens=NEW)
    return [msgspec.structs.replace(request, sampling=greedy) for request in distinct.values()][:count]


def ask(number: int, *content: Text | Image) -> Request:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--single", type=int, default=6, help="prompts of the loop for each round")
    parser.add_argument("--threads", type=int, default=0, help="of torch; default: its own choice")
    parser.add_argument("--mirror", type=Path, default=Path(os.environ.get("PUNCHLINE_MIRROR", "../shared/upstream")))
    args = parser.parse_args()
    import torch

    if args.threads:
        torch.set_num_threads(args.threads)
    card = read_card("smollm2-135m-transformers")
    if not Path(card.options["id"]).is_dir():
        small_models.build("smollm2-135m-instruct")
    card = msgspec.structs.replace(card, sampling={})
    requests = humorbench_requests(args.mirror, args.requests)
    say(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {len(requests)} requests")
    compare(engines.load(card, 0), requests, {}, args.rounds, args.single)


if __name__ == "__main__":
    main()
