"""Pins read from runs of the real Snakefile: the demo corpus, and HumorBench's released runs where they are here.

The functions `read_*` know where a run keeps its results; only they change when storage does.
"""

import csv
import itertools
import json
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pyarrow.parquet as pq
from tests.e2e.project import Project
from tests.golden.offline import WITH_DEMO, Pins, digest, table
from tests.servers.scripted import Call, completion, scripted

from punchline.artifacts.project import SHARED, VALIDITY
from punchline.core import benchmark as benchmarks
from punchline.paths import Paths
from punchline.schema import sha256

BASELINES = ("random", "prior", "label-order", "reading-order", "ocr", "echo")
DEMO = (*BASELINES, "scripted")
CONFIG = f"benchmarks=all models=[{','.join(DEMO)}] judge=overlap scorers=[absent,absent-f1] conditions=all"
STRICT = "run=strict benchmarks=[humorbench] models=[echo,scripted] judge=strict scorers=null"  # a second judge
ABSENT = "engine: similarity\nid: ./absent\nrevision: sha256:" + "0" * 64 + "\n"
RELEASED = "humorbench-released"
REQUEST = ("item_id", "task", "condition", "sample")
SCORE = ("state", "scored", "truncated", "parsed", "values")
UNPINNED = ("plan", *VALIDITY, *SHARED)  # have tests of their own
OF_DEMO = ("metrics", "availability")  # overviews that are pinned for the demo
LONGEST = 12  # characters of what is parsed; longer ones of released answers are hashed


