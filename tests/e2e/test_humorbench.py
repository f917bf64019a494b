"""HumorBench through the real Snakefile: explanations, then a judge; released verdicts; what runs again when."""

import json
from pathlib import Path

import pytest
from tests.golden.compare import check
from tests.golden.runs import HUNDRED_PARTS, hundred, hundred_config

from punchline.files import csv_text

from .project import Project

LEADERBOARD, TABLE4 = "results/humorbench/leaderboard.csv", "results/humorbench/table4.csv"
ECHO = "benchmarks=[humorbench] models=[echo]"
VERDICTS = "data/responses/humorbench/judge"


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The demo corpus, explained by echo, judged by overlap. Take a copy to change it."""
    project = Project.copy(tmp_path_factory.mktemp("humorbench"))
    project.snakemake(LEADERBOARD, config=f"{ECHO} judge=overlap")
    return project


@pytest.fixture
def judged(judged_run: Project, tmp_path: Path) -> Project:
    return judged_run.copied(tmp_path / "p")


def test_a_judged_run_audits_and_runs_once(judged_run: Project) -> None:
    report = judged_run.audit(LEADERBOARD)
    assert (report["verdict"], report["findings"]) == ("equal", [])
    wanted = {"judge's card", "judge's journal", "judge's requests", "judge's snapshot"}
    assert {file["role"] for file in report["files"]} >= wanted
    assert judged_run.to_run(LEADERBOARD, config=f"{ECHO} judge=overlap") == set()


def test_another_threshold_judges_again_and_asks_no_model(judged: Project) -> None:
    judged.edit("config/judge/overlap.yaml", "threshold: 0.3", "threshold: 1.0")
    config = f"{ECHO} judge=overlap"
    assert judged.to_run(LEADERBOARD, config=config) == {"respond", "score", "tables_humorbench"}
    answers, verdicts = judged.path / "data/responses/humorbench/echo.jsonl", judged.path / VERDICTS / "overlap.jsonl"
    requests, given, (before,) = lines(answers), lines(verdicts), judged.rows(LEADERBOARD, model="echo")
    judged.snakemake(LEADERBOARD, config=config)
    (after,) = judged.rows(LEADERBOARD, model="echo")
    assert (lines(answers), lines(verdicts)) == (requests, 2 * given)
    assert float(after["accuracy"]) < float(before["accuracy"])
    assert judged.audit(LEADERBOARD)["verdict"] == "equal"


def test_a_judge_beside_people(judged: Project) -> None:
    config = f"run=words {ECHO} judge=overlap"
    judged.snakemake("results/runs/words/humorbench/leaderboard.csv", config=config)
    items = map(json.loads, (judged.path / "data/items/humorbench/items.jsonl").read_text().splitlines())
    (judged.path / "config/humorbench").mkdir()
    echoed = ((item["item_id"], f"{item['fields']['description']} {item['fields']['caption']}") for item in items)
    labels = [{"annotation_row": i, "explainer_model": "echo", "explanation": e, "label": "PASS"} for i, e in echoed]
    (judged.path / "config/humorbench/human_labels.csv").write_text(csv_text(list(labels[0]), labels))
    leaderboard = judged.path / "results/runs/words/humorbench/leaderboard.md"
    assert "Not checked against people: judge overlap" in leaderboard.read_text()
    judged.snakemake("results/runs/words/humorbench/corrected.csv", config=config)
    assert "Not checked" not in leaderboard.read_text()
    passed = float(judged.rows("results/runs/words/humorbench/leaderboard.csv")[0]["accuracy"])
    result = judged.rows("results/runs/words/humorbench/corrected.csv", rule="released")
    assert [(row["method"], row["corrected"], row["n_labeled"]) for row in result] == [
        ("ppi++", "1.0", "20"),
        ("rogan-gladen", "", "20"),  # without a FAIL by people there is no false positive rate
    ]
    assert [float(row["fnr"]) for row in result] == pytest.approx([1 - passed] * 2)
    (built,) = json.loads(judged.punchline("judges", "--run", "default", "--run", "words", "--json"))["agreement"]
    assert (built["judge"], built["n"]) == ("overlap", lines(judged.path / "data/responses/humorbench/echo.jsonl"))


@pytest.fixture(scope="module")
def released(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """All tables of the six released models, from the mirror, and the configuration that made them."""
    return hundred(tmp_path_factory.mktemp("released"), mirror), hundred_config(mirror)


@pytest.mark.real
def test_released_verdicts_are_kept_and_audit(released: tuple[Project, str]) -> None:
    project, config = released
    journals = list((project.path / VERDICTS).glob("*.jsonl"))
    assert len(journals) == 6 and sum(map(lines, journals)) >= 600
    assert project.audit(TABLE4)["verdict"] == "equal"
    assert project.to_run("all_tables", config=config) == set()


@pytest.mark.real
@pytest.mark.parametrize("part", HUNDRED_PARTS)
def test_every_number_of_the_released_answers_is_what_it_was(part: str, released: tuple[Project, str]) -> None:
    check(part, HUNDRED_PARTS[part](released[0]))
