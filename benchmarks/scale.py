"""The main job at several sizes: six replayed models, raw files to all tables, against a plain scoring loop.

    .venv/bin/python benchmarks/scale.py [--mirror ../shared/upstream] [280 2800 28000] [--keep FOLDER]

Each size gets a copy of the project, PixelHumor's released annotations tiled to that many comics as a mirror folder,
and the answers of six models: gold with seeded noise. Measured is `snakemake --cores 2 all`, nothing built before, and
then, in the same run, an ordinary scoring script (`plain` below). Seconds and memory are those of the process tree,
sampled ten times a second; RSS counts pages that processes share once for each of them. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import io
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.project import Project  # noqa: E402

MODELS = ("noise05", "noise10", "noise20", "noise30", "noise40", "noise50")  # share of wrong answers in per cent
SAMPLED_S = 0.1
WARM = 7  # comics of a first run that compiles the bytecode and is not reported
MB = 1e6
VOCABULARY = {
    "Q1": ["Yes", "No"],
    "Q2": ["Absent", "Present, contribute", "Present, do not contribute"],
    "Q4": ["Text", "Visual", "Both"],
    "Q5": ["Comparison", "Personification", "Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise", "Dark"],
}

Rows = dict[str, dict[str, str]]  # comic_id: cells


def read_rows(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {row["comic_id"]: row for row in csv.DictReader(file)}


def tiled(ids: Sequence[str], n: int) -> list[tuple[str, str]]:
    """(new id, released id) of n comics: every so-manieth of them, or all of them over and over."""
    if n <= len(ids):
        return [(ids[i * len(ids) // n],) * 2 for i in range(n)]
    made = []
    for i in range(n):
        copy, comic_id = i // len(ids), ids[i % len(ids)]
        source, number = comic_id.rsplit("_", 1)
        made.append((f"{source}_{copy * 100_000 + int(number)}", comic_id))
    return made


def write_mirror(upstream: Path, mirror: Path, manifest: Path, n: int) -> None:
    """The released files of n comics, and their manifest."""
    pairs = tiled(list(read_rows(upstream / "pixelhumor" / "subjective_label.csv")), n)
    (mirror / "pixelhumor").mkdir(parents=True)
    with manifest.open(encoding="utf-8", newline="") as file:
        entries = list(csv.DictReader(file))
    for entry in entries:
        rows = read_rows(upstream / entry["mirror"])
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, fieldnames=list(next(iter(rows.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[old] | {"comic_id": new} for new, old in pairs if old in rows)
        content = out.getvalue().encode()
        (mirror / entry["mirror"]).write_bytes(content)
        entry |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": str(len(content))}
    with manifest.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(entries[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(entries)


def noisy(text: str, share: float, rng: random.Random) -> str:
    """Text as a poor reader would give it: panel numbers kept, other words with characters lost, doubled or swapped."""
    words = []
    for word in text.split(" "):
        if rng.random() < share and not re.search(r"\d", word) and len(word) > 1:
            at = rng.randrange(len(word) - 1)
            kept = rng.choice(("", word[at] * 2, word[at + 1] + word[at]))
            word = word[:at] + kept + word[at + (2 if len(kept) == 2 and kept[0] != kept[1] else 1) :]
        words.append(word)
    return " ".join(words)


def answers(mirror: Path, share: float, seed: int) -> dict[str, dict[str, str]]:
    """A model's answers in the released form: gold, wrong in about that share; one comic in a hundred is not there."""
    rng = random.Random(seed)
    subjective = read_rows(mirror / "pixelhumor" / "subjective_label.csv")
    objective = read_rows(mirror / "pixelhumor" / "objective_label.csv")
    made = {}
    for comic_id, cells in subjective.items():
        if rng.random() < 0.01:
            continue
        answer = {}
        for task in ("Q1", "Q2", "Q3", "Q4", "Q5"):
            labels = ast.literal_eval(cells[task])
            if rng.random() < share:
                panels = [str(i + 1) for i in range(int(objective[comic_id]["number_of_panels"]))]
                labels = [rng.choice(VOCABULARY.get(task, panels))]
            answer[task] = ", ".join(labels)
        order = [label.strip() for label in objective[comic_id]["panel_sequence"].split(",")]
        if rng.random() < share:
            rng.shuffle(order)
        answer["panel_sequence"] = ", ".join(order)
        answer["text"] = noisy(objective[comic_id]["text"], share, rng)
        made[comic_id] = answer
    return made


