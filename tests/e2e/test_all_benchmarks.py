"""Every table of all five benchmarks, every condition, offline, with baselines; and where its numbers come from."""

from __future__ import annotations

import csv
import json

import pytest

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names

from .project import Project, golden

pytestmark = pytest.mark.e2e

CONFIG = "benchmarks=all models=[random,echo] judge=overlap scorers=[absent] conditions=all limit=3"
AUDITED = {
    "hummus": "results/hummus/table4.csv",
    "humorbench": "results/humorbench/leaderboard.csv",
    "pixelhumor": "results/pixelhumor/table2.csv",
    "stripcipher": "results/stripcipher/table6.csv",
    "yesbut": "results/yesbut/figure4.csv",
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project.copy(tmp_path_factory.mktemp("everything"))
    card = "engine: similarity\nmetric: cosine\nid: ./absent\nrevision: sha256:" + "0" * 64 + "\n"
    (project.path / "config/judge/absent.yaml").write_text(card)  # a scorer that runs nowhere: columns stay empty
    project.snakemake("all_tables", config=CONFIG)
    return project


def test_every_table_is_built_with_its_published_rows(everything: Project) -> None:
    for name in benchmark_names():
        with (everything.path / f"config/published/{name}.csv").open(newline="") as file:
            printed = {row["table"] for row in csv.DictReader(file)}
        for table in benchmarks.load(name).TABLES.values():
            with (everything.path / f"results/{table.file}").open(newline="") as file:
                kinds = {row["kind"] for row in csv.DictReader(file)}
            assert ("published" in kinds) == (table.name in printed), table.file
            for suffix in (".md", ".tex", ".lineage.json"):
                assert (everything.path / f"results/{table.file}").with_suffix(suffix).stat().st_size > 0
    assert everything.to_run("all_tables", config=CONFIG) == set()


def test_every_number_is_what_it_was(everything: Project) -> None:
    """Bytes of every CSV; a change of one is a change of a result and stands in a commit that says why."""
    assert golden(everything, "demo") == {}


@pytest.mark.parametrize("name", sorted(AUDITED))
def test_each_benchmarks_numbers_can_be_walked_back(everything: Project, name: str) -> None:
    found = everything.audit(AUDITED[name])
    assert (found["verdict"], found["findings"]) == ("equal", [])
    assert found["cells"]


def test_a_scorer_is_asked_about_texts_that_no_model_gave(everything: Project) -> None:
    found = everything.audit("results/hummus/table8.csv")
    assert (found["verdict"], found["findings"]) == ("equal", [])
    assert {"cosine's requests", "cosine's snapshot", "cosine's journal", "cosine's card"} <= {
        file["role"] for file in found["files"]
    }
    note = (everything.path / "results/hummus/table8.md").read_text()
    assert "cosine by absent failed for texts of the data" in note
    journal = everything.path / "data/responses/hummus/cosine/absent.jsonl"
    asked = json.loads(journal.read_text().splitlines()[0])["record"]["request_id"]
    (shown,) = json.loads(everything.punchline("show", asked))["requests"]
    assert (shown["item_id"], shown["response"]["state"]) == ("table8", "failed")


def test_another_condition_asks_nobody_again(everything: Project) -> None:
    lines = everything.journal_lines()
    fewer = CONFIG.replace("conditions=all", "conditions=[oracle]")
    everything.snakemake("results/yesbut/figure5.csv", config=fewer)
    assert everything.journal_lines() == lines
