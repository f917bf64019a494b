"""Exports, read by the tools that they are made for: make peers installs these."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.project import ROOT, Project
from tests.ran import ran

from punchline.artifacts.lineage import read_lineage, shown_cells
from punchline.schema import Cell

PEERS = ROOT / ".venv-peers/bin"
MODELS = ("random", "reading-order")
ITEMS = 4

ABSENT = "PEERS ABSENT: make peers installs what reads exports"
pytestmark = pytest.mark.skipif(not (PEERS / "python").is_file(), reason=ABSENT)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project.copy(tmp_path_factory.mktemp("run"))
    project.snakemake("results/table8.csv", config=f"models=[{','.join(MODELS)}] benchmarks=pixelhumor limit={ITEMS}")
    return project


def peer(project: Project, name: str, folder: Path, code: str) -> Any:
    """What the other tool says of an export: `code` has its folder as `there` and prints JSON."""
    project.punchline("export", name, "--output", str(folder))
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder.parent / "cache"), "HOME": str(folder.parent)}
    done = ran(PEERS / "python", "-c", f"import json, sys; there = sys.argv[1]\n{code}", str(folder), env=offline)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def cells(lineage: Path) -> list[Cell]:
    """The values of the rows that a table shows, by its lineage."""
    return [cell for cell in shown_cells(read_lineage(lineage)) if cell.value is not None]


def panel_acc(of: list[Cell], model: str) -> float | None:
    at = ("table8", f"{model}|subset=all", "panel_acc")
    (cell,) = (cell for cell in of if (cell.table, cell.row, cell.column) == at)
    return cell.value


def test_datasets_loads_it_offline(made: Project, tmp_path: Path) -> None:
    code = """
import datasets
items = datasets.load_dataset(there, "pixelhumor-items", split="test")
answers = datasets.load_dataset(there, "pixelhumor-answers", split="test")
sizes = [image.size for image in items[0]["images"]]
print(json.dumps([len(items), items[0], sizes, [dict(one) for one in answers]], default=str))
"""
    records = [json.loads(line) for line in (made.path / "data/items/pixelhumor/items.jsonl").open()]
    count, first, sizes, answers = peer(made, "hf", tmp_path / "hf", code)
    assert count == len(records) == ITEMS
    assert first["item_id"] == records[0]["item_id"]
    assert json.loads(first["gold"])["panel_sequence"]
    assert sizes == [[image["width"], image["height"]] for image in records[0]["images"]]
    assert {one["model"] for one in answers} == set(MODELS)
    ordered = [one for one in answers if one["model"] == "reading-order" and one["task"] == "Q7"]
    assert len(ordered) == ITEMS
    scores = [s for one in ordered for s in one["grades"] if (s["rule"], s["task"]) == ("released", "Q7")]
    share = sum(json.loads(score["values"])["panel_acc"] for score in scores) / ITEMS
    assert share == panel_acc(cells(made.path / "results/table8.lineage.json"), "reading-order")


def test_what_a_judge_was_asked_and_said_is_passed_on(tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "run")
    config = "benchmarks=humorbench models=echo judge=overlap limit=2"
    project.snakemake("results/humorbench/leaderboard.csv", config=config)
    code = """
import datasets
answers = datasets.load_dataset(there, "humorbench-answers", split="test")
print(json.dumps([[one["answer"], one["heard"]] for one in answers]))
"""
    answers = peer(project, "hf", tmp_path / "hf", code)
    assert answers and all(heard for _, heard in answers)
    every = [one for _, heard in answers for one in heard]
    assert all((one["hop"], one["who"]) == ("judge", "overlap") for one in every)
    assert all(one["question"] and "<judgement>" in one["answer"] for one in every)
    code = """
from inspect_ai.log import list_eval_logs, read_eval_log
logs = [read_eval_log(info) for info in list_eval_logs(there)]
print(json.dumps([score.explanation for log in logs for s in log.samples for score in s.scores.values()]))
"""
    explained = peer(project, "inspect", tmp_path / "logs", code)
    assert explained and all(one.startswith("overlap: ") for one in explained)


def test_inspect_reads_it(made: Project, tmp_path: Path) -> None:
    code = """
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
said = []
for info in list_eval_logs(there):
    log = read_eval_log(info, resolve_attachments=True)
    parts = [p for s in log.samples for m in s.messages if not isinstance(m.content, str) for p in m.content]
    images = [part.image for part in parts if part.type == "image"]
    metrics = {f"{s.scorer} {s.name}": {name: m.value for name, m in s.metrics.items()} for s in log.results.scores}
    rules = sorted({name.split()[0] for s in log.samples for name in s.scores})
    ids = [(s.id, s.epoch) for s in log.samples]
    assert len(read_eval_log_sample_summaries(info)) == len(ids) == len(set(ids))
    said.append([log.status, log.eval.model, len(ids), images[0][:30], rules, metrics])
print(json.dumps(said))
"""
    result = peer(made, "inspect", tmp_path / "logs", code)
    assert {one[1] for one in result} == {f"punchline/{model}" for model in MODELS}
    for status, model, count, image, rules, metrics in result:
        assert (status, count, rules) == ("success", 8 * ITEMS, ["paper", "released"])
        assert image.startswith("data:image/png;base64,")
        name = model.removeprefix("punchline/")
        tables = (made.path / "results").rglob("*.lineage.json")
        own = [cell for table in tables for cell in cells(table) if cell.filter.get("model") == name]
        assert sum(len(one) for one in metrics.values()) == len(own)
        assert metrics["released table8 subset=all"]["panel_acc"] == panel_acc(own, name)
