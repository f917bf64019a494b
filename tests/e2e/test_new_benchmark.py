"""docs/new-benchmark.md makes a benchmark: its files, and its commands, are taken from the page."""

import re
import shlex
from pathlib import Path

import pytest

from .project import ROOT, Project

pytestmark = pytest.mark.e2e

PAGE = (ROOT / "docs/new-benchmark.md").read_text()
FILES = dict(re.findall(r"^`([\w/.]+)`.*?\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project.copy(tmp_path_factory.mktemp("puns"))
    for name, text in FILES.items():
        path = project.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        assert not path.exists(), f"{name}: a new benchmark changes no file"
        path.write_text(text)
    return project


def test_the_page_holds_a_whole_benchmark() -> None:
    code = [line for name, text in FILES.items() if name.endswith(".py") for line in text.split("\n") if line.strip()]
    assert {Path(name).name for name in FILES} >= {
        "__init__.py",
        "data.py",
        "scoring.py",
        "annotations.csv",
        "puns.csv",
    }
    assert len(code) < 60


def test_its_commands_run_and_its_tables_are_audited(project: Project) -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    for line in commands.strip().split("\n"):
        program, *arguments = shlex.split(line.replace("--cores all", "--cores 2"))
        said = project.run("python", "-m", {"punchline": "punchline.cli"}.get(program, program), *arguments).stdout
        if program == "punchline":
            assert "equal" in said
    for place, n in (("results/puns", "2"), ("results/runs/real/puns", "4")):
        ours, paper = project.rows(f"{place}/accuracy.csv")
        assert (ours["model"], ours["kind"], ours["n"], paper["model"]) == ("random", "baseline", n, "Three people")
        assert 0 <= float(ours["accuracy"]) <= 1


def test_a_word_of_its_prompt_is_asked_anew(project: Project) -> None:
    config = "benchmarks=[puns] models=[random]"
    project.snakemake("results/puns/accuracy.csv", config=config)
    project.snakemake("report", config=config)  # its docstring is one sentence
    assert "Three people" in (project.path / "results/report/tables/puns/accuracy.html").read_text()
    prompt = project.path / "src/punchline/benchmarks/puns/prompts/pun.txt"
    prompt.write_text(prompt.read_text().replace("Is this sentence", "Is that sentence"))
    wanted = project.wanted("results/puns/accuracy.csv", config=config)
    assert wanted == {"prepare puns", "respond random all", "score puns random", "tables puns"}


def test_published_values_and_demo_data_are_optional(project: Project) -> None:
    (project.path / "config/published/puns.csv").unlink()
    project.snakemake("results/runs/real/puns/accuracy.csv", config="run=real")
    rows = project.rows("results/runs/real/puns/accuracy.csv")
    assert [(row["model"], row["n"]) for row in rows] == [("random", "4")]
    (project.path / "data/demo/puns/puns.csv").unlink()
    said = project.snakemake("results/puns/accuracy.csv", config="benchmarks=[puns] models=[random]", fails=True)
    assert said.strip().endswith("error: data/demo/puns: no demo data for puns: use corpus=full")
    assert "Traceback" not in said
