"""What one more model costs the tables: a 51st beside 50, against tabulating it alone; and an audit of table 8.

    .venv/bin/python benchmarks/tables.py [--models 50] [--comics 700] [--keep FOLDER]

PixelHumor's 17 tables and discrepancies, made-up comics, replayed answers. Measured are the CPU seconds
of the jobs that tabulate (cells, table, discrepancies, metrics), each in a process of its own, in the same call.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from scale import MB, Measured, measure  # noqa: E402
from synthetic import write_answers, write_corpus  # noqa: E402
from tests.e2e.project import Project  # noqa: E402

TABULATES = ("cells", "table", "discrepancies", "metrics")
LAST = "last"


def prepared(folder: Path, comics: int, models: Sequence[str]) -> tuple[Project, Path]:
    """(a project with a corpus and cards of replayed models, its mirror)."""
    project, mirror = Project.copy(folder / "project"), folder / "mirror"
    write_corpus(mirror / "pixelhumor", comics, project.path / "data/manifests/pixelhumor/annotations.csv")
    (project.path / "data/replay").mkdir(exist_ok=True)
    for number, model in enumerate(models):
        answers = f"data/replay/{number % 5}.json"
        if not (project.path / answers).is_file():
            write_answers(project.path / answers, comics, (number % 5 + 1) / 10)
        card = f"engine: replay\nformat: pixelhumor\npath: {answers}\n"
        (project.path / f"config/model/{model}.yaml").write_text(card, encoding="utf-8")
    return project, mirror


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--comics", type=int, default=700)
    parser.add_argument("--keep", type=Path, help="an empty folder to work in and leave as it is")
    args = parser.parse_args()
    base = args.keep or Path(tempfile.mkdtemp(prefix="punchline-tables-"))
    names = [f"model{number:02}" for number in range(args.models)]
    try:
        project, mirror = prepared(base, args.comics, [*names, LAST])
        environment = project.environment
        environment |= {"PYTHONPYCACHEPREFIX": str(base / "bytecode"), "OPENBLAS_NUM_THREADS": "1"}

        def run(target: str, models: Sequence[str], *more: str) -> Measured:
            chosen = ["corpus=full", f"mirror={mirror}", f"models=[{','.join(models)}]", *more]
            command = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count() or 1), target, "--config"]
            return measure([[*command, *chosen]], cwd=project.path, env=environment, logs=[base / "log"])

        run("all_tables", [LAST], "run=warm", "limit=7")
        alone = run("all_tables", [LAST], "run=alone")
        many = run("all_tables", names)
        one_more = run("all_tables", [*names, LAST])
        audit = [sys.executable, "-m", "punchline.cli", "audit", "results/table8.csv"]
        audited = measure([audit], cwd=project.path, env=environment, logs=[base / "log"])
    finally:
        if not args.keep:
            shutil.rmtree(base)
    print(f"\n{args.comics:,} comics\n\n| tabulating | CPU s | of it cells | peak MB of a job | against alone |")
    print("| --- | ---: | ---: | ---: | ---: |")
    own = sum(alone.stages[stage][1] for stage in TABULATES)
    made = {"one model alone": alone, f"{args.models} models": many, "one more beside them": one_more}
    for what, of in made.items():
        cpu = sum(of.stages[stage][1] for stage in TABULATES)
        peak = max(of.stages[stage][2] for stage in TABULATES) / MB
        print(f"| {what} | {cpu:.1f} | {of.stages['cells'][1]:.1f} | {peak:,.0f} | {cpu / own:.1f} |")
    print(
        f"\n`punchline audit table8` over {args.models + 1} models: {audited.wall:.0f} s"
        f" ({audited.wall / (args.models + 1):.1f} a model), {audited.largest / MB:,.0f} MB."
    )


if __name__ == "__main__":
    main()
