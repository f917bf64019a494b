"""kill -9 at random moments of every stage, of whole runs and of the server: nothing lost, asked twice, or torn."""

from __future__ import annotations

import io
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.torture.ground import Ground, Row, Stage, differences, fair, killed, lacking, unmake, wait
from tests.e2e.project import Project

from punchline.journal import read_lines
from punchline.schema import Response

FULL = 500
IN_A_ROW = 3  # at most, before a run is let go on to its end
WHOLE_S = 60.0  # of a whole run, the part in which it is killed
MADE = ("results", "data/responses", "data/requests", "data/items", "data/images", "data/raw")


class Victim:
    """A copy in which one command is killed until it is let go on, and what was wrong then."""

    def __init__(self, ground: Ground, folder: Project, command: tuple[str, ...], rng: random.Random) -> None:
        self.ground, self.folder, self.command, self.rng = ground, folder, command, rng
        self.strict = True  # the server is not asked: every byte must be as it was
        self.wrong: list[str] = []
        self.kept: dict[Path, bytes] = {}  # journals as the last kill left them
        self.answers = self.again = 0
        self.asked = ground.asked()

    def kill(self, seconds: float, writing: list[Path], victim: str) -> bool:
        """kill -9 of all processes, of Snakemake alone, or of the server. False where the run ended before."""
        child = self.ground.start(self.folder, self.command)
        moment: Callable[[], bool] = lambda: False  # noqa: E731
        if writing and self.rng.random() < 0.5:
            moment = lambda: any(any(folder.glob(".*.part")) for folder in writing)  # noqa: E731
        wait(child, self.rng.uniform(0, seconds), moment)
        alive = child.poll() is None
        if victim == "server":
            self.ground.restart_server()
            child.communicate()  # it may give up: the next run goes on
        elif victim == "snakemake" and alive:
            os.kill(child.pid, signal.SIGKILL)
            child.communicate()  # its jobs, which hold its output, end by themselves
        else:
            killed(child)
        self.look(broken=victim == "server")
        self.wrong += [f"torn: {name}" for name in differences(self.ground, self.folder.path, self._unfinished)]
        return alive

    def finish(self) -> None:
        """Let it go on: all is there, and as in the undisturbed run."""
        status, output = self.ground.finish(self.folder, self.command)
        self.look()
        if status:
            self.wrong.append(f"status {status} after kills: {output[-300:]}")
        others = differences(self.ground, self.folder.path, self._unequal)
        self.wrong += [f"differs: {name}" for name in others]
        # A run to some tables makes those only.
        result = [name for name in lacking(self.ground, self.folder.path) if self.strict or name in self.ground.tables]
        self.wrong += [f"lost: {name} was not made again" for name in result]

    def look(self, *, broken: bool = False) -> None:
        """No answer that was journalled has gone, and none of those was asked for again. `broken`: the server died, so
        that calls in flight, which it had noted, may have come to the next one."""
        time.sleep(0.05)  # calls that the killed one had sent off
        requests = self.ground.asked()
        held = Counter[str]()
        for path, before in self.kept.items():
            whole = before[: before.rfind(b"\n") + 1]
            self.answers += whole.count(b"\n")
            held.update(_calls(whole, path))
            if not path.is_file() or not path.read_bytes().startswith(whole):
                self.wrong.append(f"lost: answers in {path.name}")
        for call, times in (requests - self.asked).items():
            allowed = (self.ground.times_asked[call] - held[call]) * (1 + broken)
            if times > allowed:
                self.wrong.append(f"twice: {call[:12]} asked {times} times, {allowed} were not journalled")
        self.again += (requests - self.asked).total()
        self.asked = requests
        paths = (self.folder.path / "data/responses").rglob("*.jsonl")
        self.kept = {path: path.read_bytes() for path in paths if _by_server(path)}

    def _unequal(self, name: str) -> bool:
        return not self.strict and not fair(name)

    def _unfinished(self, name: str) -> bool:
        return self._unequal(name) or (name.startswith("data/responses") and name.endswith(".jsonl"))


def _by_server(path: Path) -> bool:
    return path.stem in ("served", "other")


def _calls(content: bytes, file: Path) -> list[str]:
    """What the server was asked for these answers."""
    answers = [found for *_, found in read_lines(io.BytesIO(content), file=file) if isinstance(found, Response)]
    return [(answer.provider_id or "").removeprefix("call-") for answer in answers]


def _stage(ground: Ground, stage: Stage, rng: random.Random, took: dict[Stage, float]) -> tuple[int, int, Victim]:
    """One stage, killed up to three times, then run to its end: (kills, of them of the server, what was seen)."""
    with ground.copied() as folder:
        victim = Victim(ground, folder, stage.command, rng)
        victim.strict = not stage.asks
        unmake(folder, stage, delete=rng.random() < 0.5)
        own = {(folder.path / name).parent for name in stage.outputs}
        for path in [path for one in own for path in one.glob("*.jsonl") if stage.asks and _by_server(path)]:
            path.unlink()
        kills = of_server = 0
        for _ in range(rng.randint(1, IN_A_ROW)):
            whom = "server" if stage.asks and rng.random() < 0.4 else "all"
            alive = victim.kill(took.get(stage, 3.0), sorted(own), whom)
            kills, of_server = kills + alive, of_server + (alive and whom == "server")
        began = time.monotonic()
        victim.finish()
        took[stage] = time.monotonic() - began
        return kills, of_server, victim


def _whole(ground: Ground, rng: random.Random) -> tuple[int, int, Victim]:
    """A run from nothing to the tables, killed up to three times."""
    with ground.copied() as folder:
        for name in MADE:
            shutil.rmtree(folder.path / name, ignore_errors=True)
        victim = Victim(ground, folder, ground.whole_run(), rng)
        victim.strict = False
        kills = of_server = 0
        for _ in range(rng.randint(1, IN_A_ROW)):
            whom = rng.choice(("all", "snakemake", "server"))
            alive = victim.kill(rng.uniform(0, WHOLE_S), [], whom)
            kills, of_server = kills + alive, of_server + (alive and whom == "server")
        victim.finish()
        return kills, of_server, victim


def run(ground: Ground, n: int, seed: int, *, whole: float = 0.04) -> Row:
    """`n` kills; `whole`: the share of trials that are whole runs."""
    rng = random.Random(seed)
    took: dict[Stage, float] = {}
    by_rule: dict[str, list[Stage]] = {}
    for stage in ground.stages:
        by_rule.setdefault(stage.rule, []).append(stage)
    rules = sorted(by_rule)
    kills, servers, answers, wholes, turn, hit = 0, 0, 0, 0, 0, set[str]()
    row = Row("kill -9", "", "", seed)
    while kills < n:
        if rng.random() < whole:
            what, (more, of_server, seen) = "whole run", _whole(ground, rng)
            wholes += more
        else:
            stage = rng.choice(by_rule[rules[turn % len(rules)]])
            what, (more, of_server, seen) = str(stage), _stage(ground, stage, rng, took)
            turn += 1
            hit |= {stage.rule} if more else set()
        kills, servers, answers = kills + more, servers + of_server, answers + seen.answers
        row.failures += [f"{what}: {wrong}" for wrong in seen.wrong]
    counts = Counter(failure.split(": ")[1] for failure in row.failures)
    row.done = f"{kills} kills of {len(hit)} of {len(rules)} stages; {wholes} of whole runs, {servers} of the server"
    row.checked = (
        f"answers lost {counts['lost']} of {answers}, asked again though journalled {counts['twice']}, "
        f"torn files {counts['torn']}, other results {counts['differs']}"
    )
    return row
