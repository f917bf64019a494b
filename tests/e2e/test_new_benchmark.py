"""docs/new-benchmark.md makes a benchmark from a CSV: data and commands are taken from the page."""

import re
import shutil
from pathlib import Path

import pytest
from tests.servers.runs import Served

from .conftest import add_served
from .project import ROOT, Project

PAGE = (ROOT / "docs/new-benchmark.md").read_text()
(CSV,) = re.findall(r"^`puns.csv`:\n\n```csv\n(.*?)^```$", PAGE, re.M | re.S)
COMMANDS, REPLACE, SATIRE = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
PRINTED = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)[0]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which the page's commands were executed."""
    project = Project.copy(tmp_path_factory.mktemp("puns"))
    (project.path / "puns.csv").write_text(CSV)
    for line in COMMANDS.strip().split("\n"):
        output = project.execute(line)
        assert " audit " not in line or "equal" in output.splitlines()[-1]
        assert " new-benchmark " not in line or output.startswith(PRINTED)
    return project


def test_its_commands_make_a_table(project: Project) -> None:
    (row,) = project.rows("results/puns/accuracy.csv")
    assert (row["model"], row["kind"], row["n"]) == ("random", "baseline", "3")
    assert 0 <= float(row["accuracy"]) <= 1


def test_a_corrected_answer_counts_and_asks_nobody(project: Project) -> None:
    """Its table is stale, and built again; a corrected question is asked alone; a new file replaces all."""
    config = "corpus=full benchmarks=[puns] models=[random]"
    before = project.rows("results/puns/accuracy.csv")[0]["accuracy"]
    lines = project.journal_lines()
    file = "data/manifests/puns/questions.csv"
    text = (project.path / file).read_text()
    flipped = re.sub(r",(A|B),", lambda answer: ",B," if answer[1] == "A" else ",A,", text)
    (project.path / file).write_text(flipped)
    assert "stale" in project.punchline("tables")
    made = project.made("results/puns/accuracy.csv", config=config)
    assert "tables puns" in made and not any(step.startswith("respond") for step in made)
    after = project.rows("results/puns/accuracy.csv")[0]["accuracy"]
    assert float(after) == pytest.approx(1 - float(before), abs=1e-5) and project.journal_lines() == lines
    project.edit(file, "Which sentence", "What sentence")
    project.snakemake("results/puns/accuracy.csv", config=config)
    assert project.journal_lines() == lines + 1
    project.execute(REPLACE)
    assert (project.path / file).read_text() == text
    project.snakemake("results/puns/accuracy.csv", config=config)
    assert project.rows("results/puns/accuracy.csv")[0]["accuracy"] == before


def test_a_changed_prompt_is_asked_again(project: Project) -> None:
    config = "corpus=full benchmarks=[puns] models=[random]"
    project.edit("src/punchline/benchmarks/puns/prompts/question.txt", "Answer with", "Reply with")
    wanted = project.wanted("results/puns/accuracy.csv", config=config)
    assert {"prepare puns", "respond random all", "score puns random", "tables puns"} <= wanted
    output = project.snakemake("results/puns/accuracy.csv", config="benchmarks=[puns] models=[random]", fails=True)
    assert output.strip().endswith("error: data/demo/puns: no demo data for puns: use corpus=full")


def test_images_options_and_texts(project: Project, server: Served) -> None:
    demo = sorted((project.path / "data/demo/pixelhumor/images").iterdir())[0]
    rows = f"id,question,answer,image\na,What is it?,comic,{demo}\nb,Funny?,Yes,{demo}\n"
    (project.path / "own.csv").write_text(rows)
    refused = project.punchline("new-benchmark", "own", "own.csv", fails=True)
    assert "field image: not in the folder of the CSV" in refused and not (project.path / "data/manifests/own").exists()
    project.punchline("new-benchmark", "own", "own.csv", "--outside")
    add_served(project, server)
    project.snakemake("all", config="corpus=full benchmarks=[own] models=[served,random] run=own")
    rows_made = project.rows("results/runs/own/own/accuracy.csv")
    assert [(row["model"], row["n"]) for row in rows_made] == [("served", "2"), ("random", "2")]
    assert len(list((project.path / "data/raw/own/images").iterdir())) == 2
    own, lines = "data/manifests/own", project.journal_lines()
    other = sorted((project.path / "data/demo/pixelhumor/images").iterdir())[1].read_bytes()
    (project.path / own / "images/a.png").write_bytes(other)  # an image that is edited, then two questions
    edits = [("What is it?,comic", "What is it?,B"), ("images/a.png,,", "images/a.png,text | comic,")]
    for count, changes in ((1, []), (2, edits), (3, [(f"Yes,{own}/images/b.png", f"Yes,{own}/images/a.png")])):
        for old, new in changes:
            project.edit(f"{own}/questions.csv", old, new)
        project.snakemake("all", config="corpus=full benchmarks=[own] models=[served,random] run=own")
        assert project.journal_lines() == lines + 2 * count
    project.edit(f"{own}/questions.csv", "What is it?,B", "What is it?,C")
    refused = project.snakemake("all", config="corpus=full benchmarks=[own] models=[random] run=own", fails=True)
    assert (
        f"error: {own}/questions.csv: 1 fault\n  line 2, record a, field answer: expected one of the letters" in refused
    )
    for folder in ("src/punchline/benchmarks/own", own):
        shutil.rmtree(project.path / folder)
    assert "there is no benchmark 'own'. A run selects it; --config" in project.punchline("tables", fails=True)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("id,question,reply\n1,q,a\n", "missing column. Expected: id, question, answer; found: id, question, reply"),
        ("id,question,answer,image\n1,q,a,none.png\n", "field image: not a readable image"),
        ("id,question,answer,image\n1,q,a,https://x.org/page\n", "field image: not an image's address"),
    ],
)
def test_a_wrong_csv_is_named(project: Project, tmp_path: Path, content: str, error: str) -> None:
    (tmp_path / "data.csv").write_text(content)
    output = project.punchline("new-benchmark", "other", str(tmp_path / "data.csv"), fails=True)
    assert error in output and "Traceback" not in output
    assert not (project.path / "data/manifests/other").exists()


def test_satire_needs_no_images_for_its_baselines(project: Project) -> None:
    project.execute(SATIRE)
    always = {row["subset"]: row for row in project.rows("results/satire/detection.csv", model="always-yes")}
    counts = {"all": "2547", "stage 2": "283", "stage 3": "849", "stage 4": "1415"}
    assert {subset: row["n"] for subset, row in always.items()} == counts
    assert float(always["all"]["accuracy"]) == pytest.approx(1084 / 2547, abs=1e-6) == float(always["all"]["precision"])
