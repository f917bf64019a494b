"""The transformers engine compared with a loop of one prompt and one `generate` at a time; gpu.py runs it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from punchline.schema import Image, Message, Request, Sampling, Text
from punchline.text import log_line

NEW = 64  # tokens
Taken = tuple[float, float, int]  # seconds, CPU seconds, new tokens


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
            log_line(f"round {n + 1}, {name}: {new[2] / new[0]:.1f} tokens/s, {new[2] / new[1]:.1f} a CPU second")
    print("| | requests | seconds | requests/s | tokens/s | tokens a CPU second |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rates = {}
    for name, (wall, cpu, tokens) in taken.items():
        rates[name] = counts[name] / wall, tokens / wall, tokens / cpu
        print(f"| {name} | {counts[name]} | {wall:.1f} | " + " | ".join(f"{r:.2f}" for r in rates[name]) + " |")
    ratios = [many / one for many, one in zip(*rates.values(), strict=True)]
    print("| ratio | | | " + " | ".join(f"{ratio:.1f}" for ratio in ratios) + " |")
    return taken["engine"]
