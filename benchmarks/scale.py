"""The main job at several sizes: six replayed models, raw files to all tables, against a plain scoring loop.

    .venv/bin/python benchmarks/scale.py [280 2800 28000] [--models 6] [--cores 2] [--keep FOLDER]

Each size gets a copy of the project, a made-up corpus in PixelHumor's released format (synthetic.py) as a mirror
folder, and the answers of six models: gold with seeded noise. Measured is `snakemake all`, nothing built before, and
then, in the same run, an ordinary scoring script (`plain` below), as many at a time as there are cores. Seconds and
memory are those of the process tree, sampled ten times a second; RSS counts pages that processes share once for each
of them. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import ast
import csv
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.synthetic import write_answers, write_corpus  # noqa: E402
from tests.e2e.project import Project  # noqa: E402

MODELS = ("noise05", "noise10", "noise20", "noise30", "noise40", "noise50")  # share of wrong answers in per cent
SAMPLED_S = 0.1
WARM = 70  # comics of a first run that compiles the bytecode and is not reported
MB = 1e6
LABELS = ("Q1", "Q2", "Q3", "Q4", "Q5")


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row["comic_id"]: row for row in csv.DictReader(file)}


def plain(mirror: Path, files: Mapping[str, Path]) -> dict[str, dict[str, float]]:
    """What a benchmark's author would write: read every answer, parse it, score it, print means, under both rules.

    The reading and scoring functions are the project's own; no interval, no record of anything.
    """
    from sklearn.metrics import precision_recall_fscore_support
    from sklearn.preprocessing import MultiLabelBinarizer

    from punchline.benchmarks.pixelhumor.answers import panel_texts, parse_labels
    from punchline.benchmarks.pixelhumor.scoring import _ordered, text_scores
    from punchline.schema import RULES

    subjective = read_rows(mirror / "subjective_label.csv")
    objective = read_rows(mirror / "objective_label.csv")
    result: dict[str, dict[str, float]] = {}
    for model, path in files.items():
        replies = json.loads(path.read_text(encoding="utf-8"))
        for rule in RULES:
            right: dict[str, list[tuple[str, ...]]] = defaultdict(list)
            output: dict[str, list[tuple[str, ...]]] = defaultdict(list)
            scores: dict[str, list[float]] = defaultdict(list)
            for comic_id, reply in replies.items():
                gold = objective[comic_id]
                gold_order = tuple(label.strip() for label in gold["panel_sequence"].split(","))
                known = gold_order if rule == "paper" else ()
                for task in LABELS:
                    if rule == "paper" or task == "Q1" or "yes" in reply["Q1"].lower():
                        right[task].append(tuple(ast.literal_eval(subjective[comic_id][task])))
                        output[task].append(parse_labels(task, reply[task], rule, known) or ())
                order = parse_labels("Q7", reply["panel_sequence"], rule, known) or ()
                scores["panel_acc"].append(order == gold_order)
                texts = _ordered(panel_texts(reply["text"], rule, known), order)
                gold_texts = _ordered(panel_texts(gold["text"], rule, known), gold_order)
                for name, value in text_scores(gold_texts, texts, rule).items():
                    scores[name].append(value)
            means = {name: sum(values) / len(values) for name, values in scores.items()}
            for task in LABELS:
                binary = MultiLabelBinarizer().fit(right[task] + output[task])
                matrices = binary.transform(right[task]), binary.transform(output[task])
                prf = precision_recall_fscore_support(*matrices, average="weighted", zero_division=0)[:3]
                means |= {f"{task}_{name}": float(value) for name, value in zip("prf", prf, strict=True)}
            result[f"{model} {rule}"] = means
    return result


@dataclass
class Measured:
    """One command: seconds, bytes."""

    wall: float = 0.0
    cpu: float = 0.0  # of all processes, as last seen
    tree: int = 0  # peak of the tree's RSS
    largest: int = 0  # peak RSS of one process
    who: str = ""  # that process
    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0, 0.0]))  # s, CPU s, MB


def stage_of(command: Sequence[str]) -> str:
    for word, following in itertools.pairwise(command):
        if word.endswith("scripts/stage.py"):
            return following
    if any("snakemake" in word for word in command):
        return "snakemake"
    return "other"


def measure(commands: Sequence[Sequence[str]], *, cwd: Path, env: Mapping[str, str], logs: Sequence[Path]) -> Measured:
    """Run commands side by side and watch their processes. Raises RuntimeError, with what was said, when one fails."""
    result = Measured()
    processes: dict[tuple[int, float], tuple[str, float, float, float]] = {}  # (pid, start): stage, s, CPU s, RSS
    start = time.time()
    with ExitStack() as stack:
        files = [stack.enter_context(log.open("wb")) for log in logs]
        children = [
            subprocess.Popen(command, cwd=cwd, env=dict(env), stdout=file, stderr=subprocess.STDOUT)
            for command, file in zip(commands, files, strict=True)
        ]
        roots = [psutil.Process(child.pid) for child in children]
        while any(child.poll() is None for child in children):
            total = 0
            for process in [process for root in roots for process in tree_of(root)]:
                try:
                    with process.oneshot():
                        rss, times = process.memory_info().rss, process.cpu_times()
                        key = (process.pid, process.create_time())
                        words = process.cmdline()
                except psutil.Error:
                    continue
                total += rss
                stage = stage_of(words) if Path(words[0] if words else "").name.startswith("python") else "other"
                before = processes.get(key, ("", 0.0, 0.0, 0.0))
                seen = (stage, time.time() - key[1], times.user + times.system, max(before[3], rss))
                processes[key] = seen
                if rss > result.largest:
                    result.largest, result.who = rss, stage
            result.tree = max(result.tree, total)
            time.sleep(SAMPLED_S)
        result.wall = time.time() - start
    for child, command, log in zip(children, commands, logs, strict=True):
        if child.returncode != 0:
            output = log.read_text(errors="replace")[-4000:]
            raise RuntimeError(f"{' '.join(command)}: status {child.returncode}\n{output}")
    for stage, seconds, cpu, rss in processes.values():
        result.cpu += cpu
        sums = result.stages[stage]
        sums[0], sums[1], sums[2] = sums[0] + seconds, sums[1] + cpu, max(sums[2], rss)
    return result


def tree_of(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def largest_difference(project: Project, loop: Mapping[str, Mapping[str, float]]) -> float:
    """Between the loop's sequence scores and Table 8: shows that both did the same work."""
    with (project.path / "results" / "table8.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["subset"] == "all"]
    return max(
        abs(float(row[column]) - loop[f"{row['model']} {row['scoring']}"][column])
        for row in rows
        if f"{row['model']} {row['scoring']}" in loop
        for column in ("panel_acc", "text_acc", "wer", "cer")
    )


def one_size(folder: Path, n: int, models: Sequence[str], cores: int) -> tuple[Measured, Measured, float]:
    """The pipeline and the plain loop on n comics."""
    project = Project.copy(folder / "project")
    mirror = folder / "mirror"
    write_corpus(mirror / "pixelhumor", n, project.path / "data/manifests/pixelhumor/annotations.csv")
    files = {}
    for model in models:
        files[model] = project.path / "data" / "replay" / f"{model}.json"
        files[model].parent.mkdir(exist_ok=True)
        write_answers(files[model], n, int(model[-2:]) / 100)
        card = f"engine: replay\nformat: pixelhumor\npath: data/replay/{model}.json\n"
        (project.path / "config" / "model" / f"{model}.yaml").write_text(card, encoding="utf-8")
    environment = project.environment
    # As where it is installed: bytecode is compiled once. In a folder of its own, so that nothing else is touched.
    environment["PYTHONPYCACHEPREFIX"] = str(folder.parent / "bytecode")
    chosen = ["corpus=full", f"mirror={mirror}", f"models=[{','.join(models)}]"]
    pipeline = measure(
        [[sys.executable, "-m", "snakemake", "--cores", str(cores), "all", "--config", *chosen]],
        cwd=project.path,
        env=environment,
        logs=[folder / "pipeline.log"],
    )
    # As many loops at a time as the pipeline has jobs: a busy machine makes CPU seconds longer for both.
    shares = [list(models[start::cores]) for start in range(min(cores, len(models)))]
    logs = [folder / f"plain{number}.json" for number in range(len(shares))]
    script = [sys.executable, str(Path(__file__).resolve()), "--plain", str(mirror / "pixelhumor")]
    loop = measure(
        [[*script, *(f"{model}={files[model]}" for model in share)] for share in shares],
        cwd=project.path,
        env=environment,
        logs=logs,
    )
    scores = {key: value for log in logs for key, value in json.loads(log.read_text().splitlines()[-1]).items()}
    return pipeline, loop, largest_difference(project, scores)


def report(results: Mapping[int, tuple[Measured, Measured, float]]) -> None:
    """The Markdown tables."""
    print("\n| comics | pipeline s | loop s | ratio | pipeline CPU s | loop CPU s | ratio | peak MB | of one process |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for n, (ours, loop, _) in results.items():
        print(
            f"| {n:,} | {ours.wall:.1f} | {loop.wall:.1f} | {ours.wall / loop.wall:.1f}"
            f" | {ours.cpu:.1f} | {loop.cpu:.1f} | {ours.cpu / loop.cpu:.1f}"
            f" | {ours.tree / MB:,.0f} | {ours.largest / MB:,.0f} ({ours.who}) |"
        )
    sizes = list(results)
    print("\n| grows by | comics | pipeline s | pipeline CPU s | loop s | loop CPU s | peak MB | of one process |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for small, large in itertools.pairwise(sizes):
        (a, a_loop, _), (b, b_loop, _) = results[small], results[large]
        print(
            f"| {small:,} to {large:,} | {large / small:.1f} | {b.wall / a.wall:.1f} | {b.cpu / a.cpu:.1f}"
            f" | {b_loop.wall / a_loop.wall:.1f} | {b_loop.cpu / a_loop.cpu:.1f}"
            f" | {b.tree / a.tree:.1f} | {b.largest / a.largest:.1f} |"
        )
    stages = sorted({stage for ours, _, _ in results.values() for stage in ours.stages} - {"other"})
    print("\nJob seconds (CPU seconds; peak MB of one job) by script; jobs run two at a time:\n")
    print("| script | " + " | ".join(f"{n:,} comics" for n in sizes) + " |")
    print("| --- |" + " ---: |" * len(sizes))
    for stage in stages:
        cells = [results[n][0].stages[stage] for n in sizes]
        print(f"| {stage} | " + " | ".join(f"{s:.1f} ({cpu:.1f}; {rss / MB:,.0f})" for s, cpu, rss in cells) + " |")
    for n, (_, _, difference) in results.items():
        print(f"\n{n:,} comics: the loop's sequence scores and Table 8 differ by at most {difference:.2g}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[280, 2800])
    parser.add_argument("--models", type=int, default=len(MODELS), help="how many replayed models")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="an empty folder to work in and leave as it is")
    args = parser.parse_args()
    base = args.keep or Path(tempfile.mkdtemp(prefix="punchline-scale-"))
    results: dict[int, tuple[Measured, Measured, float]] = {}
    try:
        for n in [WARM, *args.sizes]:
            (base / str(n)).mkdir(parents=True)
            results[n] = one_size(base / str(n), n, MODELS[: args.models], args.cores)
            print(f"{n:,} comics: {results[n][0].wall:.1f} s, plain loop {results[n][1].wall:.1f} s", file=sys.stderr)
    finally:
        if not args.keep:
            shutil.rmtree(base)
    del results[WARM]
    report(results)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plain"]:
        named = (argument.partition("=") for argument in sys.argv[3:])
        print(json.dumps(plain(Path(sys.argv[2]), {model: Path(path) for model, _, path in named})))
    else:
        main()
