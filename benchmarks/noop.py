"""What it costs to find that there is nothing to do, on the demo corpus.

    .venv/bin/python benchmarks/noop.py [--rounds 3]

A copy of the project is run once with `snakemake` and once with `dvc repro`. Then, round by round, so that a busy
machine slows all alike: the floor, which is starting Python and importing Snakemake; `snakemake -n`; `snakemake`; and
`dvc repro` (its floor: importing DVC). Each is the best of the rounds, as a ratio to the first floor. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.project import Project  # noqa: E402

MODELS = "models: [random, label-order, reading-order]"  # no OCR: nothing to do costs the same
PYTHON = [sys.executable]
COMMANDS = {
    "floor: python -c 'import snakemake.cli'": [*PYTHON, "-c", "import snakemake.cli"],
    "floor: python -c 'import dvc.cli, dvc.repo'": [*PYTHON, "-c", "import dvc.cli, dvc.repo"],
    "snakemake -n": [*PYTHON, "-m", "snakemake", "--cores", "2", "-n"],
    "snakemake": [*PYTHON, "-m", "snakemake", "--cores", "2"],
    "dvc repro": [*PYTHON, "-m", "dvc", "repro"],
    "dvc status": [*PYTHON, "-m", "dvc", "status"],
}
NOTHING = {"snakemake -n": "Nothing to be done", "snakemake": "Nothing to be done", "dvc repro": "up to date"}


def prepared(folder: Path) -> tuple[Project, dict[str, str]]:
    """A copy of the project in which everything is built, and the environment to run it in."""
    project = Project.copy(folder / "project")
    run = project.path / "config" / "run.yaml"
    run.write_text(re.sub(r"^models:.*$", MODELS, run.read_text(), flags=re.MULTILINE))
    environment = project.environment
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    for command in (
        ["git", "init", "--quiet"],
        ["git", "add", "."],
        ["git", "commit", "--quiet", "-m", "all"],
        COMMANDS["snakemake"],
        COMMANDS["dvc repro"],
    ):
        said(command, project, environment)
    return project, environment


def said(command: list[str], project: Project, environment: dict[str, str]) -> str:
    """Run a command in the copy; what it said. Raises RuntimeError with that when it fails."""
    done = subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    wall = dict.fromkeys(COMMANDS, float("inf"))
    cpu = dict.fromkeys(COMMANDS, float("inf"))
    with tempfile.TemporaryDirectory(prefix="punchline-noop-") as folder:
        project, environment = prepared(Path(folder))
        for turn in range(args.rounds + 1):  # the first compiles what bytecode is not there yet
            for name, command in COMMANDS.items():
                before, start = os.times(), time.monotonic()
                text = said(command, project, environment)
                seconds, after = time.monotonic() - start, os.times()
                if NOTHING.get(name, "") not in text:
                    raise RuntimeError(f"{name} found something to do:\n{text}")
                if turn:
                    used = after.children_user + after.children_system - before.children_user - before.children_system
                    wall[name], cpu[name] = min(wall[name], seconds), min(cpu[name], used)
    floor = next(iter(COMMANDS))
    print("| command | s | CPU s | ratio of s | ratio of CPU s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in COMMANDS:
        ratios = f"{wall[name] / wall[floor]:.1f} | {cpu[name] / cpu[floor]:.1f}"
        print(f"| `{name}` | {wall[name]:.2f} | {cpu[name]:.2f} | {ratios} |".replace("`floor: ", "floor: `"))


if __name__ == "__main__":
    main()
