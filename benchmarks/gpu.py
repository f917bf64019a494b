"""What only a GPU can show, in commands of ten minutes at most; --tiny: the same code at a tiny size, on any machine.

    .venv/bin/python benchmarks/gpu.py speed|memory|finetune [--size 2b|7b] [--tiny] [MIRROR]     # after make hf
    .venv/bin/python benchmarks/gpu.py similarity [--tiny] [MIRROR]                               # after make metrics

Weights are random, of the published architecture, and made here; pictures are xkcd's, texts YesBut's, from the mirror.
speed: the engine transformers in bfloat16, one question on each picture, against the loop of one prompt at a time; its
shares of the card's peaks: FLOP of the weights' products while prompts are read, bytes of weights, keys and values
while answers are written (--peaks for a card that is not in PEAKS). memory: a batch with less memory than it takes.
finetune: the recipe qwen2-vl-7b-reordering on the demo corpus, whole, and killed at half and gone on with. similarity:
BERTScore by roberta-large's architecture, against the loop. Prints Markdown, first the device's name.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import msgspec  # noqa: E402
import similarity  # noqa: E402
from random_models import SHAPES, cuda, freed, random_qwen2_vl, random_roberta  # noqa: E402
from transformers_engine import NEW, ask, compare  # noqa: E402

from punchline.config.cards import read_card  # noqa: E402
from punchline.config.recipes import read_recipe  # noqa: E402
from punchline.core import engine as engines  # noqa: E402
from punchline.files import sha256_file  # noqa: E402
from punchline.schema import Image, ModelCard, Request, Response, Sampling, Text  # noqa: E402

PEAKS = {"H100": (989.0, 3.35), "H200": (989.0, 4.8), "A100": (312.0, 2.0)}  # dense bfloat16 TFLOP/s, TB/s (SXM)
QUESTION = "Why is this funny?"
LESS = 0.5  # of the memory that a batch takes
RECIPE = "qwen2-vl-7b-reordering"
EPOCH = 8  # steps; the demo corpus has items for no more
GB = 1e9


class Weights(NamedTuple):
    """A model's parameters by what they are used for, and bytes of one token's keys and values."""

    all: int
    eyes: int  # at every patch of a picture
    layers: int  # at every token
    head: int  # at every token that is written
    cache: int


def device() -> str:
    """The device's name and versions."""
    import torch
    import transformers

    name = torch.cuda.get_device_name() if cuda() else f"CPU ({platform.machine()}, {os.cpu_count()} cores)"
    return f"{name}; torch {torch.__version__}, transformers {transformers.__version__}"


def card_of(folder: Path, **options: Any) -> ModelCard:
    """The engine transformers on a folder."""
    dtype, where = ("bfloat16", "cuda") if cuda() else ("float32", "cpu")
    options = {"id": str(folder), "dtype": dtype, "device": where, **options}
    return ModelCard(name="random-qwen2-vl", engine="transformers", options=options)


def weights(model: Any) -> Weights:
    """Of a Qwen2-VL."""

    def count(module: Any) -> int:
        return sum(weight.numel() for weight in module.parameters())

    text, inner = model.config.get_text_config(), model.model
    a_token = text.num_hidden_layers * text.num_key_value_heads * (text.hidden_size // text.num_attention_heads)
    return Weights(
        all=model.num_parameters(),
        eyes=count(inner.visual),
        layers=count(inner.language_model.layers),
        head=count(model.lm_head),
        cache=2 * a_token * model.dtype.itemsize,
    )


class Memory:
    """Bytes of the device, from here on."""

    def __init__(self) -> None:
        freed()
        if cuda():
            import torch

            torch.cuda.reset_peak_memory_stats()
        else:
            Path("/proc/self/clear_refs").write_text("5")
        self.before = self._now("VmRSS")

    def _now(self, name: str) -> int:
        if cuda():
            import torch

            return torch.cuda.memory_reserved() if name == "VmRSS" else torch.cuda.max_memory_reserved()
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))

    @property
    def peak(self) -> int:
        return self._now("VmHWM")

    @contextlib.contextmanager
    def at_most(self, more: float) -> Iterator[None]:
        """Allow that many bytes more than are held now."""
        freed()
        if cuda():
            import torch

            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction((self._now("VmRSS") + more) / total)
            yield
            torch.cuda.set_per_process_memory_fraction(1.0)
        else:
            before = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (int(self._now("VmData") + more), before[1]))
            yield
            resource.setrlimit(resource.RLIMIT_DATA, before)


def answered(engine: Any, requests: Sequence[Request], images: Mapping[str, Path], new: int) -> list[Response]:
    """All of them, with that many tokens each at most."""
    asked = [msgspec.structs.replace(r, sampling=Sampling(temperature=0.0, max_tokens=new)) for r in requests]
    given = {response.request_id: response for response in engine.answer(asked, images, "benchmark")}
    bad = {response.reason for response in given.values() if response.state != "ok"}
    if bad:
        raise RuntimeError(f"not answered: {bad}")
    return [given[request.request_id] for request in asked]


