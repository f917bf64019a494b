"""Any sequence of runs, kills, losses and edits: nobody is asked what a file holds, and no paid answer is lost.

Two runs of YesBut on the demo data: one of two comics, one of three; a model, its questions about its own answers, and
a judge. The stages are the real ones; the engine is of this test, so that it can count and be killed.
"""

from __future__ import annotations

import functools
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.asked import lines_of
from tests.records import response
from tests.selected import selection_in

from punchline import prepare
from punchline import requests as ask
from punchline.artifacts.passes import ALL
from punchline.artifacts.project import Project
from punchline.config.selection import Selection
from punchline.core.engine import Engine
from punchline.core.storage import digests_in, intact, read_table, write_table
from punchline.errors import PunchlineError
from punchline.fetch import commands
from punchline.files import write_bytes
from punchline.jobs import run_job
from punchline.respond import respond
from punchline.schema import ModelCard, Request, Response, State
from punchline.scores import read_scores
from punchline.workflow.processes import AGAIN
from punchline.workflow.provenance import Status

LIMITS = {"default": 2, "b": 3}  # comics of each run
STATES: tuple[State, ...] = ("ok", "ok", "ok", "failed", "refused")
RUNS = st.sampled_from(sorted(LIMITS))
SHARDS = st.integers(1, 3)


class Killed(Exception):
    """The process is killed while it asks."""


class Asked(Engine):
    """An engine: each answer is another one. Asking what a file holds already is an error."""

    name, version, needs_images = "openai", "1", False

    def __init__(self, world: World, who: str) -> None:
        super().__init__(ModelCard(name=who, engine="openai"))
        self.world, self.who = world, who

    def identity(self) -> dict[str, Any]:
        return {"who": self.who, "temperature": self.world.temperature}

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        held = {(one.request_id, one.model_key): one.state for one in self.world.held()}
        for request in requests:
            state = held.get((request.request_id, model_key))
            allowed = (None, "failed") if self.world.retrying else (None,)
            assert state in allowed, f"{self.who} is asked though a file holds its answer ({state})"
            if self.world.patience == 0:
                raise Killed
            self.world.patience -= 1
            number = next(self.world.numbers)
            state = STATES[number * 7919 % len(STATES)]
            text = None if state == "failed" else f"[[{number % 5 + 1}]] answer {number}"
            about = {"model_key": model_key, "engine": self.name, "engine_version": self.version}
            yield response(request, text, state, reason=f"because {number}", **about)


@functools.cache  # no operation changes config/
def chosen(limit: int) -> Selection:
    """The selection of the working folder with this limit."""
    of_run: dict[str, Any] = {"benchmarks": ["yesbut"], "conditions": ["oracle", "chained"], "scorers": None}
    return selection_in(Path(), **of_run, models=["random"], limit=limit)


