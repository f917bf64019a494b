"""A copy of the project to run the real Snakefile in."""

from __future__ import annotations

import atexit
import compileall
import csv
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.forked import run_module
from tests.ran import ran

from punchline.workflow import digests

ROOT = Path(__file__).resolve().parent.parent.parent

FAST = "models=[random,reading-order]"  # no OCR: the rest of the demo takes seconds


JOBS = {  # the message of a job: its rule and wildcards
    r"released files of (\S+)": r"fetch \1",
    r"items, gold and requests of (\S+)": r"prepare \1",
    r"answers of (\S+)": r"respond \1 all",
    r"answers of (\S+), shard (\S+)": r"respond \1 \2",
    r"scores of (\S+) on (\S+)": r"score \2 \1",
    r"tables of (\S+)": r"tables \1",
    r"overview": "overview",
    r"figure of table (\S+)": r"figure \1",
    r"report pages: .*": "report",
    r"adapter (\S+)": r"train \1",
}


def jobs(output: str) -> list[str]:
    """Jobs that Snakemake prints: rule and wildcards."""
    messages = re.findall(r"^Job \d+: (report pages: \S+|.*?): ", output, re.MULTILINE)
    names = [(re.fullmatch(pattern, text), job) for text in messages for pattern, job in JOBS.items()]
    assert sum(match is not None for match, _ in names) == len(messages), messages
    return [match.expand(job) for match, job in names if match is not None]


