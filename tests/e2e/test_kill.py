"""kill -9 at random moments of asking: the next run loses nothing, repeats nothing, tears nothing.

Other stages: benchmarks/torture/kills.py; of fetching: tests/test_fetch.py.
"""

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.asked import answers_in, lines_of
from tests.selected import selection_json

from punchline.benchmarks import pixelhumor
from punchline.core.storage import read_table, write_table
from punchline.files import replacing, write_records
from punchline.schema import Gold, Item, Request, Response
from punchline.workflow.processes import SELECTION

from .project import ROOT

COMICS = 800  # 6,400 requests: a second or so of journalling
RESPONSES = Path("data/responses/pixelhumor")


def project(folder: Path) -> Path:
    """A project of one model with released answers, up to the requests."""
    names = [f"xkcd_{n}" for n in range(COMICS)]
    items = [
        Item(benchmark="pixelhumor", item_id=name, source="xkcd", cluster=name, missing="not fetched") for name in names
    ]
    write_records(folder / "data/items/pixelhumor/items.jsonl", items)
    golds = [Gold(benchmark="pixelhumor", item_id=name, values={"potentially_harmful": "non-harm"}) for name in names]
    write_records(folder / "data/items/pixelhumor/gold.jsonl", golds)
    requests = [request for item in items for request in pixelhumor.requests(item)]
    write_table(folder / "data/requests/pixelhumor.parquet", requests, Request)
    answers = {"Q1": "Yes", "Q2": "Absent", "Q3": "2", "Q4": "Both", "Q5": "Pun, Dark", "Q6": "Yes."}
    answers |= {"panel_sequence": "1, 2", "text": "1: a cat sat on a mat\n2: no thanks"}
    (folder / "answers.json").write_text(json.dumps(dict.fromkeys(names, answers)))
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "config/model/m.yaml").write_text("engine: replay\nformat: pixelhumor\npath: answers.json\n")
    return folder


def respond(folder: Path, kill_at: int | None = None) -> str:
    """What the job `respond` says; killed with its group when the journal has that many bytes."""
    selection = selection_json(folder, models=["m"], benchmarks=["pixelhumor"], scorers=None)
    journal, environment = folder / RESPONSES / "m.jsonl", os.environ | {SELECTION: selection}
    command = [sys.executable, str(ROOT / "scripts/stage.py"), "respond", "m", "all"]
    pipes: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **pipes) as job:
        while kill_at is not None and job.poll() is None and not (journal.exists() and size(journal) >= kill_at):
            time.sleep(0.0005)
        if kill_at is not None:
            os.killpg(job.pid, signal.SIGKILL)
        said = str(job.communicate()[1])
    assert job.returncode == (0 if kill_at is None else -signal.SIGKILL), said
    return said


def size(path: Path) -> int:
    return path.stat().st_size


def test_asking_goes_on(tmp_path: Path) -> None:
    undisturbed, folder = project(tmp_path / "undisturbed"), project(tmp_path / "p")
    respond(undisturbed)
    whole = undisturbed / RESPONSES / "m.jsonl"
    journal, index = (folder / RESPONSES / f"m.{end}" for end in ("jsonl", "parquet"))
    rng, before = random.Random(21), b""
    for turn in range(4):
        said = respond(folder, len(before) + rng.randrange(1, (size(whole) - len(before)) // 3))
        content = journal.read_bytes()
        assert content.startswith(before[: before.rfind(b"\n") + 1]) and not index.exists()
        answered = before.count(b"\n")
        assert f" {answered:,} answered before," in said  # none of them was asked again
        if turn == 1:  # what a power failure may take besides: all that came after the last commit
            os.truncate(journal, len(content) - rng.randrange(1, 3_000))
        before = journal.read_bytes()
    respond(folder)
    assert journal.read_bytes() == whole.read_bytes()
    assert len(lines_of(journal)) == len(answers_in(journal)) == COMICS * 8
    for name in ("m.parquet", "m.parquet.made.json"):
        assert (folder / RESPONSES / name).read_bytes() == (undisturbed / RESPONSES / name).read_bytes()
    assert len(read_table(index, Response)) == COMICS * 8
    said = respond(folder)
    assert "up to date" in said and "to ask" not in said and journal.read_bytes() == whole.read_bytes()


def test_leftovers_go_and_files_that_are_being_written_stay(tmp_path: Path) -> None:
    leftover, other, locked = (tmp_path / f".{name}.x.part" for name in ("a", "b", "c"))
    for path in (leftover, other, locked):
        path.write_bytes(b"half")
    with locked.open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        with replacing(tmp_path / "a") as file, replacing(tmp_path / "b") as second:
            file.write(b"1")
            second.write(b"2")
            assert locked.exists() and not leftover.exists() and not other.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".c.x.part", "a", "b"]
    assert (tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes() == b"12"