def plain(mirror: Path, files: Mapping[str, Path]) -> dict[str, dict[str, float]]:
    """What a benchmark's author would write: score every answer in a loop, print means. One rule, no intervals."""
    import jiwer
    from sklearn.metrics import precision_recall_fscore_support
    from sklearn.preprocessing import MultiLabelBinarizer

    def panels(text: str) -> dict[str, str]:
        pieces = re.split(r"(?:^|\s)(\d+):\s", text)
        return {number: piece.strip() for number, piece in zip(pieces[1::2], pieces[2::2], strict=True)}

    def normal(text: str) -> str:
        return " ".join(text.lower().split())

    subjective = read_rows(mirror / "pixelhumor" / "subjective_label.csv")
    objective = read_rows(mirror / "pixelhumor" / "objective_label.csv")
    found: dict[str, dict[str, float]] = {}
    for model, path in files.items():
        replies = json.loads(path.read_text(encoding="utf-8"))
        gold_labels: dict[str, list[list[str]]] = defaultdict(list)
        labels: dict[str, list[list[str]]] = defaultdict(list)
        scores: dict[str, list[float]] = defaultdict(list)
        for comic_id, reply in replies.items():
            for task in ("Q1", "Q2", "Q3", "Q4", "Q5"):
                if task != "Q1" and "yes" not in reply["Q1"].lower():
                    continue
                gold_labels[task].append([label.lower() for label in ast.literal_eval(subjective[comic_id][task])])
                parts = reply[task].split(", ") if task == "Q5" else [reply[task]]
                labels[task].append([part.strip().lower() for part in parts])
            gold = objective[comic_id]
            gold_order = [part.strip() for part in gold["panel_sequence"].split(",")]
            order = [part.strip() for part in reply["panel_sequence"].split(",")]
            gold_texts, texts = panels(gold["text"]), panels(reply["text"])
            scores["panel_acc"].append(order == gold_order)
            reference = [normal(gold_texts.get(label, "")) for label in gold_order]
            candidate = [normal(texts.get(label, "")) for label in order]
            scores["text_acc"].append(reference == candidate)
            reference_text, candidate_text = normal(" ".join(reference)), normal(" ".join(candidate))
            if reference_text:
                scores["wer"].append(jiwer.wer(reference_text, candidate_text))
                scores["cer"].append(jiwer.cer(reference_text, candidate_text))
            else:
                scores["wer"].append(float(len(candidate_text.split())))
                scores["cer"].append(float(len(candidate_text)))
        found[model] = {name: sum(values) / len(values) for name, values in scores.items()}
        for task in labels:
            binary = MultiLabelBinarizer().fit(gold_labels[task] + labels[task])
            scored = precision_recall_fscore_support(
                binary.transform(gold_labels[task]),
                binary.transform(labels[task]),
                average="weighted",
                zero_division=0,
            )
            found[model] |= {f"{task}_{name}": float(v) for name, v in zip("prf", scored[:3], strict=True)}
    return found


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
    for word in command:
        if "/scripts/" in f"/{word}" and word.endswith(".py"):
            return Path(word).stem
    if any("snakemake" in word for word in command):
        return "snakemake"
    return "other"


