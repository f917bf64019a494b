"""kill -9 at random moments of asking: the next run loses nothing, repeats nothing, tears nothing.

Other stages: benchmarks/torture/kills.py; of fetching: tests/test_fetch.py.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.asked import answers_in
from tests.selected import selection_json

from punchline.benchmarks import pixelhumor
from punchline.core.storage import read_table, write_table
from punchline.files import replacing, write_records
from punchline.schema import Gold, Item, Request, Response
from punchline.workflow.processes import SELECTION

from .project import ROOT

COMICS = 800  # 6,400 requests: a second or so of journalling
WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "said", "no", "thanks", "I", "have", "had", "enough", "puns")


class Script:
    """The job `respond` of one model, run in a folder of its own."""

    def __init__(self, made: Path, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {SELECTION: project(made, folder)}
        self.said = ""  # by the last run, on standard error

    def start(self) -> subprocess.Popen[str]:
        pipes: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        command = [sys.executable, str(ROOT / "scripts/stage.py"), "respond", "m", "all"]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, start_new_session=True, **pipes)

    def finish(self) -> None:
        """Run to the end."""
        child = self.start()
        _, self.said = child.communicate()
        assert child.returncode == 0, self.said

    def kill(self, moment: Callable[[], bool]) -> bool:
        """Run, and kill the whole process group at a moment; False when the run ended well before it."""
        child = self.start()
        while child.poll() is None and not moment():
            time.sleep(0.0005)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        _, self.said = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), self.said
        return child.returncode != 0


def kill_for_sure(
    script: Script,
    moment: Callable[[], Callable[[], bool]],
    undo: Callable[[], object],
    landed: Callable[[], bool] = lambda: True,
) -> None:
    """Kill a run at a moment. A machine that is quick just then may end the run before: undone, it is tried again."""
    for _ in range(20):
        if script.kill(moment()) and landed():
            return
        undo()
    raise AssertionError("every run ended before it could be killed")


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def parts(folder: Path) -> list[Path]:
    """Files that were being written."""
    return [path for path in folder.rglob("*.part") if path.is_file()]


def writing(folder: Path) -> Callable[[], bool]:
    """The moment at which a new file is being written."""
    before = set(parts(folder))
    return lambda: bool(set(parts(folder)) - before)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Items, gold, requests, and a model's answers: what infer and grade read."""
    folder = tmp_path_factory.mktemp("made")
    rng = random.Random(20)
    items, golds, answers = [], [], {}
    for n in range(COMICS):
        name = f"xkcd_{n}"
        items.append(Item(benchmark="pixelhumor", item_id=name, source="xkcd", cluster=name, missing="not fetched"))
        first, second = (" ".join(rng.choices(WORDS, k=12)) for _ in range(2))
        values: dict[str, Any] = {"Q1": ["Yes"], "Q2": ["Absent"], "Q3": ["1"], "Q4": ["Text"], "Q5": ["Pun"]}
        values |= {"panel_sequence": "1, 2", "text": f"1: {first}\n2: {second}", "number_of_panels": 2}
        values |= {"potentially_harmful": "non-harm"}
        golds.append(Gold(benchmark="pixelhumor", item_id=name, values=values))
        output = {"Q1": rng.choice(("Yes", "No")), "Q2": "Absent", "Q3": "2", "Q4": "Both", "Q5": "Pun, Dark"}
        order = rng.choice(("1, 2", "2, 1"))
        answers[name] = {**output, "Q6": "Yes.", "panel_sequence": order, "text": f"1: {second}\n2: {first}"}
    write_records(folder / "data/items/pixelhumor/items.jsonl", items)
    write_records(folder / "data/items/pixelhumor/gold.jsonl", golds)
    requests = [request for item in items for request in pixelhumor.requests(item)]
    write_table(folder / "data/requests/pixelhumor.parquet", requests, Request)
    (folder / "answers.json").write_text(json.dumps(answers))
    return folder