def times(given: Sequence[Response]) -> set[float]:
    """Seconds of each batch: all its answers have the same."""
    return {response.latency_s or 0.0 for response in given}


def pictures(mirror: Path, count: int) -> tuple[list[Request], dict[str, Path]]:
    """One question on each."""
    files = sorted(path for path in (mirror / "xkcd" / "images").glob("*") if path.suffix in (".png", ".jpg"))
    if not files:
        sys.exit(f"REAL DATA ABSENT: no pictures in {mirror / 'xkcd' / 'images'}")
    images = {sha256_file(path): path for path in files[:count]}
    return [ask(n, Image(sha256=d), Text(text=QUESTION)) for n, d in enumerate(images)], images


def speed(args: argparse.Namespace, folder: Path) -> None:
    """Requests/s, tokens/s, shares of the peaks, memory."""
    requests, images = pictures(args.mirror, args.requests)
    engine: Any = engines.load(card_of(random_qwen2_vl(args.size, folder / "model")), 0)
    compare(engine, requests, images, rounds=2, single=min(8, len(requests) // 2))
    memory = Memory()
    first, whole = (answered(engine, requests, images, new) for new in (1, NEW))
    loaded, of = engine._loaded, weights(engine._loaded.model)
    words = len(loaded.tokenise(loaded.render(requests[0], {}))) - 1  # without the picture's placeholder
    prompt = sum(response.usage.prompt or 0 for response in first)
    patches = 4 * (prompt - words * len(requests))  # Qwen2-VL merges two by two
    reading = sum(times(first))
    read = 2 * (of.eyes * patches + of.layers * prompt + of.head * len(requests)) / reading / 1e12
    writing = max(sum(times(whole)) - reading, 1e-9)
    longest: dict[float | None, int] = {}
    for response in whole:
        longest[response.latency_s] = max(longest.get(response.latency_s, 0), response.usage.completion or 0)
    steps = sum(most - 1 for most in longest.values())
    cached = sum((r.usage.prompt or 0) * ((r.usage.completion or 1) - 1) for r in whole) * of.cache
    written = (steps * (of.layers + of.head) * loaded.model.dtype.itemsize + cached) / writing / 1e12
    known = next((peaks for name, peaks in PEAKS.items() if name in device()), (0.0, 0.0))
    flops, moved = args.peaks or known

    def share(value: float, peak: float) -> str:
        return f"{value / peak:.1%}" if peak else "peak unknown"

    print(
        "\n| G parameters | prompt tokens | TFLOP/s, prompts | of peak | TB/s, answers | of peak | batches | peak GB |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    print(f"| {of.all / 1e9:.3g} | {prompt / len(requests):.0f} | {read:.3g} | {share(read, flops)}", end=" | ")
    print(f"{written:.3g} | {share(written, moved)} | {len(longest)} | {memory.peak / GB:.2f} |")


def memory(args: argparse.Namespace, folder: Path) -> None:
    """One batch with all the memory that it takes, and with less."""
    requests, images = pictures(args.mirror, args.requests)
    card = card_of(random_qwen2_vl(args.size, folder / "model"), batch_size=len(requests), batch_tokens=10**9)
    engine: Any = engines.load(card, 0)
    answered(engine, requests[-1:], images, 2)
    rows = []
    took = 0.0
    for share in (1.0, LESS):
        gauge = Memory()
        with gauge.at_most(share * took) if took else contextlib.nullcontext():
            given = answered(engine, requests, images, 8)
        took = took or gauge.peak - gauge.before
        rows.append((share, given))
    print("| memory for the batch, GB | answered | batches that were held | the same answer |")
    print("| ---: | ---: | ---: | ---: |")
    for share, given in rows:
        same = sum(a.text == b.text for a, b in zip(given, rows[0][1], strict=True))
        print(f"| {share * took / GB:.3g} | {len(given)} of {len(requests)} | {len(times(given))} | {same} |")
    if len(times(rows[1][1])) <= len(times(rows[0][1])):
        sys.exit("nothing was halved")


def finetune(args: argparse.Namespace, folder: Path) -> None:
    """A training to its end; another one killed at half, and gone on with."""
    model = random_qwen2_vl(args.size, folder / "model")

    def begin(name: str, checkpoint_s: float) -> subprocess.Popen[bytes]:
        (folder / name).mkdir(exist_ok=True)
        command = [sys.executable, __file__, "--train", args.size, str(args.steps), str(model), str(folder / name)]
        return subprocess.Popen([*command, str(checkpoint_s)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ended(process: subprocess.Popen[bytes]) -> dict[str, Any]:
        said, errors = process.communicate()
        if process.returncode:
            sys.exit(errors.decode()[-3000:])
        return dict(json.loads(said.splitlines()[-1]))

    whole = ended(begin("whole", 3600))
    killed = begin("killed", 0)
    steps = folder / "killed" / "steps.jsonl"
    while killed.poll() is None and (not steps.is_file() or len(steps.read_bytes().splitlines()) < args.steps // 2):
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    done = len(steps.read_bytes().splitlines())
    resumed = ended(begin("killed", 0))
    again = done + len(resumed["seconds"]) - whole["steps"]
    print("| steps | examples a step | s a step | peak GB | steps before kill -9 | done twice | losses | the same |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    cells = f"{statistics.median(whole['seconds']):.3g} | {whole['peak'] / GB:.2f} | {done} | {again}"
    losses = ", ".join(f"{loss:.4f}" for loss in (*whole["losses"], *resumed["losses"]))
    same = "yes" if whole["losses"] == resumed["losses"] else "no"
    print(f"| {whole['steps']} | {whole['batch']} | {cells} | {losses} | {same} |")


def train(size: str, steps: str, model: str, project: str, checkpoint_s: str) -> None:
    """One training, in this process; a line a step in steps.jsonl."""
    from tests.test_finetune import corpus_of

    from punchline import train as stage
    from punchline.train import training as loop
    from punchline.train.training import Training

    shutil.copytree(ROOT / "config", Path(project) / "config", dirs_exist_ok=True)
    os.chdir(project)
    recipe = read_recipe(RECIPE)
    base = read_card(recipe.base)
    dtype = "bfloat16" if cuda() else "float32"
    base = msgspec.structs.replace(base, options={**card_of(Path(model)).options, "dtype": dtype})
    items_of_epoch = EPOCH * recipe.batch // recipe.shuffles
    recipe = msgspec.structs.replace(recipe, dtype=dtype, items=items_of_epoch, epochs=int(steps) // EPOCH)
    items, golds = corpus_of(recipe.benchmark, Path(project) / "corpus")
    one_step, seconds = Training._train_step, []

    def timed(training: Training, epoch: int) -> None:
        start = time.perf_counter()
        one_step(training, epoch)
        if cuda():
            import torch

            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
        with Path("steps.jsonl").open("a") as file:
            file.write(f"{seconds[-1]}\n")

    Training._train_step = timed  # type: ignore[method-assign]
    loop.CHECKPOINT_S = float(checkpoint_s)
    gauge = Memory()
    made = stage.train(recipe, base, items, golds, corpus="demo")
    (part,) = made.parts.values()
    said = {"steps": part.steps, "losses": part.losses, "batch": recipe.batch * recipe.accumulate}
    print(json.dumps({**said, "seconds": seconds, "peak": gauge.peak}))


def bertscore(args: argparse.Namespace, folder: Path) -> None:
    """BERTScore with roberta-large's architecture."""
    if not (args.mirror / "yesbut" / "Yesbut_data.json").is_file():
        sys.exit(f"REAL DATA ABSENT: no yesbut/Yesbut_data.json in {args.mirror}")
    once = similarity.pairs_of(args.mirror, 3 if args.size == "tiny" else 60)
    model = random_roberta(args.size, folder / "roberta", sorted({text for pair in once for text in pair}))
    layers = 2 if args.size == "tiny" else 17  # as config/judge/bertscore.yaml
    options = {"metric": "bertscore", "id": str(model), "layers": layers}
    card = ModelCard(name=f"random-roberta-{args.size}", engine="similarity", options=options)
    print(similarity.table(similarity.compared(card, once, 3, "cuda" if cuda() else "cpu")))


PARTS = {"speed": speed, "memory": memory, "finetune": finetune, "similarity": bertscore}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mirror = Path(os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared/upstream"))
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("mirror", nargs="?", type=Path, default=mirror)
    parser.add_argument("--size", choices=SHAPES, default="2b")
    parser.add_argument("--tiny", dest="size", action="store_const", const="tiny")
    parser.add_argument("--requests", type=int, help="pictures; default: 128, tiny 8, of memory 48")
    parser.add_argument("--steps", type=int, help="of the training, a multiple of 8; default: 24, tiny 8")
    parser.add_argument("--peaks", type=float, nargs=2, metavar=("TFLOPS", "TB"), help="of the card, a second")
    args = parser.parse_args()
    tiny = args.size == "tiny"
    args.requests, args.steps = (
        args.requests or (48 if tiny and args.part == "memory" else 8 if tiny else 128),
        args.steps or (8 if tiny else 24),
    )
    if not tiny and not cuda():
        sys.exit("NO GPU: not run. --tiny runs the same code at a tiny size on a CPU")
    print(f"{device()}; {args.part}, {args.size}\n", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="punchline-gpu-") as folder:
        PARTS[args.part](args, Path(folder))
    print(f"\n{time.monotonic() - start:.0f} s in all", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(*sys.argv[2:])
    else:
        main()
