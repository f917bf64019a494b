"""HumorBench's complete runs as released, by the one documented command: what of the paper comes out."""

import itertools
from pathlib import Path

import pandas as pd
import pytest
from tests.golden.runs import RELEASED

from .project import Project

pytestmark = [pytest.mark.long, pytest.mark.real]

RESULTS = f"results/runs/{RELEASED}/humorbench"


def test_it_is_made_once_and_audits(released_run: Project, mirror: Path) -> None:
    project = released_run
    assert project.wanted("all_tables", config=f"run={RELEASED} mirror={mirror}") == set()
    for table in ("table1", "figure5"):
        report = project.audit(f"{RESULTS}/{table}.csv")
        assert (report["verdict"], report["findings"]) == ("equal", [])
        paths = {file["path"] for file in report["files"]}
        assert sum(path.startswith("data/raw/humorbench_runs/816fe32/runs/") for path in paths) == 17
    assert "its verdicts were not released" in (project.path / RESULTS / "table1.md").read_text()
    assert any("816fe325b18ba617b5561a77564cf9edd50dc055" in line for line in report["sources"])


def test_items_to_look_at(released_run: Project) -> None:
    items = pd.read_csv(released_run.path / RESULTS / "items.csv", keep_default_na=False)
    flags = [(flag, len([*rows])) for flag, rows in itertools.groupby(items.flag[items.rule == "paper"])]
    assert flags == [("none_right", 7), ("negative", 58), ("all_right", 171), ("", 263)]
    ahead = "o3-released is ahead on 36, claude-3-7-sonnet-thinking-1024-released on 21."
    notes = (released_run.path / RESULTS / "leaderboard.md").read_text()
    assert f"57 of 499 items separate the best two in accuracy: {ahead}" in notes
    assert "Not checked against people" not in notes


def test_judged_accuracy_is_corrected(released_run: Project) -> None:
    rows = pd.read_csv(released_run.path / RESULTS / "corrected.csv").query("rule == 'released'")
    rows["model"] = rows.model.str.removesuffix("-released")
    labeled = rows[rows.n_labeled > 0].set_index(["model", "method"])[["judged", "labeled", "corrected"]].round(3)
    assert labeled.fillna(0).T.to_dict("list") == {
        ("claude-3-7-sonnet", "not testable"): [0.804, 0.79, 0],
        ("gpt-4o", "ppi++"): [0.745, 0.73, 0.741],
        ("gpt-4o", "rogan-gladen"): [0.745, 0.73, 0.749],
        ("gemini-2.5-pro", "ppi++"): [0.8, 0.8, 0.819],
        ("gemini-2.5-pro", "rogan-gladen"): [0.8, 0.8, 0.835],
        ("llama-4-maverick", "ppi++"): [0.667, 0.47, 0.487],
        ("llama-4-maverick", "rogan-gladen"): [0.667, 0.47, 0.569],
    }
    assert set(rows.method[rows.n_labeled == 0]) == {"not testable"} and len(rows) == 20
    assert "llama-4-maverick-released" in released_run.punchline("judges", "--run", RELEASED)


def test_without_the_runs_nothing_of_them_is_fetched(mirror: Path, fresh: Project) -> None:
    fresh.snakemake("fetch_all", config=f"benchmarks=[humorbench] corpus=full models=[echo] mirror={mirror}")
    assert not (fresh.path / "data/raw/humorbench_runs").exists()
