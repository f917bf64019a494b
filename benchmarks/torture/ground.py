"""The small project that is tortured: made and run once, then copied; and what a copy must come to in the end."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from tests import asked
from tests.e2e.project import Project
from tests.selected import selection_json
from tests.servers.runs import Served

from punchline.artifacts.project import Project as Artifacts
from punchline.config.runs import selection_of
from punchline.core.storage import read_table
from punchline.errors import PunchlineError
from punchline.paths import DEFAULT_RUN
from punchline.schema import Response
from punchline.workflow.processes import SELECTION

CHOSEN: dict[str, object] = {
    "benchmarks": ["humorbench", "pixelhumor"],
    "models": ["random", "first", "second", "served", "other"],
    "judge": "served",
    "limit": 4,
}
SERVED = ("served", "other")
SAYS = ["Yes. <judgement>PASS</judgement>", "No. <judgement>FAIL</judgement>", "1, 2", "2, 1", "B", "A", "Pun", "Text"]
TABLES = ("results/table8.csv", "results/humorbench/leaderboard.csv")
LABELS = "data/raw/demo/pixelhumor/objective_label.csv"
JOB = re.compile(r"(\w+):\n.*?^    output: (.*?)$.*?^Shell command: (.*?) 2>&1 ", re.MULTILINE | re.DOTALL)


@dataclass
class Row:
    """What was done how often, what was checked, and what failed."""

    kind: str
    done: str
    checked: str
    seed: int
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"| {self.kind} | {self.done} | {self.checked} | {len(self.failures)} | {self.seed} | {self.seconds:,.0f} |"
        )


@dataclass(frozen=True)
class Stage:
    """One job of Snakemake, as it runs it."""

    rule: str
    command: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.command[1:])

    @property
    def asks(self) -> bool:
        """Whether it asks the server."""
        return self.rule == "respond" and bool({*SERVED, *(f"judge/{name}" for name in SERVED)} & {*self.command})


class Ground:
    """The project in `work`, run once to its end (or found there); its server; copies.

    `targets`: what is made once; `tables`: those of them that are audited, and made from nothing where a whole run is.
    """

    def __init__(
        self,
        work: Path,
        chosen: dict[str, object] = CHOSEN,
        targets: tuple[str, ...] = ("all", "report"),
        tables: tuple[str, ...] = TABLES,
    ) -> None:
        self.work, self.targets, self.tables = work, targets, tables
        self.config = " ".join(f"{key}={_word(value)}" for key, value in chosen.items())
        work.mkdir(parents=True, exist_ok=True)
        self.log, left = work / "asked.log", work / "ground.json"
        before = json.loads(left.read_bytes()) if left.is_file() else {}
        self.server = Served(before.get("port", 0), self.log)  # cards name the port
        self._script()
        self.whole = Project(work / "whole")
        if not before:
            Project.copy(self.whole.path)
            self._declare()
            self.whole.snakemake(*targets, config=self.config)
            before = {"port": self.server.port, "asked": self.asked(), "jobs": self._jobs()}
            left.write_text(json.dumps(before))
        self.times_asked = Counter(before["asked"])
        self.stages = [Stage(rule, tuple(command), tuple(outputs)) for rule, command, outputs in before["jobs"]]
        self.digests = digests(self.whole.path)
        self.selection = selection_json(self.whole.path, **chosen)
        self._numbers = itertools.count()

    def _script(self) -> None:
        self.server.script(latency=0.08, say=SAYS)

    def _declare(self) -> None:
        """Two models that a server answers, one a judge too; two whose answers were released: all right, all wrong."""
        path = self.whole.path
        for name in SERVED:
            card = (
                f"engine: openai\nid: {name}\nbase_url: {self.server.url}/v1\nmodality: [text, image]\nconcurrency: 4\n"
            )
            card += "backoff: {first: 0.01, most: 0.1}\n"
            for folder in ("model", "judge"):
                (path / "config" / folder / f"{name}.yaml").write_text(card)
        self.whole.snakemake(
            "data/raw/demo/pixelhumor/annotations.made.json", config="benchmarks=[pixelhumor] models=[random]"
        )
        self.whole.replay_labels()

    def _jobs(self) -> list[tuple[str, list[str], list[str]]]:
        """(rule, command, outputs) of every job of the run, as a dry run says it."""
        rules = {path: path.read_text() for path in (self.whole.path / "rules").glob("*.smk")}
        for path, text in rules.items():  # of a rule without a message Snakemake prints the files
            path.write_text(re.sub(r" +message:\n.*\n", "", text))
        output = self.whole.snakemake("-n", "-p", "--forceall", *self.targets, config=self.config)
        for path, text in rules.items():
            path.write_text(text)
        result = []
        for job in re.split(r"^(?:local)?rule ", output, flags=re.MULTILINE)[1:]:
            if parts := JOB.match(job):
                rule, built, command = parts.groups()
                result.append((rule, command.split(), [name.removesuffix(" (update)") for name in built.split(", ")]))
        return result

    @contextlib.contextmanager
    def copied(self, into: Path | None = None) -> Iterator[Project]:
        """A copy of the whole, gone in the end."""
        path = into or self.work / f"copy-{next(self._numbers)}"
        shutil.copytree(self.whole.path, path, symlinks=True, dirs_exist_ok=True)
        try:
            yield Project(path)
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def start(self, folder: Project, command: tuple[str, ...], **more: str) -> subprocess.Popen[str]:
        """Start a command as Snakemake does, in a process group of its own."""
        environment = folder.environment | {SELECTION: self.selection, **more}
        return subprocess.Popen(
            [sys.executable, *command[1:]] if command[0] == "python" else command,
            cwd=folder.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish(self, folder: Project, command: tuple[str, ...], **more: str) -> tuple[int, str]:
        """Run a command to its end: (status, all it said)."""
        child = self.start(folder, command, **more)
        output, _ = child.communicate(timeout=500)
        return child.returncode, output

    def whole_run(self) -> tuple[str, ...]:
        return ("python", "-m", "snakemake", "--cores", "2", *self.tables, "--config", *self.config.split())

    def restart_server(self) -> None:
        """kill -9, and another one on the same port."""
        self.server.kill()
        self.server = Served(self.server.port, self.log)
        self._script()

    def asked(self) -> Counter[str]:
        """How often the server was asked what, since it was there."""
        return Counter(self.log.read_text().split())

    def close(self) -> None:
        self.server.kill()


def _word(value: object) -> str:
    """A value as --config takes it."""
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def unmake(folder: Project, stage: Stage, *, delete: bool) -> None:
    """Remove the provenance files of a job's artifacts, with `delete` their outputs too."""
    _, _, rule, *names = stage.command[: stage.command.index("--threads")]
    with contextlib.chdir(folder.path):
        for artifact in Artifacts(selection_of(DEFAULT_RUN)).built_by(rule, *names):
            for path in (artifact.record, *(artifact.outputs if delete else ())):
                Path(path).unlink(missing_ok=True)


