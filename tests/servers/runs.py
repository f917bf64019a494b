"""Runs of the openai engine against the misbehaving server, for tests: server, cards, requests, journals."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.asked import answers_in, ask, lines_of
from tests.records import request
from tests.servers import misbehaving

from punchline.core.engine import model_key
from punchline.engines.openai import batch, calls, chat
from punchline.engines.openai import engine as load
from punchline.errors import PunchlineError
from punchline.schema import Image, Message, ModelCard, Request, Response, Text, sha256

pytest.importorskip("openai", reason="OPENAI ABSENT: pip install 'openai>=3'")

calls.STOP_S = 60.0  # a busy machine reads late
ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "sk-Planted0Key1That2Must3Never4Be5Written"
VARIABLE = "PUNCHLINE_TEST_KEY"
BATCH = {"batch": True, "batch_poll": 0.05}
QUICK = {"backoff": {"first": 0.01, "most": 0.05}, "attempts": 4}


class Served:
    """The server as a process of its own."""

    def __init__(self, port: int = 0, log: Path | None = None) -> None:
        command = [sys.executable, "-m", "tests.servers.misbehaving", "--port", str(port)]
        command += ["--log", str(log)] if log else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.url}{path}", timeout=10, trust_env=False).json()

    def script(self, **script: Any) -> None:
        httpx.post(f"{self.url}/script", json=script, timeout=10, trust_env=False)

    def kill(self) -> None:
        with self.process:
            self.process.kill()


def card(url: str | None, sampling: dict[str, Any] | None = None, **options: Any) -> ModelCard:
    base = {"base_url": f"{url}/v1"} if url else {}
    options = {"id": "m", **base, **QUICK, **options}
    return ModelCard(name="m", engine="openai", options=options, sampling=sampling or {})


def requests(*texts: str, image: bytes | None = None, images: int = 1) -> list[Request]:
    page = [Image(sha256=sha256(image))] * images if image else []
    system = Message(role="system", content=(Text(text="Be brief."),))
    users = [request(*page, text, max_tokens=64, item_id=f"i{n}") for n, text in enumerate(texts)]
    return [msgspec.structs.replace(one, messages=(system, *one.messages)) for one in users]


def many(count: int, name: str) -> list[Request]:
    return requests(*(f"{name} {n}" for n in range(count)))


def run(
    folder: Path, of: ModelCard, asked: list[Request], images: dict[str, Path] | None = None, retry: bool = False
) -> dict[str, int]:
    engine = load(of, 0)
    files = {"journal": folder / "m.jsonl", "index": folder / "m.parquet"}
    return dict(ask(engine, asked, images or {}, **files, key=model_key(engine, of, "b"), retry=retry))


def journal(folder: Path) -> list[Response]:
    """All lines, in order."""
    answers_in(folder / "m.jsonl")  # no line is damaged
    return lines_of(folder / "m.jsonl")


def expected(one: Request) -> str:
    return misbehaving.answer(chat.messages(one, {}))


def assert_completes(folder: Path, of: ModelCard, asked: list[Request]) -> None:
    """A run answers every request, and the journal holds one ok answer of each, that request's own."""
    assert run(folder, of, asked) == {"ok": len(asked)}
    ok = [(r.request_id, r.text) for r in journal(folder) if r.state == "ok"]
    assert sorted(ok) == sorted((r.request_id, expected(r)) for r in asked)


def error_of(folder: Path, of: ModelCard, asked: list[Request]) -> str:
    with pytest.raises(PunchlineError) as caught:
        run(folder, of, asked)
    return str(caught.value)


ASKER = "from tests.servers.runs import *; run(Path(), card({!r}, **{!r}), many({!r}, {!r}))"


def another_process(url: str, folder: Path, count: int, name: str, **options: Any) -> subprocess.Popen[str]:
    """A run in a process of its own, which is in the folder."""
    command = [sys.executable, "-c", ASKER.format(url, options, count, name)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def pending(folder: Path) -> list[Any]:
    return json.loads((folder / batch.FOLDER / "m.json").read_bytes())["batches"]  # type: ignore[no-any-return]
