"""HumorBench through the real Snakefile: a judge compared with people; released verdicts."""

import json
import shutil
from pathlib import Path

import pytest
from tests.golden.compare import check
from tests.golden.runs import HUNDRED, HUNDRED_PARTS

from punchline.files import csv_text

from .project import Project

LEADERBOARD, VERDICTS = "results/runs/words/humorbench/leaderboard.csv", "data/responses/humorbench/judge"


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def test_a_judge_beside_people(fresh: Project) -> None:
    config = "run=words benchmarks=[humorbench] models=[echo] judge=overlap"
    fresh.snakemake(LEADERBOARD, config=config)
    items = map(json.loads, (fresh.path / "data/runs/words/items/humorbench/items.jsonl").read_text().splitlines())
    (fresh.path / "config/humorbench").mkdir()
    echoed = ((item["item_id"], f"{item['fields']['description']} {item['fields']['caption']}") for item in items)
    labels = [{"annotation_row": i, "explainer_model": "echo", "explanation": e, "label": "PASS"} for i, e in echoed]
    (fresh.path / "config/humorbench/human_labels.csv").write_text(csv_text(list(labels[0]), labels))
    leaderboard = (fresh.path / LEADERBOARD).with_suffix(".md")
    assert "Not checked against people: judge overlap" in leaderboard.read_text()
    fresh.snakemake(LEADERBOARD.replace("leaderboard", "corrected"), config=config)
    assert "Not checked" not in leaderboard.read_text()
    passed = float(fresh.rows(LEADERBOARD)[0]["accuracy"])
    result = fresh.rows(LEADERBOARD.replace("leaderboard", "corrected"), rule="released")
    assert [(row["method"], row["corrected"], row["n_labeled"]) for row in result] == [
        ("ppi++", "1.0", "20"),
        ("rogan-gladen", "", "20"),  # without a FAIL by people there is no false positive rate
    ]
    assert [float(row["fnr"]) for row in result] == pytest.approx([1 - passed] * 2)
    (built,) = json.loads(fresh.punchline("judges", "--run", "words", "--run", "words", "--json"))["agreement"]
    assert (built["judge"], built["n"]) == ("overlap", lines(fresh.path / "data/responses/humorbench/echo.jsonl"))


@pytest.fixture(scope="module")
def released(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """All tables of the released answers, a hundred of each of six models, and the configuration that made them."""
    project = Project.copy(tmp_path_factory.mktemp("released"))
    shutil.copy(mirror / "humorbench/released_responses.csv", project.path / "data/replay/humorbench.csv")
    for model, stem in HUNDRED.items():
        card = "engine: replay\nformat: humorbench\npath: data/replay/humorbench.csv\n"
        card += f"select: {{model: {model}}}\npublished_as: {model}\n"
        (project.path / f"config/model/{stem}.yaml").write_text(card)
    config = f"benchmarks=[humorbench] corpus=full mirror={mirror} models=[{','.join(HUNDRED.values())}]"
    project.snakemake("all_tables", config=config)
    return project, config


@pytest.mark.long
@pytest.mark.real
def test_released_verdicts_are_kept_and_audit(released: tuple[Project, str]) -> None:
    project, config = released
    journals = list((project.path / VERDICTS).glob("*.jsonl"))
    assert len(journals) == 6 and sum(map(lines, journals)) >= 600
    assert project.audit("results/humorbench/table4.csv")["verdict"] == "equal"
    assert project.wanted("all_tables", config=config) == set()


@pytest.mark.long
@pytest.mark.real
@pytest.mark.parametrize("part", HUNDRED_PARTS)
def test_every_number_of_the_released_answers_is_what_it_was(part: str, released: tuple[Project, str]) -> None:
    check(part, HUNDRED_PARTS[part](released[0]))