def digests(folder: Path) -> dict[str, str]:
    """{file: digest of its content} of all that a run makes. What a server took, and when, is left out of answers."""
    result = {}
    for top in ("data", "results"):
        for path in sorted((folder / top).rglob("*")):
            if path.is_file() and not path.name.endswith(".part"):
                result[path.relative_to(folder).as_posix()] = _digest(path)
    return result


def _digest(path: Path) -> str:
    if "responses" in path.parts and path.suffix in (".jsonl", ".parquet"):
        try:
            answers = answers_in(path)
        except (PunchlineError, OSError, ValueError) as error:
            return f"cannot be read: {error}"
        return hashlib.sha256(b"\n".join(sorted(msgspec.json.encode(plain(one)) for one in answers))).hexdigest()
    content = path.read_bytes()
    if path.name.endswith(".lineage.json"):  # it notes when it was made, and hashes that too
        return str(json.loads(content)["root"])
    if path.name.endswith(".made.json"):
        result = json.loads(content)
        result["outputs"] = {name: one for name, one in result["outputs"].items() if not name.endswith(".lineage.json")}
        content = json.dumps(result, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def answers_in(path: Path) -> list[Response]:
    """Answers of a journal or a snapshot."""
    if path.suffix == ".parquet":
        return read_table(path, Response)
    if not path.read_bytes().endswith(b"\n"):
        raise ValueError("its last line is torn")
    return list(asked.answers_in(path).values())


def plain(answer: Response) -> Response:
    return msgspec.structs.replace(answer, latency_s=None)


def hangs_on_server(name: str) -> bool:
    """Whether digests in a file are of answers that a server gave: how long it took is in them."""
    hung = any(word in name for word in SERVED) or name.endswith((".lineage.json", ".made.json"))
    return hung or name.startswith(("results/report", "results/cost"))


def fair(name: str) -> bool:
    """Whether a file is the same whenever the same is answered; digests of indexes are not: they hold latencies."""
    answers = "responses" in name and "/respondents/" not in name and not name.endswith(".made.json")
    return answers or not hangs_on_server(name)


def differences(ground: Ground, folder: Path, ignored: Callable[[str], bool] = lambda name: False) -> list[str]:
    """Files that are others than those of the undisturbed run; a file that is not there is none."""
    result = digests(folder)
    return [name for name, digest in result.items() if not ignored(name) and ground.digests.get(name) != digest]


def lacking(ground: Ground, folder: Path) -> list[str]:
    """Files of the undisturbed run that are not there."""
    return [name for name in ground.digests if not (folder / name).is_file()]


def killed(child: subprocess.Popen[str]) -> bool:
    """kill -9 of a whole process group; False when it had ended."""
    alive = child.poll() is None
    if alive:
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    return alive


def wait(child: subprocess.Popen[str], seconds: float, moment: Callable[[], bool] = lambda: False) -> None:
    """Until a moment, for so many seconds at most, or until the child's end."""
    end = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < end and not moment():
        time.sleep(0.0005)