def _answers() -> list[str]:
    """Answers of every kind: short ones, and answers.json, phrasings of the readers' tests as they once were."""
    long = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
    short = ["A", "B", "C", "D", "Yes", "No", "1, 2, 3", "2, 1", "Text", "Absent", "Surprise", "A dog waits.", "0.5"]
    return [*short * (len(long) // len(short)), *long]


def _reply(answers: list[str]) -> Callable[[Call], None]:
    """Reply by the digest of the messages: an answer, or a failure, a refusal, a truncation, reasoning."""

    def reply(call: Call) -> None:
        messages = json.dumps(json.loads(call.body)["messages"], sort_keys=True)
        number = int(sha256(messages.encode()), 16)
        kind, text = number % 16, answers[number // 16 % len(answers)]
        if kind == 0:
            call.json({"error": {"message": "no"}}, status=400)
            return
        usage = {"prompt_tokens": len(messages) // 4, "completion_tokens": len(text)}
        body = completion("" if kind == 1 else text, usage=usage)
        if kind < 4:
            body["choices"][0]["finish_reason"] = ("stop", "content_filter", "length")[kind - 1]
        if kind == 4:
            body["choices"][0]["message"]["reasoning_content"] = "A or B?"
        call.json(body)

    return reply


def demo(path: Path) -> Project:
    """A copy of the project with all tables of the demo corpus: baselines, a scripted model, overlap as the judge."""
    project = Project.copy(path)
    config = project.path / "config"
    (config / "judge/absent.yaml").write_text(f"{ABSENT}metric: cosine\n")  # scorers that run nowhere
    (config / "judge/absent-f1.yaml").write_text(f"{ABSENT}metric: bertscore\nlayers: 1\n")
    with scripted(_reply(_answers())) as server:
        project.add_served("scripted", server.url, "breaker: 0\nconcurrency: 8\n")
        project.snakemake("all", config=CONFIG)
        strict = "engine: lexical\nbaseline: overlap\nthreshold: 0.8\nmodality: [text]\n"
        (config / "judge/strict.yaml").write_text(strict)
        project.snakemake("results/runs/strict/humorbench/leaderboard.csv", config=STRICT)
    return project


SMALL = "benchmarks=all models=[random,echo] judge=overlap scorers=[absent] conditions=all limit=3"


HUNDRED = {  # released model: stem of its card here
    "o1": "o1-released",
    "gpt-4o": "gpt-4o-released",
    "gemini-1.5-pro": "gemini-1.5-pro-released",
    "deepseek-ai/DeepSeek-V3": "deepseek-v3-released",
    "Qwen/Qwen2.5-72B-Instruct-Turbo": "qwen2.5-72b-released",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8": "llama-4-maverick-released",
}


def read_requests(root: Path, paths: Paths, benchmark: str) -> Iterator[tuple[object, ...]]:
    """(pass, model, item, task, condition, sample, request id) of every request of a run."""
    folder = root / paths.requests(benchmark)
    for file in (folder, *sorted(folder.with_suffix("").rglob("*.parquet"))):
        which, about = ("main", "") if file == folder else (file.parent.name, file.stem)
        for row in pq.read_table(file, columns=[*REQUEST, "digest"]).to_pylist():
            yield which, about, *(row[name] for name in REQUEST), row["digest"]


def read_scores(root: Path, paths: Paths, benchmark: str, model: str) -> Iterator[tuple[tuple[object, ...], ...]]:
    """((item, task, condition, sample), rule, (state, scored, truncated, parsed, values)) of a model's answers."""
    metrics = sorted(benchmarks.load(benchmark).METRICS)
    columns = [*REQUEST, "rule", *SCORE[:-1], *metrics]
    for row in pq.read_table(root / paths.scores(benchmark, model), columns=columns).to_pylist():
        values = " ".join(f"{name}={row[name]!r}" for name in metrics if row[name] is not None)
        output = row["state"], int(row["scored"]), int(row["truncated"]), row["parsed"] or "null", values
        yield tuple(row[name] for name in REQUEST), row["rule"], output


def _shown(lines: list[str]) -> list[str]:
    """Lines of a CSV; of a table, those of the rule that it shows and of the paper, not those of the other rule."""
    rows = list(csv.DictReader(lines))
    if not rows or "scoring" not in rows[0]:
        return lines
    left = [row["kind"] == "published" or row["scoring"] == rows[0]["scoring"] for row in rows]
    return [lines[0], *itertools.compress(lines[1:], left)]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def read_tables(project: Project, run: str = "default", without: Collection[str] = ()) -> Pins:
    """Lines of every CSV with results, but the files of these names."""
    folder, left = project.path / Paths(run=run).results, {*UNPINNED, *without}
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*.csv")) if path.stem not in left}
    return {name.as_posix(): _shown(_lines(path)) for name, path in files.items() if "runs" not in name.parts}


def read_json(project: Project, *command: str) -> list[str]:
    """Lines of what a command prints as JSON."""
    output = project.ran(sys.executable, "-m", "punchline.cli", *command, "--json").stdout
    return json.dumps(json.loads(output), indent=1, ensure_ascii=False).split("\n")


def _score_rows(root: Path, paths: Paths, benchmark: str, model: str, *, hashed: bool) -> Iterator[tuple[object, ...]]:
    """Rows of a model's scores; rules that agree share one. `hashed`: of what was parsed, no text."""
    both: dict[tuple[object, ...], dict[str, tuple[object, ...]]] = {}
    for key, rule, output in read_scores(root, paths, benchmark, model):
        parsed = str(output[3])
        if hashed and len(parsed) > LONGEST:
            output = (*output[:3], digest([parsed]), *output[4:])
        both.setdefault(key, {})[str(rule)] = output
    for key, rules in sorted(both.items()):
        if len(set(rules.values())) == 1 and len(rules) == 2:
            rules = {"both": rules["paper"]}
        yield from ((*key, rule, *said) for rule, said in sorted(rules.items()))


def scores(project: Project, run: str = "default", *, hashed: bool = False) -> Pins:
    """Scores of every answer of a run under both rules."""
    paths, pins = Paths(run=run), {}
    for file in sorted((project.path / paths.results).glob("*/scores/*.parquet")):
        name, model = file.parent.parent.name, file.stem
        rows = _score_rows(project.path, paths, name, model, hashed=hashed)
        pins[f"{name}/{model}.csv"] = table([(*REQUEST, "rule", *SCORE), *rows])
    return pins


def demo_items(project: Project) -> Pins:
    """Items, gold, selection, availability of images, and the sha256 of every published image and picture."""
    paths, root, pins = Paths(raw_root="data/raw/demo"), project.path, {}
    for name in WITH_DEMO:
        files = (paths.items(name), paths.gold(name), paths.selected(name), paths.csv("availability", name))
        kinds = ("items.jsonl", "gold.jsonl", "selected.csv", "availability.csv")
        result = {f"{name}/{kind}": root / file for kind, file in zip(kinds, files, strict=True)}
        pins |= {kind: _lines(path) for kind, path in result.items() if path.is_file()}
        folders = [root / folder for folder in (f"{paths.raw(name)}/images", paths.pictures(name))]
        images = [file for folder in folders for file in sorted(folder.rglob("*.*")) if file.is_file()]
        rows = [(file.relative_to(root), sha256(file.read_bytes())) for file in images]
        pins[f"{name}/images.csv"] = table([("image", "sha256"), *rows])
    return pins


def demo_requests(project: Project) -> Pins:
    """Ids of the requests of every pass: main, follow-up, judge, scorers, and comparisons of the data itself."""
    head = ("pass", "model", *REQUEST, "request")
    pins = {}
    for name in WITH_DEMO:
        rows = sorted(read_requests(project.path, Paths(), name), key=str)
        pins[f"{name}.csv"] = table([head, *((*row[:-1], str(row[-1])[:16]) for row in rows)])
    return pins


RANKED = ["hummus/table4", "humorbench/leaderboard", "table8", "pixelhumor/table2", "stripcipher/table6"]
RANKED += ["yesbut/figure4"]


def demo_comparisons(project: Project) -> Pins:
    """`compare`, `ranks` and `judges` as JSON."""
    pins = {f"ranks/{name}.json": read_json(project, "ranks", f"results/{name}.csv") for name in RANKED}
    for a, b in (("scripted", "random"), ("label-order", "reading-order"), ("random", "prior")):
        pins[f"compare/{a}_{b}.json"] = read_json(project, "compare", a, b, "--run", "default")
    return pins | {"judges.json": read_json(project, "judges", "--run", "default", "--run", "strict")}


def released_requests(project: Project) -> Pins:
    """Requests about every item: how many in each pass, and one digest over their ids."""
    result: dict[tuple[str, str], list[str]] = {}
    for row in read_requests(project.path, Paths(run=RELEASED), "humorbench"):
        result.setdefault((str(row[2]), str(row[0])), []).append(str(row[-1]))
    rows = [(*key, len(ids), digest(sorted(ids))) for key, ids in sorted(result.items())]
    return {"humorbench.csv": table([("item_id", "pass", "requests", "digest"), *rows])}


def released_tables(project: Project) -> Pins:
    """Every CSV with results of the released runs, but those that quote answers; two models compared."""
    compared = read_json(project, "compare", "o3-released", "gpt-4o-released", "--run", RELEASED)
    return read_tables(project, RELEASED, (*OF_DEMO, "unread")) | {"compare.json": compared}


DEMO_PARTS: dict[str, Callable[[Project], Pins]] = {
    "demo/items": demo_items,
    "demo/requests": demo_requests,
    "demo/scores": scores,
    "demo/tables": read_tables,
    "demo/comparisons": demo_comparisons,
}
RELEASED_PARTS: dict[str, Callable[[Project], Pins]] = {
    "released/requests": released_requests,
    "released/scores": lambda project: scores(project, RELEASED, hashed=True),
    "released/tables": released_tables,
}
HUNDRED_PARTS: dict[str, Callable[[Project], Pins]] = {
    "hundred/scores": lambda project: scores(project, hashed=True),
    "hundred/tables": lambda project: read_tables(project, without=(*OF_DEMO, "unread")),
}
