"""The infer entry point against a real server, killed, starved of disk and run twice: every request answered once."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.asked import answers_in, lines_of
from tests.ran import ran
from tests.selected import selection_json
from tests.test_engine_openai import Served

from punchline.benchmarks import humorbench
from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.core.storage import read_table, write_table
from punchline.files import csv_text, write_records
from punchline.schema import Request, Response, Text
from punchline.workflow.processes import SELECTION

ROOT = Path(__file__).resolve().parent.parent.parent
CONCURRENCY = 8
KILLS = 50


@pytest.fixture
def server() -> Iterator[Served]:
    served = Served()
    yield served
    served.kill()


class Infer:
    """The stage infer in a folder of its own, asking a server `n` requests."""

    def __init__(self, folder: Path, server: Served, n: int, **options: object) -> None:
        self.folder = folder
        columns = ("idx", "cartoonstock_id", "contest_number", "description", "caption", "element")
        rows = (
            {"idx": i, "contest_number": i, "description": f"scene {i}", "caption": f"line {i}", "element": "e"}
            for i in range(n)
        )
        files = {ANNOTATIONS: csv_text(columns, rows).encode()}
        items = humorbench.items(files, dict.fromkeys(map(str, range(n)), "none"))
        self.requests = [request for item in items for request in humorbench.requests(item)]
        write_records(folder / "data/items/humorbench/items.jsonl", items)
        write_table(folder / "data/requests/humorbench.parquet", self.requests, Request)
        given = {"id": "m", "base_url": f"{server.url}/v1", "concurrency": CONCURRENCY, **options}
        given |= {"backoff": {"first": 0.01, "most": 0.1}}
        shutil.copytree(ROOT / "config", folder / "config")
        card = {"engine": "openai", "modality": ["text"], **given}
        (folder / "config/model/m.yaml").write_text(json.dumps(card))  # YAML holds JSON
        selection = selection_json(folder, models=["m"], benchmarks=["humorbench"], scorers=None)
        script = str(ROOT / "scripts" / "stage.py")
        self.command = [sys.executable, script, "respond", "m", "all"]
        self.environment = os.environ | {SELECTION: selection}
        self.journal = folder / "data/responses/humorbench/m.jsonl"
        self.snapshot = folder / "data/responses/humorbench/m.parquet"

    def start(self) -> subprocess.Popen[str]:
        pipes: Any = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        return subprocess.Popen(self.command, cwd=self.folder, env=self.environment, **pipes)

    def finish(self, status: int = 0) -> str:
        child = self.start()
        _, said = child.communicate(timeout=300)
        assert child.returncode == status, said
        return said

    def answered(self) -> Counter[str]:
        """How many answers the journal has for each request; a failure is none. All its lines are whole."""
        content = self.journal.read_bytes()
        assert len(answers_in(self.journal)) == content.count(b"\n") and content.endswith(b"\n")
        records = [json.loads(line)["record"] for line in content.splitlines()]
        return Counter(record["request_id"] for record in records if record["state"] != "failed")

    def check_complete(self) -> None:
        """Every request is answered exactly once in the journal, and the snapshot holds the answers."""
        assert self.answered() == Counter(request.request_id for request in self.requests)
        snapshot = read_table(self.snapshot, Response)
        assert [r.request_id for r in snapshot] == [r.request_id for r in self.requests]
        assert {r.state for r in snapshot} == {"ok"}


def last_text(request: Request) -> str:
    """What the server counts a request by."""
    part = request.messages[-1].content[-1]
    assert isinstance(part, Text)
    return part.text


def test_fifty_kills(tmp_path: Path, server: Served) -> None:
    """kill -9 at random moments: what was journalled is not asked again, what was in flight may be."""
    run = Infer(tmp_path, server, 3000)
    server.script(latency=0.05)
    rng = random.Random(0)
    killed = 0
    text_of = {request.request_id: last_text(request) for request in run.requests}
    recorded: dict[str, int] = {}  # prompt that the journal answers: how often it was asked until then
    for _ in range(4 * KILLS):
        if killed == KILLS:
            break
        child = run.start()
        before = run.journal.stat().st_size if run.journal.exists() else 0
        deadline = time.monotonic() + 60
        # Wait until it journals, so that the moment falls into the work and not into the imports.
        while child.poll() is None and time.monotonic() < deadline:
            if run.journal.exists() and run.journal.stat().st_size > before:
                break
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.25))
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            killed += 1
        _, said = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), said
        asked = server.get("/counts")
        assert {text: asked[text] for text in recorded} == recorded  # what was journalled was not asked again
        recorded = {(text := text_of[one.request_id]): asked[text] for one in lines_of(run.journal)}
        if child.returncode == 0:
            break
    assert killed >= KILLS // 2, "the runs were too quick to be killed"
    run.finish()
    run.check_complete()
    asked = server.get("/counts")
    assert {text: asked[text] for text in recorded} == recorded
    assert len(asked) == len(run.requests)
    # Lost with a kill: what was in flight, and what had arrived and not been written yet (the engine's queue).
    again = sum(asked.values()) - len(run.requests)
    assert again <= killed * (CONCURRENCY + 2 * CONCURRENCY + 16), f"{again} asked again after {killed} kills"


def test_two_runs_at_once(tmp_path: Path, server: Served) -> None:
    run = Infer(tmp_path, server, 200)
    server.script(latency=0.1)
    first = run.start()
    while not run.journal.exists() or not run.journal.stat().st_size:
        time.sleep(0.01)
        assert first.poll() is None
    said = run.finish()
    assert "waiting for another run that asks" in said and "200 answered before, 0 to ask" in said
    first.communicate(timeout=120)
    assert first.returncode == 0
    run.check_complete()
    assert set(server.get("/counts").values()) == {1}


def test_disk_full(tmp_path: Path, server: Served) -> None:
    """The disk fills while answers are journalled: a clear error, and the next run with room goes on."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = ran("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small)
    if mounted.returncode != 0:
        pytest.skip(f"NO SMALL DISK: mounting a tmpfs needs root: {mounted.stderr.strip()}")
    try:
        run = Infer(tmp_path / "p", server, 600)
        (run.folder / "data/responses").symlink_to(small)
        said = run.finish(status=1)
        assert "no answer can be written: No space left on device" in said and "Make room" in said
        kept = run.answered() if run.journal.read_bytes().endswith(b"\n") else None
        subprocess.run(["mount", "-o", "remount,size=16m", str(small)], check=True)
        run.finish()
        run.check_complete()
        asked = server.get("/counts")
        if kept is not None:
            assert sum(asked.values()) - 600 <= CONCURRENCY + 1
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)
