"""The openai engine against a local server: calls at a time, and memory.

    .venv/bin/python benchmarks/openai_engine.py [--seconds 10] [--rounds 3] [--sizes 1000 10000 100000]

Throughput: tests/servers/misbehaving.py answers after 200 ms; requests a second as a share of the ideal, which is calls
at a time / 0.2 s. Starting and ending count; the best of the rounds, which take turns. Memory: no latency, 16 calls at
a time; peak RSS of a process of its own, above what it holds just before the first call, requests included. "engine" is
the engine alone, "infer" the engine with its journal and snapshot, "gather" the usual script: a task for every request
up front, asyncio.gather and a semaphore. Server and client share the machine's cores. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from punchline.core.records import Message, ModelCard, Request, Sampling, Text  # noqa: E402
from punchline.engines.openai import OpenAI  # noqa: E402
from punchline.stages.infer import infer  # noqa: E402

LATENCY_S = 0.2
AT_A_TIME = (1, 16, 64)
MB = 1e6


def requests(count: int) -> list[Request]:
    """Requests of one short text each."""
    return [
        Request(
            benchmark="b",
            item_id=f"i{n}",
            task="Q1",
            condition="default",
            messages=(Message(role="user", content=(Text(text=f"question {n}"),)),),
            sampling=Sampling(temperature=0, max_tokens=64),
        )
        for n in range(count)
    ]


def engine(url: str, concurrency: int) -> OpenAI:
    """The engine with an otherwise plain card."""
    options = {"id": "m", "base_url": f"{url}/v1", "concurrency": concurrency}
    return OpenAI(ModelCard(name="m", engine="openai", options=options))


def ask(how: str, url: str, concurrency: int, asked: list[Request], folder: Path) -> int:
    """Ask all; how many were answered."""
    if how == "gather":
        return asyncio.run(gather(url, concurrency, asked))
    if how == "engine":
        return sum(r.state == "ok" for r in engine(url, concurrency).answer(asked, {}, "key"))
    files = {"journal": folder / "m.jsonl", "snapshot": folder / "m.parquet"}
    return infer(engine(url, concurrency), asked, {}, **files, label="benchmark", key="benchmark")["ok"]


async def gather(url: str, concurrency: int, asked: list[Request]) -> int:
    """The usual script: a task for every request, and a semaphore."""
    import openai

    semaphore = asyncio.Semaphore(concurrency)
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{url}/v1") as client:

        async def one(request: Request) -> bool:
            async with semaphore:
                text = request.messages[0].content[0]
                assert isinstance(text, Text)
                made = await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": text.text}], temperature=0, max_tokens=64
                )
                return made.choices[0].message.content is not None

        return sum(await asyncio.gather(*(one(request) for request in asked)))


def measured(how: str, url: str, concurrency: int, count: int) -> dict[str, float]:
    """One run in this process: seconds, CPU seconds, and bytes of memory it took at most."""
    asked = requests(count)
    import aiohttp  # noqa: F401
    import openai  # noqa: F401

    with tempfile.TemporaryDirectory(prefix="punchline-openai-") as folder:
        before, cpu, start = held(), time.process_time(), time.monotonic()
        answered = ask(how, url, concurrency, asked, Path(folder))
        seconds, cpu = time.monotonic() - start, time.process_time() - cpu
    if answered != count:
        raise RuntimeError(f"{answered} of {count} answered")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "cpu": cpu, "before": before, "took": peak - before}


def held() -> float:
    """Bytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def in_a_process(how: str, url: str, concurrency: int, count: int) -> dict[str, float]:
    """`measured`, in a fresh process."""
    command = [sys.executable, __file__, "--one", how, url, str(concurrency), str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="of each throughput run, were it ideal; 0: none")
    parser.add_argument("--rounds", type=int, default=3, help="of throughput runs; the best one counts")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000, 100_000])
    args = parser.parse_args()
    command = [sys.executable, "-m", "tests.servers.misbehaving"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        script(url, LATENCY_S)
        print("| calls at a time | run | requests | requests/s | ideal | share | CPU ms a request |")
        print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
        for concurrency in AT_A_TIME if args.seconds else ():
            ideal = concurrency / LATENCY_S
            count = int(args.seconds * ideal)
            runs: dict[str, list[dict[str, float]]] = {how: [] for how in ("engine", "infer", "gather")}
            for _ in range(args.rounds):  # in turns, so that a busy machine slows all alike
                for how, made in runs.items():
                    made.append(in_a_process(how, url, concurrency, count))
            for how, made in runs.items():
                rate, cpu = count / min(run["seconds"] for run in made), min(run["cpu"] for run in made) / count * 1000
                cells = f"{count:,} | {rate:.1f} | {ideal:.0f} | {rate / ideal:.2f} | {cpu:.1f}"
                print(f"| {concurrency} | {how} | {cells} |", flush=True)
        script(url, 0)
        print("\n| requests | run | MB held before | MB more at the peak | s |")
        print("| ---: | --- | ---: | ---: | ---: |")
        for count in args.sizes:
            for how in ("engine", "infer", "gather"):
                run = in_a_process(how, url, 16, count)
                cells = f"{run['before'] / MB:.0f} | {run['took'] / MB:.0f} | {run['seconds']:.0f}"
                print(f"| {count:,} | {how} | {cells} |", flush=True)
    finally:
        server.kill()
        server.wait()


def script(url: str, latency: float) -> None:
    """Tell the server its latency, and to keep nothing of what it is asked."""
    data = json.dumps({"latency": latency, "forget": True}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{url}/script", data, method="POST")).close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        how, url, concurrency, count = sys.argv[2:]
        print(json.dumps(measured(how, url, int(concurrency), int(count))))
    else:
        main()