def project(made: Path, folder: Path) -> str:
    """A project in a folder of its own, up to the requests; the selection of one model, as scripts take it."""
    folder.mkdir()
    (folder / "data").mkdir()
    for name in ("data/items", "data/requests", "answers.json"):
        (folder / name).symlink_to(made / name)
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "config/model/m.yaml").write_text("engine: replay\nformat: pixelhumor\npath: answers.json\n")
    return selection_json(folder, models=["m"], benchmarks=["pixelhumor"], scorers=None)


@pytest.fixture(scope="module")
def inferred(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of infer that nothing disturbed."""
    folder = tmp_path_factory.mktemp("inferred") / "p"
    Script(made, folder).finish()
    return folder / "data" / "responses" / "pixelhumor"


def test_infer_goes_on(made: Path, inferred: Path, tmp_path: Path) -> None:
    script = Script(made, tmp_path / "p")
    responses = script.folder / "data" / "responses" / "pixelhumor"
    journal, snapshot = responses / "m.jsonl", responses / "m.parquet"
    whole, newline = size(inferred / "m.jsonl"), b"\n"
    rng = random.Random(21)
    for turn in range(4):
        before = journal.read_bytes() if journal.exists() else b""
        end = len(before) + rng.randrange(1, (whole - len(before)) // 3)
        seen = 0

        def growing(end: int = end) -> Callable[[], bool]:
            nonlocal seen
            seen = 0

            def grown() -> bool:
                nonlocal seen
                seen = max(seen, size(journal))
                return seen >= end

            return grown

        def undo(before: bytes = before) -> None:
            journal.write_bytes(before)
            snapshot.unlink()

        kill_for_sure(script, growing, undo, lambda: not snapshot.exists())
        content = journal.read_bytes()
        assert len(content) >= seen and content.startswith(before[: before.rfind(b"\n") + 1])
        assert f" {before.count(newline):,} answered before," in script.said  # none of them was asked again
        assert answers_in(journal) and not snapshot.exists()
        if turn == 1:  # what a power failure may take besides: all that came after the last group commit
            os.truncate(journal, len(content) - rng.randrange(1, 3_000))

    kill_for_sure(script, lambda: writing(responses), snapshot.unlink, lambda: not snapshot.exists())
    assert not snapshot.exists()
    answered = journal.read_bytes()
    assert answered.count(b"\n") == COMICS * 8
    script.finish()
    assert journal.read_bytes() == answered and f"{COMICS * 8:,} answered before, 0 to ask" in script.said

    answers = answers_in(journal)
    records = [json.loads(line)["record"] for line in answered.splitlines()]
    keys = Counter((record["request_id"], record["model_key"]) for record in records)
    assert set(keys.values()) == {1} and keys.keys() == answers.keys() and len(keys) == COMICS * 8
    requests = read_table(made / "data/requests/pixelhumor.parquet", Request)
    assert {key for key, _ in keys} == {request.request_id for request in requests}
    assert answered == (inferred / "m.jsonl").read_bytes()
    assert snapshot.read_bytes() == (inferred / "m.parquet").read_bytes()
    assert len(read_table(snapshot, Response)) == COMICS * 8
    assert sorted(path.name for path in responses.glob("[!.]*")) == ["m.jsonl", "m.parquet", "m.parquet.made.json"]
    record = (inferred / "m.parquet.made.json").read_bytes()
    assert (responses / "m.parquet.made.json").read_bytes() == record
    script.finish()
    assert "up to date" in script.said and "to ask" not in script.said
    assert journal.read_bytes() == answered and (responses / "m.parquet.made.json").read_bytes() == record


def test_old_leftovers_go_and_files_that_are_being_written_stay(tmp_path: Path) -> None:
    leftover, recent = (tmp_path / f".{name}.x.part" for name in ("a", "b"))
    for path in (leftover, recent):
        path.write_bytes(b"half")
    os.utime(leftover, (0, 0))
    with replacing(tmp_path / "a") as file:
        file.write(b"1")
        assert recent.exists() and not leftover.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".b.x.part", "a"]
