"""Every table of all five benchmarks, every condition, offline, with baselines; and where its numbers come from."""

import json

import pytest
from tests.golden.compare import check
from tests.golden.group_by import TABLES, compared
from tests.golden.runs import SMALL, SMALL_PARTS, small

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names

from .project import Project

AUDITED = ("hummus/table4", "humorbench/leaderboard", "pixelhumor/table2", "stripcipher/table6", "yesbut/figure4")


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return small(tmp_path_factory.mktemp("everything"))


def test_every_table_is_built_with_its_published_rows(everything: Project) -> None:
    for name in benchmark_names():
        file = f"config/published/{name}.csv"
        printed = {row["table"] for row in everything.rows(file)} if (everything.path / file).is_file() else set()
        if not (everything.path / f"data/demo/{name}").is_dir():
            continue  # satire has no demo data: tests/e2e/test_new_benchmark.py builds its table
        for table in benchmarks.load(name).TABLES.values():
            kinds = {row["kind"] for row in everything.rows(f"results/{table.file}")}
            assert ("published" in kinds) == (table.name in printed), table.file
            for suffix in (".md", ".tex", ".lineage.json"):
                assert (everything.path / f"results/{table.file}").with_suffix(suffix).stat().st_size > 0
    assert everything.to_run("all_tables", config=SMALL) == set()


def test_every_number_is_what_it_was(everything: Project) -> None:
    check(SMALL_PARTS, everything)


@pytest.mark.parametrize("name", TABLES)
def test_pandas_alone_gives_the_numbers_of_the_papers_tables(everything: Project, name: str) -> None:
    results, items = everything.path / "results", everything.path / "data/items"
    result = list(compared(results, items, name))
    assert result and all(ours == pytest.approx(by_hand, rel=1e-9) for _, ours, by_hand in result), result


@pytest.mark.parametrize("table", AUDITED)
def test_each_benchmarks_numbers_can_be_walked_back(everything: Project, table: str) -> None:
    report = everything.audit(f"results/{table}.csv")
    assert (report["verdict"], report["findings"]) == ("equal", [])
    assert report["cells"]


def test_a_scorer_is_asked_about_texts_that_no_model_gave(everything: Project) -> None:
    report = everything.audit("results/hummus/table8.csv")
    assert (report["verdict"], report["findings"]) == ("equal", [])
    roles = {file["role"] for file in report["files"]}
    assert roles >= {f"cosine's {what}" for what in ("requests", "snapshot", "journal", "card")}
    note = (everything.path / "results/hummus/table8.md").read_text()
    assert "cosine by absent failed for texts of the data" in note
    journal = everything.path / "data/responses/hummus/cosine/absent.jsonl"
    requests = json.loads(journal.read_text().splitlines()[0])["record"]["request_id"]
    (page,) = json.loads(everything.punchline("show", requests))["requests"]
    assert (page["item_id"], page["response"]["state"]) == ("table8", "failed")


def test_another_condition_asks_nobody_again(everything: Project) -> None:
    lines = everything.journal_lines()
    fewer = SMALL.replace("conditions=all", "conditions=[oracle]")
    everything.snakemake("results/yesbut/figure5.csv", config=fewer)
    assert everything.journal_lines() == lines
