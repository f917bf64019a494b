"""What `snakemake -n` costs with all benchmarks and many models, nothing built yet and everything built.

    .venv/bin/python benchmarks/dryrun.py [--models 50] [--rounds 3] [--keep FOLDER]

The demo corpus and copies of the baseline `random`, each under a name of its own. Building takes minutes; seconds are
the best of the rounds, beside the floor, which is starting Python and importing Snakemake. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.project import Project  # noqa: E402

FLOOR = [sys.executable, "-c", "import snakemake.cli"]
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2"]


def seconds(command: list[str], project: Project, environment: Mapping[str, str], rounds: int) -> tuple[float, float]:
    """(seconds, CPU seconds) of the best round; the first one, which fills caches, does not count."""
    found = []
    for _ in range(rounds + 1):
        before, start = os.times(), time.monotonic()
        done = subprocess.run(
            command, cwd=project.path, env=dict(environment), capture_output=True, text=True, check=False
        )
        wall, after = time.monotonic() - start, os.times()
        if done.returncode != 0:
            raise RuntimeError(
                f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            )
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        found.append((wall, cpu))
    return min(wall for wall, _ in found[1:]), min(cpu for _, cpu in found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="an empty folder to work in and leave as it is")
    args = parser.parse_args()
    base = args.keep or Path(tempfile.mkdtemp(prefix="punchline-dryrun-"))
    try:
        project = Project.copy(base / "project")
        names = [f"random{number}" for number in range(1, args.models + 1)]
        for name in names:
            shutil.copy(project.path / "config/model/random.yaml", project.path / f"config/model/{name}.yaml")
        environment = project.environment
        environment["PYTHONPYCACHEPREFIX"] = str(base / "bytecode")
        chosen = ["--config", f"models=[{','.join(names)}]", "benchmarks=all", "judge=overlap", "scorers=null"]
        results = {"floor: import snakemake.cli": seconds(FLOOR, project, environment, args.rounds)}
        dry = [*SNAKEMAKE, "-n", "all", *chosen]
        results["snakemake -n, nothing built"] = seconds(dry, project, environment, args.rounds)
        print(results, file=sys.stderr)
        subprocess.run([*SNAKEMAKE, "all", *chosen], cwd=project.path, env=environment, check=True, capture_output=True)
        results["snakemake -n, everything built"] = seconds(dry, project, environment, args.rounds)
    finally:
        if not args.keep:
            shutil.rmtree(base)
    print(f"| {args.models} models, five benchmarks | s | CPU s |\n| --- | ---: | ---: |")
    for name, (wall, cpu) in results.items():
        print(f"| {name} | {wall:.1f} | {cpu:.1f} |")


if __name__ == "__main__":
    main()