class World:
    """A project's folder, and what its respondents are like."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.numbers, self.copies = folder, count(), count()
        self.temperature, self.patience, self.retrying = 0, -1, False
        self.kept: dict[Path, bytes] = {}

    def project(self, run: str, shards: int = 1) -> Project:
        selection = chosen(LIMITS[run])
        project = Project(msgspec.structs.replace(selection, models=["m"], judge="j", run=run), shards)
        for folder, name, cards, engines in (("model", "m", "cards", "engines"), ("judge", "j", "judges", "judging")):
            card = ModelCard(name=name, engine="openai", folder=f"config/{folder}")
            project.__dict__ |= {cards: {name: card}, engines: {name: Asked(self, name)}}
        return project

    def responses(self, ending: str) -> list[Path]:
        return sorted(path for path in Path("data").rglob(f"*.{ending}") if "responses" in path.parts)

    def files(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for kind in ("parquet", "jsonl") for path in self.responses(kind)}

    def held(self) -> list[Response]:
        """Every intact answer of any journal or index."""
        rows = [row for path in self.responses("parquet") for row in intact(path, Response)]
        return rows + [line for path in self.responses("jsonl") for line in lines_of(path)]

    def paid(self) -> set[str]:
        return {one.digest for one in self.held() if one.state != "failed"}

    def run(self, run: str, shards: int, patience: int = -1, *, retry: bool = False) -> None:
        """What Snakemake starts for the scores of a run; ends early when the engine's patience does."""
        before, self.patience, self.retrying = self.paid(), patience, retry
        os.environ[AGAIN] = "respond" if retry else ""
        try:
            try:
                self._build(run, shards)
            except PunchlineError as error:  # as it says: delete the damaged line, or run again
                assert ".jsonl, line " in str(error) or "lost after its shards were done" in str(error), error
                self.mend()
                self._build(run, shards)
        except Killed:
            return
        finally:
            os.environ[AGAIN] = ""
            self.retrying, self.patience = False, -1
            assert before <= self.paid(), "a paid answer is in no file any more"
        self.check(run)

    def _build(self, run: str, shards: int) -> None:
        project = self.project(run, shards)
        for respondent in ("m", "judge/j"):
            if any(map(Status(), project.built_by("respond", respondent, ALL))):
                for shard in project.shards(respondent):
                    respond(project, respondent, shard)
                respond(project, respondent, ALL)
        run_job(project, "score", "yesbut", "m")

    def check(self, run: str) -> None:
        """A completed run is current; another run of it asks nobody and rewrites nothing."""
        project = self.project(run)
        indexes = [step for who in ("m", "judge/j") for step in project.built_by("respond", who, ALL)]
        assert not any(map(Status(), [*indexes, project.score("yesbut", "m")]))
        own = {digest for step in indexes for digest in digests_in(step.outputs[0])}
        scored = {digest for one in read_scores(project.score("yesbut", "m").outputs[0]) for digest in one.responses}
        assert scored and scored <= own, "the scores are not those of the indexes"
        files = self.files()
        self.patience = 0  # whoever is asked is killed
        for shards in (1, 2):
            self._build(run, shards)
        self.patience = -1
        assert files == self.files()

    # What may happen between runs

    def mend(self) -> None:
        """Delete damaged lines, as the message says."""
        for path in self.responses("jsonl"):
            intact_lines = {one.digest.encode() for one in lines_of(path)}
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(line for line in lines if line.rstrip(b'"}\n')[-64:] in intact_lines))

    def lose(self, kind: str, draw: random.Random) -> None:
        if files := self.responses(kind):
            draw.choice(files).unlink()

    def truncate(self, kind: str, draw: random.Random) -> None:
        """A torn tail, or one that lacks its newline only."""
        if files := [path for path in self.responses("jsonl") if path.stat().st_size > 600]:
            path = draw.choice(files)
            path.write_bytes(path.read_bytes()[: -draw.choice([1, 1, 2, 40, 500])])

    def flip(self, kind: str, draw: random.Random) -> None:
        if files := [path for path in self.responses(kind) if path.stat().st_size]:
            path = draw.choice(files)
            content = bytearray(path.read_bytes())
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            path.write_bytes(content)

    def lose_scores(self, kind: str, draw: random.Random) -> None:
        shutil.rmtree("results", ignore_errors=True)

    def edit(self, kind: str, draw: random.Random) -> None:
        """A word of a prompt, there and back."""
        path = Path("data/requests/yesbut.parquet")
        old, new = (b"the image", b"the drawing") if draw.random() < 0.5 else (b"the drawing", b"the image")
        edited = msgspec.json.encode(read_table(path, Request)).replace(old, new)
        write_table(path, msgspec.json.decode(edited, type=list[Request]), Request)

    def heat(self, kind: str, draw: random.Random) -> None:
        """Another temperature on the cards."""
        self.temperature = draw.randrange(2)

    def copy(self, kind: str, draw: random.Random) -> None:
        """The folder is copied, and work goes on in the copy."""
        os.chdir(shutil.copytree(Path.cwd(), self.folder / f"copy {next(self.copies)}"))

    def keep(self, kind: str, draw: random.Random) -> None:
        """Older indexes come back with their records, as from a backup."""
        for path, content in self.kept.items():
            write_bytes(path, content)
        files = [path for path in Path("data").rglob("*.parquet*") if "responses" in path.parts]
        self.kept = {} if self.kept else {path: path.read_bytes() for path in files}


BETWEEN = ("lose", "truncate", "flip", "lose_scores", "edit", "heat", "copy", "keep")
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), RUNS, SHARDS, st.just(-1)),
        st.tuples(st.just("kill"), RUNS, SHARDS, st.integers(0, 60)),
        st.tuples(st.just("retry"), RUNS, SHARDS, st.just(-1)),
        st.tuples(st.sampled_from(BETWEEN), st.sampled_from(["jsonl", "parquet"]), st.just(0), st.integers(0, 10**6)),
    ),
    min_size=2,
    max_size=10,
)


@pytest.fixture(scope="module")
def prepared(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Items, gold and requests of both runs."""
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("config", "data/demo", "data/manifests"):
        shutil.copytree(root / name, folder / name)
    with chdir(folder):
        for run in LIMITS:
            project = World(folder).project(run)
            commands.write_annotations(project, "yesbut")
            prepare.write_selected(project, "yesbut")
            commands.write_images(project, "yesbut")
            for write in (prepare.write_items, prepare.write_gold, ask.write_requests):
                write(project, "yesbut")
    return folder


@settings(
    max_examples=int(os.environ.get("PUNCHLINE_SEQUENCES", "12")),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(OPERATIONS)
def test_nobody_is_asked_twice_and_nothing_is_lost(prepared: Path, tmp_path: Path, operations: list[Any]) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    shutil.copytree(prepared, folder / "p")
    world = World(folder)
    with chdir(folder / "p"):
        for what, which, shards, number in operations:
            if what in BETWEEN:
                getattr(world, what)(which, random.Random(number))
            else:
                world.run(which, shards, number, retry=what == "retry")
        for run in LIMITS:
            world.run(run, 1)