@functools.cache
def _original() -> Project:
    """The project but tests/ in a folder of its own, to copy. Digests are kept of files that are 2 seconds old."""
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path)
    listed = ran("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, path / name)
    compileall.compile_dir(path / "src", quiet=1, stripdir=path)
    time.sleep(2.1)
    Project(path).run("python", "-c", "from punchline.workflow import code; code.digest(*code._files())")
    return Project(path)


class Project:
    """A working copy at `path`; runs use its own src/ and scripts/."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def copy(cls, path: Path) -> Project:
        """All but tests/ that git tracks or would track, with the bytecode and the digests of src/, as for people."""
        return _original().copied(path)

    def copied(self, path: Path) -> Project:
        """A copy of all that is there, times kept. Digests that are known of files are known of their copies."""
        shutil.copytree(self.path, path, dirs_exist_ok=True, symlinks=True)
        cache, kept = path / ".punchline/digests.json", {}
        for name, (state, value) in json.loads(cache.read_bytes()).items() if cache.exists() else ():
            kind, file = name.split(":", 1)
            own = path / (self.path / file).relative_to(self.path)
            if own.exists() and state == digests.state(self.path / file):
                kept[f"{kind}:{file if not Path(file).is_absolute() else own}"] = (digests.state(own), value)
        if kept:
            cache.write_text(json.dumps(kept))
        return Project(path)

    @property
    def environment(self) -> dict[str, str]:
        here = str(Path(sys.executable).parent)
        left = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return left | {  # bytecode is kept, as where people work: a run is many starts of Python
            "PYTHONPATH": str(self.path / "src"),
            "PATH": os.pathsep.join([here, os.environ["PATH"]]),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{who}_NAME": "t" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "t@example.org" for who in ("AUTHOR", "COMMITTER")},
        }

    def ran(self, *command: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """A command that was run in the copy, however it ended."""
        words = [str(word) for word in command]
        if words[0] in ("python", sys.executable) and words[1:2] == ["-m"] and options.keys() <= {"cwd"}:
            return run_module(words[2:], options.get("cwd", self.path), self.environment)
        return ran(*command, **{"cwd": self.path, "env": self.environment, "stdin": subprocess.DEVNULL, **options})

    def run(self, *command: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command in the copy; its failing, or not failing, is an error that shows what it said."""
        done = self.ran(*command)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def snakemake(self, *arguments: str, config: str = "", fails: bool = False) -> str:
        """Run Snakemake; returns its output. Tables are named as in the default run, whatever the run."""
        chosen = ["--config", *config.split()] if config else []
        if run := re.search(r"\brun=(\w+)", config):
            arguments = tuple(re.sub("^results/(?!runs/)", f"results/runs/{run[1]}/", text) for text in arguments)
        done = self.run(sys.executable, "-m", "snakemake", "--cores", "2", *arguments, *chosen, fails=fails)
        return done.stdout + done.stderr

    def wanted(self, *targets: str, config: str = "") -> set[str]:
        """Jobs that `snakemake -n` wants, as `score hummus random`, `tables hummus`; mere targets left out."""
        return set(jobs(self.snakemake("-n", *targets, config=config)))

    def made(self, *targets: str, config: str = "") -> set[str]:
        """Names of the artifacts that a run builds: those with a new provenance file."""

        def version(path: Path) -> object:  # Snakemake touches the one that is a declared output
            return path.read_bytes() if path.name == "annotations.made.json" else path.stat().st_mtime_ns

        records = {path: version(path) for path in self.path.rglob("*.made.json")}
        self.snakemake(*targets, config=config)
        new = [path for path in self.path.rglob("*.made.json") if records.get(path) != version(path)]
        return {str(json.loads(path.read_bytes())["step"]) for path in new}

    def punchline(self, *arguments: str, fails: bool = False) -> str:
        done = self.run(sys.executable, "-m", "punchline.cli", *arguments, fails=fails)
        return done.stdout + done.stderr

    def execute(self, line: str, *more: str) -> str:
        """Output of a command line of the documents, on two cores."""
        program, *arguments = shlex.split(line.replace("--cores all", "--cores 2"))
        module = "punchline.cli" if program == "punchline" else program
        return self.run("python", "-m", module, *arguments, *more).stdout

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[str]:
        """The first line of a command of punchline that serves until it is killed."""
        command = [sys.executable, "-m", "punchline.cli", *arguments]
        server = subprocess.Popen(command, cwd=self.path, env=self.environment, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            yield server.stdout.readline()
        finally:
            server.kill()
            server.communicate()

    def dvc(self, *arguments: str) -> str:
        done = self.run(sys.executable, "-m", "dvc", *arguments)
        return done.stdout + done.stderr

    def edit(self, file: str, old: str, new: str) -> None:
        """Change the first place of a text in a file."""
        text = (self.path / file).read_text()
        assert old in text, f"{file} has no {old!r}"
        (self.path / file).write_text(text.replace(old, new, 1))

    def add_served(self, name: str, url: str, lines: str = "", folder: str = "model", id: str = "m") -> None:
        """A model, or a judge, of a server; lines to add to its card."""
        card = f"engine: openai\nid: {id}\nbase_url: {url}/v1\n{lines}"
        (self.path / f"config/{folder}/{name}.yaml").write_text(card)

    def add_replay(self, name: str, answers: dict[str, dict[str, str]]) -> None:
        """A model of released answers to PixelHumor: {item: {question: answer}}."""
        (self.path / "data/replay").mkdir(exist_ok=True)
        (self.path / f"data/replay/{name}.json").write_text(json.dumps(answers))
        card = f"engine: replay\nformat: pixelhumor\npath: data/replay/{name}.json\n"
        (self.path / f"config/model/{name}.yaml").write_text(card)

    def replay_labels(self) -> None:
        """Two models of released answers to the demo comics: `first` has all panels in order, `second` none."""
        labels = self.rows("data/raw/demo/pixelhumor/objective_label.csv")
        self.add_replay("first", {row["comic_id"]: {"panel_sequence": row["panel_sequence"]} for row in labels})
        self.add_replay("second", {row["comic_id"]: {"panel_sequence": "9, 8, 7"} for row in labels})

    def rewrite_raw(self, file: str, content: bytes) -> None:
        """Change a drawn file and what the record of drawing says of it, so that it counts as drawn so."""
        path = self.path / file
        path.write_bytes(content)
        folder = path.parent if path.parent.name != "images" else path.parent.parent
        record = folder / "annotations.made.json"
        result = json.loads(record.read_bytes())
        result["outputs"][file] = hashlib.sha256(content).hexdigest()
        record.write_text(json.dumps(result))

    def audit(self, table: str) -> dict[str, Any]:
        """The audit's JSON, whatever its verdict. No file of the project may change."""
        before = self.files()
        done = self.ran(sys.executable, "-m", "punchline.cli", "audit", table, "--json")
        assert self.files() == before
        result: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if result["verdict"] == "equal" else 1), done.stderr
        return result

    def files(self) -> dict[Path, tuple[int, int]]:
        """{file of data/, results/ or config/: its size and time}."""
        paths = (path for name in ("data", "results", "config") for path in (self.path / name).rglob("*"))
        return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in paths if path.is_file()}

    def rows(self, table: str, **values: str) -> list[dict[str, str]]:
        """Those of a CSV file with these values; of a table, those that it shows, not those of the other rule."""
        with (self.path / table).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        shown = [row for row in rows if row.get("kind") == "published" or row.get("scoring") == rows[0].get("scoring")]
        return [row for row in shown if values.items() <= row.items()]

    def journal_lines(self) -> int:
        """Answers that were ever journalled."""
        journals = (self.path / "data" / "responses").rglob("*.jsonl")
        return sum(journal.read_bytes().count(b"\n") for journal in journals)
