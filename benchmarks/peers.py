"""The openai engine beside Inspect and lm-evaluation-harness: the same requests to the same server, and kill -9.

    make peers && .venv/bin/python benchmarks/peers.py [--requests 2560] [--at-a-time 16 64 256] [--rounds 3]

tests/servers/misbehaving.py, in a process of its own, answers after 200 ms. Every run is a fresh process that asks all
of the requests and ends: Punchline's `infer` (journal and snapshot), Inspect's `eval` (its log; model `openai-api`),
lm-eval's `simple_evaluate` (`local-chat-completions`; with `use_cache`, which is how it can go on, and without). The
clock begins when packages are imported; CPU is the process's and its children's, never the server's. Share: of the
ideal, calls at a time / 0.2 s. Runs take turns, each round in another order; the best round counts. Killed: kill -9 of
all of it once the server has begun half of the calls, then the same run again, in the tool's own way to go on; what it
does not ask again is what it had on disk. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-peers/bin/python"
WHO = ("punchline", "inspect", "lm-eval", "lm-eval, use_cache")
NEW = 64  # tokens
LATENCY_S = 0.2
Run = Callable[[], int]  # ask all; how many were answered

TASK = """task: peers
dataset_path: json
dataset_kwargs: {{data_files: {{test: {prompts}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{input}}}}"
doc_to_target: "{{{{input}}}}"
generation_kwargs: {{until: [], max_gen_toks: {new}, temperature: 0}}
metric_list: [{{metric: exact_match}}]
"""


def punchline(url: str, at_a_time: int, prompts: Path, folder: Path) -> Run:
    """The engine with its journal and snapshot."""
    import punchline.engines.openai.calls  # noqa: F401
    from punchline.engines.openai import OpenAI
    from punchline.respond import answered, write_index
    from punchline.schema import Message, ModelCard, Request, Sampling, Text

    count = len(prompts.read_text().splitlines())

    def request(n: int) -> Request:
        return Request(
            benchmark="b",
            item_id=f"i{n}",
            task="Q1",
            condition="default",
            messages=(Message(role="user", content=(Text(text=f"question {n}"),)),),
            sampling=Sampling(temperature=0, max_tokens=NEW),
        )

    def run() -> int:
        options = {"id": "m", "base_url": f"{url}/v1", "concurrency": at_a_time}
        engine = OpenAI(ModelCard(name="m", engine="openai", options=options))
        requests, journal = [request(n) for n in range(count)], folder / "m.jsonl"
        with answered(engine, requests, {}, journal=journal, key="benchmark", label="benchmark") as log:
            return write_index(folder / "m.parquet", requests, log, "benchmark")["ok"]

    return run


def inspect(url: str, at_a_time: int, prompts: Path, folder: Path) -> Run:
    """One task without a scorer. A log that was not finished is recovered and tried again."""
    import inspect_ai
    import openai  # noqa: F401
    from inspect_ai.dataset import json_dataset
    from inspect_ai.log import read_eval_log, recover_eval_log

    quiet: Any = {"display": "none", "log_level": "error", "ctl_server": False, "acp_server": False}
    logs = {"log_dir": str(folder / "logs"), "max_samples": at_a_time, "max_connections": at_a_time}

    @inspect_ai.task
    def peers() -> inspect_ai.Task:
        return inspect_ai.Task(dataset=json_dataset(str(prompts)))

    def run() -> int:
        before = sorted((folder / "logs").glob("*.eval"))
        if before:
            recovered = recover_eval_log(str(before[-1]), overwrite=True)
            (log,) = inspect_ai.eval_retry(recovered, **quiet, **logs)
        else:
            model = inspect_ai.model.get_model("openai-api/local/m", base_url=f"{url}/v1", api_key="none")
            (log,) = inspect_ai.eval(peers(), model=model, temperature=0, max_tokens=NEW, **quiet, **logs)
        samples = read_eval_log(log.location).samples or []
        return sum(bool(sample.output.completion) for sample in samples)

    return run


def lm_eval(url: str, at_a_time: int, prompts: Path, folder: Path, cache: bool) -> Run:
    """One task; answers are compared with nothing that matters."""
    import datasets
    from lm_eval import simple_evaluate
    from lm_eval.models.openai_completions import LocalChatCompletion
    from lm_eval.tasks import TaskManager

    datasets.disable_progress_bars()
    (folder / "task").mkdir(exist_ok=True)
    (folder / "task" / "peers.yaml").write_text(TASK.format(prompts=prompts, new=NEW))

    def run() -> int:
        model = LocalChatCompletion(base_url=f"{url}/v1/chat/completions", model="m", num_concurrent=at_a_time)
        result = simple_evaluate(
            model=model,
            tasks=["peers"],
            task_manager=TaskManager(include_path=str(folder / "task"), include_defaults=False),
            apply_chat_template=True,
            bootstrap_iters=0,
            use_cache=str(folder / "cache") if cache else None,
        )
        return sum(bool(sample["resps"][0][0]) for sample in result["samples"]["peers"])

    return run


def one(who: str, url: str, at_a_time: int, prompts: Path, folder: Path) -> dict[str, float]:
    """One run in this process: seconds, CPU seconds, bytes of memory at most, answers."""
    parts = (url, at_a_time, prompts, folder)
    runs = {"punchline": punchline, "inspect": inspect}
    run = runs[who](*parts) if who in runs else lm_eval(*parts, cache=who != "lm-eval")
    cpu, start = spent(), time.monotonic()
    answered = run()
    return {"seconds": time.monotonic() - start, "cpu": spent() - cpu, "answered": answered, "peak": peak()}


def spent() -> float:
    """CPU seconds of this process and the children that it has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def peak() -> float:
    """Bytes that this process, or the largest of its children, has held at most."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * 1024.0


def started(args: argparse.Namespace, who: str, url: str, at_a_time: int, folder: Path) -> subprocess.Popen[bytes]:
    """A fresh process, in a session of its own, with a home of its own."""
    python = sys.executable if who == "punchline" else args.python
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "share"), "HF_HOME": str(folder / "hf")}
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "INSPECT_DISABLE_VERSION_CHECK": "1"}
    local = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}
    command = [str(python), __file__, "--one", who, url, str(at_a_time), str(folder.parent / "prompts.jsonl")]
    with (folder / "said.txt").open("ab") as output:
        return subprocess.Popen(
            [*command, str(folder)],
            env={**os.environ, **home, **offline, **local},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
        )


def finished(args: argparse.Namespace, who: str, url: str, at_a_time: int, folder: Path) -> dict[str, float]:
    """A run to its end."""
    process = started(args, who, url, at_a_time, folder)
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{who}: status {process.returncode}\n{(folder / 'said.txt').read_text()[-3000:]}")
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    if result["answered"] != args.requests:
        raise RuntimeError(f"{who}: {result['answered']} of {args.requests} answered")
    return result


def killed(args: argparse.Namespace, who: str, url: str, at_a_time: int, folder: Path) -> dict[str, float]:
    """Answered when it was killed, files then, asked again, and seconds of the second run."""
    before = state(url)["calls"]
    process = started(args, who, url, at_a_time, folder)
    while state(url)["calls"] - before < args.requests // 2:
        if process.poll() is not None:
            raise RuntimeError(f"{who}: ended before half time\n{(folder / 'said.txt').read_text()[-3000:]}")
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    then = state(url)
    process.communicate()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "said.txt")
    while state(url)["active"]:  # calls that nobody waits for any more
        time.sleep(0.1)
    begun = state(url)["calls"]
    result = finished(args, who, url, at_a_time, folder)
    answered = then["calls"] - before - then["active"]
    return {"answered": answered, "size": size, "again": state(url)["calls"] - begun, "seconds": result["seconds"]}


def state(url: str) -> dict[str, int]:
    """What the server says of itself."""
    with urllib.request.urlopen(f"{url}/state") as reply:
        return dict(json.load(reply))


@contextlib.contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Its address and process."""
    command = [sys.executable, "-m", "tests.servers.misbehaving"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}"
        script = json.dumps({"latency": LATENCY_S, "forget": True}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{url}/script", script, method="POST")).close()
        yield url, process.pid
    finally:
        process.kill()
        process.wait()


def throughput(args: argparse.Namespace, url: str, pid: int, place: Callable[[], Path]) -> None:
    """Print the table of whole runs."""
    import psutil

    print("| calls at a time | run | requests/s | share | CPU ms a request | peak MB | server's CPU ms |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for at_a_time in args.at_a_time:
        runs: dict[str, list[dict[str, float]]] = {who: [] for who in args.who}
        for turn in range(args.rounds):
            for run in args.who[turn % len(args.who) :] + args.who[: turn % len(args.who)]:
                before = sum(psutil.Process(pid).cpu_times()[:2])
                result = finished(args, run, url, at_a_time, place())
                runs[run].append(result | {"server": sum(psutil.Process(pid).cpu_times()[:2]) - before})
        for run, made_all in runs.items():
            best = {name: min(made[name] for made in made_all) for name in made_all[0]}
            rate, ms = args.requests / best["seconds"], 1000 / args.requests
            cells = (rate, LATENCY_S * rate / at_a_time, best["cpu"] * ms, best["peak"] / 1e6, best["server"] * ms)
            print(
                f"| {at_a_time} | {run} | " + "{:.1f} | {:.3f} | {:.2f} | {:.0f} | {:.2f} |".format(*cells),
                flush=True,
            )


def kills(args: argparse.Namespace, url: str, place: Callable[[], Path]) -> None:
    """Print the table of runs that were killed."""
    print("\n| calls at a time | run | answered when killed | kept | asked again | MB on disk | s to go on |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for at_a_time in args.at_a_time:
        for name in args.who:
            result = killed(args, name, url, at_a_time, place())
            left = args.requests - result["again"]
            cells = f"{result['answered']:,} | {left:,} | {result['again']:,} | {result['size'] / 1e6:.1f}"
            print(f"| {at_a_time} | {name} | {cells} | {result['seconds']:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, default=Path(os.environ.get("PUNCHLINE_PEERS", PYTHON)), help="theirs")
    parser.add_argument("--requests", type=int, default=2560)
    parser.add_argument("--at-a-time", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--rounds", type=int, default=3, help="of whole runs; 0: none")
    parser.add_argument("--who", nargs="+", choices=WHO, default=list(WHO))
    parser.add_argument("--no-kill", action="store_true")
    args = parser.parse_args()
    if not args.python.is_file():
        sys.exit(f"PEERS ABSENT: no {args.python}; make peers installs them, or --python names one that has them")
    with tempfile.TemporaryDirectory(prefix="punchline-peers-") as folder, server() as (url, pid):
        prompts = "".join(f'{{"input": "question {n}"}}\n' for n in range(args.requests))
        (Path(folder) / "prompts.jsonl").write_text(prompts)

        def place() -> Path:
            return Path(tempfile.mkdtemp(dir=folder))

        if args.rounds:
            throughput(args, url, pid, place)
        if not args.no_kill:
            kills(args, url, place)
        print(
            f"\nload {' '.join(f'{each:.1f}' for each in os.getloadavg())} on {os.cpu_count()} cores", file=sys.stderr
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        who, url, at_a_time, *paths = sys.argv[2:]
        print(json.dumps(one(who, url, int(at_a_time), Path(paths[0]), Path(paths[1]))))
    else:
        main()
