"""HumorBench's complete runs as released, by the one documented command: what of the paper comes out."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from .project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.real]

RUN = "humorbench-released"
RESULTS = f"results/runs/{RUN}/humorbench"
PASSED = {  # of 499, in the complete runs
    "claude-3-7-sonnet": 401,
    "o3": 432,
    "o3-mini": 319,
    "o4-mini": 386,
    "o1": 393,
    "gpt-4o": 372,
    "gemini-1.5-pro": 343,
    "gemini-2.5-pro": 399,
    "llama-4-maverick": 333,
    "llama-4-scout": 316,
    "qwen2.5-72b": 305,
    "claude-3-7-sonnet-thinking-1024": 417,
    "claude-3-7-sonnet-thinking-2048": 414,
    "claude-3-7-sonnet-thinking-4096": 404,
    "o4-mini-low": 376,
    "o4-mini-medium": 383,
    "o4-mini-high": 388,
}
SUMMARY = {  # ours: the authors' summary of the same run
    "claude-3-7-sonnet": "Claude 3.7 Sonnet",
    "o3": "o3",
    "o4-mini": "o4-mini",
    "o1": "o1",
    "gpt-4o": "gpt-4o",
    "llama-4-maverick": "Llama 4 Maverick",
    "qwen2.5-72b": "Qwen 2.5 72B",
}
HARD = {"o3": 46, "gemini-2.5-pro": 27, "claude-3-7-sonnet": 21, "o1": 21, "gpt-4o": 19, "qwen2.5-72b": 13}


@pytest.fixture(scope="module")
def made(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    if not (mirror / "humorbench_runs").is_dir():
        pytest.skip(f"REAL DATA ABSENT: no humorbench_runs/ in {mirror}")
    project = Project.copy(tmp_path_factory.mktemp("runs"))
    config = f"run={RUN} mirror={mirror}"
    project.snakemake("all_tables", config=config)
    return project, config


def rows(made: tuple[Project, str], table: str, kind: str = "measured") -> list[dict[str, str]]:
    with (made[0].path / RESULTS / f"{table}.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["kind"] == kind]


def by_model(made: tuple[Project, str], table: str, kind: str = "measured", **keys: str) -> dict[str, dict[str, str]]:
    chosen = [row for row in rows(made, table, kind) if all(row[key] == value for key, value in keys.items())]
    return {row["model"].removesuffix("-released").removesuffix(" (released summary)"): row for row in chosen}


def test_the_leaderboard(made: tuple[Project, str]) -> None:
    ours = by_model(made, "leaderboard")
    assert {name: (row["n"], float(row["accuracy"])) for name, row in ours.items()} == {
        name: ("499", passed / 499) for name, passed in PASSED.items()
    }
    assert {row["comparable"] for row in ours.values()} == {"yes"}
    stated = by_model(made, "leaderboard", "published")
    assert (float(stated["o3"]["accuracy"]), len(stated)) == (0.865731, 13 + 5 - 2)  # o3, Claude: printed, summed up
    columns = ("accuracy", "accuracy_caption_all", "accuracy_caption_some", "cost")
    for name, summary in SUMMARY.items():
        for column in columns:
            assert float(ours[name][column]) == pytest.approx(float(stated[summary][column]), rel=1e-5), (name, column)
    assert {name for name, row in ours.items() if not row["cost"]} == {  # whose tokens were not counted
        *("gemini-2.5-pro", "o4-mini-low", "o4-mini-medium", "o4-mini-high"),
    }


def test_printed_rows_stand_beside_ours(made: tuple[Project, str]) -> None:
    with (made[0].path / RESULTS / "leaderboard.csv").open(newline="") as file:
        names = [row["model"] for row in csv.DictReader(file)]
    for ours, printed in (
        ("o3-released", "o3"),
        ("claude-3-7-sonnet-released", "Claude 3.7 Sonnet"),
        ("claude-3-7-sonnet-thinking-1024-released", "Claude 3.7 Sonnet, thinking budget 1024"),
    ):
        assert names.index(printed) == names.index(ours) + 1


def test_table1(made: tuple[Project, str]) -> None:
    ours, printed = by_model(made, "table1"), by_model(made, "table1", "published")
    exact = {"gpt-4o": "GPT-4o", "gemini-2.5-pro-preview-03-25": "Gemini 2.5 Pro"}
    for name, of in exact.items():
        assert (ours[name]["n"], ours[name]["judge"]) == ("100", "gpt-4o")
        for column in ("accuracy", "fpr", "fnr"):
            assert f"{float(ours[name][column]):.4f}" == printed[of][column], (name, column)
    llama = ours["meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"]
    assert [float(llama[column]) for column in ("accuracy", "fpr", "fnr")] == pytest.approx([0.73, 21 / 53, 6 / 47])
    claude = ours["claude-3-7-sonnet-latest"]
    assert (claude["n"], claude["accuracy"], float(claude["human_pass"])) == ("100", "", 0.79)
    note = (made[0].path / RESULTS / "table1.md").read_text()
    assert "its verdicts were not released" in note


def test_table2(made: tuple[Project, str]) -> None:
    ours, printed = by_model(made, "table2", accuracies="authors"), by_model(made, "table2", "published")
    assert {name: int(row["n"]) for name, row in ours.items()} == {
        "GPQA Diamond": 9,
        "ARC-AGI (with o-series)": 9,
        "ARC-AGI (w/o o-series)": 6,
        "LM Arena ELO": 7,
    }
    for name, row in ours.items():
        for column in ("rho", "p_value"):
            assert f"{float(row[column]):.3f}" == printed[name][column], (name, column)
    assert len(by_model(made, "table2", accuracies="measured")) == 4


def test_table3(made: tuple[Project, str]) -> None:
    shares = {
        labels: {row["category"]: float(row["entire_set"]) for row in rows(made, "table3") if row["labels"] == labels}
        for labels in ("41cacd4", "current")
    }
    counts = {labels: [round(499 * share) for share in of.values()] for labels, of in shares.items()}
    assert counts == {"41cacd4": [122, 95, 128], "current": [119, 181, 78]}
    printed = {row["category"]: row["entire_set"] for row in rows(made, "table3", "published")}
    assert {name: f"{share:.3f}" for name, share in shares["41cacd4"].items()} == printed


def test_table4(made: tuple[Project, str]) -> None:
    for definition, n in (("elements", 100), ("released", 100), ("captions", 168)):
        ours = by_model(made, "table4", definition=definition)
        assert len(ours) == 17 and {row["n"] for row in ours.values()} == {str(n)}
    released = by_model(made, "table4", definition="released")
    assert {name: float(released[name]["passed"]) for name in HARD} == HARD


def test_table5(made: tuple[Project, str]) -> None:
    rates = {row["cartoon"]: (int(row["n"]), float(row["pass_rate"])) for row in rows(made, "table5")}
    assert {n for n, _ in rates.values()} == {17} and len(rates) == 8
    assert rates["CC123065"][1] == 0 and rates["NYCC #687"][1] == 7 / 17


def test_figures_5_and_7(made: tuple[Project, str], mirror: Path) -> None:
    folder = mirror / "humorbench_runs/cc99276/analysis/runs"
    stated = {kind: by_model(made, kind, "published") for kind in ("figure5", "figure7")}
    names = {"claude": "Claude 3.7 Sonnet, thinking budget {}", "qwen": "Qwen Plus, thinking budget {}"}
    seen = 0
    for kind in ("claude", "qwen", "openai_effort"):
        for run in json.loads((folder / f"{kind.removesuffix('_experiment')}_experiment/data.json").read_text()):
            *model, last = run["display_name"].split()
            name = names[kind].format(last) if kind in names else f"{model[0]}, {last} effort"
            row, seen = stated["figure5"][name], seen + 1
            assert float(row["accuracy"]) == pytest.approx(run["pass_rate_per_row"], rel=1e-5)
            assert float(row["output_tokens"]) == pytest.approx(run["mean_output_tokens"], rel=1e-5)
            if kind != "openai_effort":
                assert stated["figure7"][name]["output_tokens"] == row["output_tokens"]
    assert seen == 18
    ours = by_model(made, "figure5")
    for name, budget in (
        ("claude-3-7-sonnet", 0),
        *((f"claude-3-7-sonnet-thinking-{b}", b) for b in (1024, 2048, 4096)),
    ):
        summary = stated["figure5"][f"Claude 3.7 Sonnet, thinking budget {budget}"]
        assert ours[name]["thinking_budget"] == str(budget)
        for column in ("accuracy", "output_tokens"):
            assert float(ours[name][column]) == pytest.approx(float(summary[column]), rel=1e-5)
    assert {row["within_budget"] for row in rows(made, "figure7")} == {"1.0"}


def test_it_is_made_once_and_audits(made: tuple[Project, str]) -> None:
    project, config = made
    assert project.to_run("all_tables", config=config) == set()
    for table in ("table1", "figure5"):
        found = project.audit(f"{RESULTS}/{table}.csv")
        assert (found["verdict"], found["findings"]) == ("equal", [])
        paths = {file["path"] for file in found["files"]}
        assert sum(path.startswith("data/raw/humorbench_runs/816fe32/runs/") for path in paths) == 17
    assert any("816fe325b18ba617b5561a77564cf9edd50dc055" in line for line in found["sources"])


def test_a_released_run_that_was_changed_is_found(made: tuple[Project, str], tmp_path: Path) -> None:
    shutil.copytree(made[0].path, tmp_path / "p", symlinks=True)
    project = Project(tmp_path / "p")
    (file,) = (project.path / "data/raw/humorbench_runs/816fe32/runs/main").glob("*_o3_explainer*.csv")
    content = file.read_bytes()
    assert b",FAIL," in content
    file.write_bytes(content.replace(b",FAIL,", b",PASS,", 1))
    found = project.audit(f"{RESULTS}/leaderboard.csv")
    assert found["verdict"] == "differs"
    assert any(file.name in finding["what"] + finding["path"] for finding in found["findings"])


def test_a_report_of_them_shows_who_answered_what(made: tuple[Project, str]) -> None:
    project, config = made
    project.snakemake("report", config=config)
    root = project.path / f"results/runs/{RUN}/report"
    said = (root / "tables/humorbench/leaderboard.html").read_text()
    assert said.count("<tr class=") == 35 and "not comparable with ours" not in said
    assert "o3-released" in (root / "index.html").read_text()
    assert len(list((root / "answers/humorbench").iterdir())) == 17


def test_without_the_runs_nothing_of_them_is_fetched(mirror: Path, tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "p")
    project.snakemake("fetch", config=f"benchmarks=[humorbench] corpus=full models=[echo] mirror={mirror}")
    assert not (project.path / "data/raw/humorbench_runs").exists()
