"""PixelHumor's released scripts beside the pipeline: the same answers, from answers to tables; do both print the same?

    .venv/bin/python benchmarks/released_scripts.py CODE [--comics 2800] [--rounds 3]

CODE: a folder with `evaluate_model_objective.py` and `evaluate_model_subjective.py` of the authors' repository
(Social-AI-Studio/PixelHumor, `code/`; no licence is stated, so none of it is here). They get made-up comics in the
released format (synthetic.py) and six models' answers under the names that stand in them, and are run as they are, but
for the second one's loops over questions 4 to 7, which end with a KeyError: they go over 1 to 5. The pipeline begins
with the same answers as snapshots, and makes tables 2, 3 and 8 of them: grades under both rules, intervals, lineage.
Rounds take turns; the best one counts. Then each number that the scripts print is looked up in those tables under rule
`released`; status 1 where one is another. Prints Markdown.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.scale import Measured, measure  # noqa: E402
from benchmarks.synthetic import answer, comics, write_corpus  # noqa: E402
from tests.e2e.project import Project  # noqa: E402

SCRIPTS = ("evaluate_model_objective.py", "evaluate_model_subjective.py")
MODELS = ("gpt-4o", "gemini-1.5-pro", "llava-ov", "qwen2-vl", "gemma3-27b", "qwen2-72b")  # that they name
TABLES = ("pixelhumor/table2.csv", "pixelhumor/table3.csv", "table8.csv")
SUBTASKS = ("humor_presence", "sound_effect", "panel_contribution", "modality")  # Q1 to Q4 in table 2


def prepare(folder: Path, code: Path, n: int) -> Project:
    """A project with the models' cards, and the folders that the scripts read."""
    project, mirror = Project.copy(folder / "project"), folder / "mirror"
    write_corpus(mirror / "pixelhumor", n, project.path / "data/manifests/pixelhumor/annotations.csv")
    (folder / "PixelHumor").symlink_to(mirror / "pixelhumor")
    for name in ("code", "model_response", "project/data/replay"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        (folder / "code" / name).write_text((code / name).read_text().replace("range(4,8)", "range(1,6)"))
    for number, model in enumerate(MODELS, start=1):
        share = number / 20
        rng = random.Random(str(share))
        answers = json.dumps({comic.comic_id: answer(comic, share, rng) for comic in comics(n)})
        for file in (f"model_response/{model}.json", f"model_response/{model}_objective.json"):
            (folder / file).write_text(answers)
        (project.path / f"data/replay/{model}.json").write_text(answers)
        card = f"engine: replay\nformat: pixelhumor\npath: data/replay/{model}.json\n"
        (project.path / f"config/model/{model}.yaml").write_text(card)
    return project


def printed(text: str) -> Iterator[list[str]]:
    """Rows of the tables that a script draws, heads left out."""
    for line in re.findall(r"^\|(.*)\|$", text, re.MULTILINE):
        cells = [cell.strip() for cell in line.split("|")]
        if "Model" not in cells:
            yield cells


def theirs(folder: Path) -> dict[tuple[str, str, str], str]:
    """{(model, subtask, metric): what the scripts print}."""
    found = {}
    objective, subjective = ((folder / name).with_suffix(".log").read_text() for name in SCRIPTS)
    for model, subtask, *values in printed(objective):
        names = ("panel_acc",) if subtask == "panel_sequence" else ("text_acc", "wer", "cer")
        found |= {(model, "sequence", name): value for name, value in zip(names, values, strict=False)}
    for question, model, *values in printed(subjective):
        names = ("accuracy", "f1", "precision", "recall") if int(question) < 5 else ("", "f1", "precision", "recall")
        subtask = (*SUBTASKS, "style")[int(question) - 1]
        found |= {(model, subtask, name): value for name, value in zip(names, values, strict=True) if name}
    return found


def ours(project: Project) -> dict[tuple[str, str, str], float]:
    """The same of the pipeline's tables."""
    found = {}
    for table, subtask in zip(TABLES, ("", "style", "sequence"), strict=True):
        with (project.path / "results" / table).open(newline="") as file:
            for row in csv.DictReader(file):
                if row["kind"] == "measured" and row["scoring"] == "released" and row["subset"] == "all":
                    names = ("accuracy", "f1", "precision", "recall", "panel_acc", "text_acc", "wer", "cer")
                    about = row.get("subtask") or subtask
                    found |= {(row["model"], about, name): float(row[name]) for name in names if row.get(name)}
    return found


def best(runs: list[Measured]) -> tuple[float, float]:
    return min(run.wall for run in runs), min(run.cpu for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("code", type=Path, help="the folder with the authors' scripts")
    parser.add_argument("--comics", type=int, default=2800)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if absent := [name for name in SCRIPTS if not (args.code / name).is_file()]:
        sys.exit(f"SCRIPTS ABSENT: no {', '.join(absent)} in {args.code}")
    folder = Path(tempfile.mkdtemp(prefix="punchline-released-"))
    try:
        project = prepare(folder, args.code, args.comics)
        environment = project.environment | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        chosen = [f"models=[{','.join(MODELS)}]", "corpus=full", f"mirror={folder / 'mirror'}", "scoring=released"]
        chosen += ["scorers=null", "judge=null"]
        snakemake = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count() or 1)]
        tables = [f"results/{name}" for name in TABLES]

        def run(where: Path, env: Mapping[str, str], log: str, *command: str) -> Measured:
            return measure([command], cwd=where, env=env, logs=[folder / log])

        run(project.path, environment, "warm.log", *snakemake, *tables, "--config", *chosen)
        released: list[Measured] = []
        pipeline: list[Measured] = []
        for _ in range(args.rounds):
            parts = [
                run(folder / "code", os.environ, f"{Path(name).stem}.log", sys.executable, name) for name in SCRIPTS
            ]
            released.append(Measured(wall=sum(part.wall for part in parts), cpu=sum(part.cpu for part in parts)))
            shutil.rmtree(project.path / "results")
            pipeline.append(run(project.path, environment, "run.log", *snakemake, *tables, "--config", *chosen))
        (wall, cpu), (own_wall, own_cpu) = best(released), best(pipeline)
        print("| | s | CPU s | of the scripts' s | of their CPU s |\n| --- | ---: | ---: | ---: | ---: |")
        print(f"| released scripts, one after the other, one rule | {wall:.1f} | {cpu:.1f} | 1 | 1 |")
        ratios = f"{own_wall / wall:.1f} | {own_cpu / cpu:.1f}"
        print(f"| pipeline, both rules, intervals, lineage | {own_wall:.1f} | {own_cpu:.1f} | {ratios} |")
        said, made = theirs(folder), ours(project)
        other = {
            name: (value, made.get(name)) for name, value in said.items() if round_of(made.get(name)) != float(value)
        }
        print(f"\n{len(said) - len(other)} of {len(said)} printed numbers are the pipeline's under rule `released`")
        for name, values in other.items():
            print(f"{' '.join(name)}: {values[0]} there, {values[1]} here")
        sys.exit(1 if other or not said else 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def round_of(value: float | None) -> float | None:
    """As the scripts round."""
    return None if value is None else round(value, 3)


if __name__ == "__main__":
    main()