def measure(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> Measured:
    """Run a command and watch its process tree. Raises RuntimeError, with what it said, when it fails."""
    result = Measured()
    processes: dict[tuple[int, float], tuple[str, float, float, float]] = {}  # (pid, start): stage, s, CPU s, RSS
    with log.open("wb") as output:
        start = time.time()
        child = subprocess.Popen(command, cwd=cwd, env=dict(env), stdout=output, stderr=subprocess.STDOUT)
        root = psutil.Process(child.pid)
        while child.poll() is None:
            total = 0
            try:
                tree = [root, *root.children(recursive=True)]
            except psutil.NoSuchProcess:
                break
            for process in tree:
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
    if child.wait() != 0:
        raise RuntimeError(f"{' '.join(command)}: status {child.returncode}\n{log.read_text(errors='replace')[-4000:]}")
    for stage, seconds, cpu, rss in processes.values():
        result.cpu += cpu
        sums = result.stages[stage]
        sums[0], sums[1], sums[2] = sums[0] + seconds, sums[1] + cpu, max(sums[2], rss)
    return result


def largest_difference(project: Project, loop: Mapping[str, Mapping[str, float]]) -> float:
    """Between the loop's sequence scores and Table 8: shows that both did the same work."""
    with (project.path / "results" / "table8.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file) if row["subset"] == "all"}
    return max(
        abs(float(rows[model][column]) - scores[column])
        for model, scores in loop.items()
        for column in ("panel_acc", "text_acc", "wer", "cer")
    )


def one_size(upstream: Path, folder: Path, n: int) -> tuple[Measured, Measured, float]:
    """The pipeline and the plain loop on n comics."""
    project = Project.copy(folder / "project")
    mirror = folder / "mirror"
    write_mirror(upstream, mirror, project.path / "data/manifests/pixelhumor/annotations.csv", n)
    files = {}
    for seed, model in enumerate(MODELS):
        files[model] = project.path / "data" / "replay" / f"{model}.json"
        files[model].parent.mkdir(exist_ok=True)
        made = answers(mirror, int(model[-2:]) / 100, seed)
        files[model].write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
        card = f"engine: replay\nformat: pixelhumor\npath: data/replay/{model}.json\n"
        (project.path / "config" / "model" / f"{model}.yaml").write_text(card, encoding="utf-8")
    environment = {k: v for k, v in project.environment.items() if k != "PYTHONDONTWRITEBYTECODE"}
    # As where it is installed: bytecode is compiled once. In a folder of its own, so that nothing else is touched.
    environment["PYTHONPYCACHEPREFIX"] = str(folder.parent / "bytecode")
    chosen = ["corpus=full", f"mirror={mirror}", f"models=[{','.join(MODELS)}]"]
    pipeline = measure(
        [sys.executable, "-m", "snakemake", "--cores", "2", "all", "--config", *chosen],
        cwd=project.path,
        env=environment,
        log=folder / "pipeline.log",
    )
    named = [f"{model}={path}" for model, path in files.items()]
    loop = measure(
        [sys.executable, str(Path(__file__).resolve()), "--plain", str(mirror), *named],
        cwd=project.path,
        env=environment,
        log=folder / "plain.json",
    )
    scores = json.loads((folder / "plain.json").read_text().splitlines()[-1])
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
    upstream = os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared" / "upstream")
    parser.add_argument("sizes", nargs="*", type=int, default=[280, 2800])
    parser.add_argument("--mirror", type=Path, default=Path(upstream), help="folder with pixelhumor/*.csv as released")
    parser.add_argument("--keep", type=Path, help="an empty folder to work in and leave as it is")
    args = parser.parse_args()
    if not (args.mirror / "pixelhumor" / "subjective_label.csv").is_file():
        sys.exit(f"REAL DATA ABSENT: no pixelhumor/subjective_label.csv in {args.mirror}; name it with --mirror")
    base = args.keep or Path(tempfile.mkdtemp(prefix="punchline-scale-"))
    results: dict[int, Any] = {}
    try:
        for n in [WARM, *args.sizes]:
            (base / str(n)).mkdir(parents=True)
            results[n] = one_size(args.mirror.resolve(), base / str(n), n)
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
