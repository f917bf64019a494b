"""Every table of the benchmarks: as pinned (tests/golden), by pandas alone, audited; requests and scores as pinned."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.golden.compare import check
from tests.golden.group_by import TABLES, compared
from tests.golden.offline import UPSTREAM_PARTS
from tests.golden.runs import ABSENT, DEMO_PARTS, OF_DEMO, RANKED, RELEASED_PARTS, SMALL, demo, read_tables

from punchline.core import benchmark as benchmarks

from .project import Project


def parts(names: Iterable[str], *marks: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Parts of the pins, in long tests."""
    marks = (pytest.mark.long, pytest.mark.timeout(2400), *marks)
    return pytest.mark.parametrize("part", [pytest.param(name, marks=marks) for name in names])


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return demo(tmp_path_factory.mktemp("demo"))


@parts(DEMO_PARTS)
def test_nothing_of_the_demo_moved(part: str, demo_run: Project) -> None:
    check(part, DEMO_PARTS[part](demo_run))


@parts(UPSTREAM_PARTS, pytest.mark.real)
def test_nothing_of_the_real_data_moved(part: str, mirror: Path) -> None:
    check(part, UPSTREAM_PARTS[part](mirror))


@parts(RELEASED_PARTS, pytest.mark.real)
def test_nothing_of_the_released_runs_moved(part: str, released_run: Project) -> None:
    check(part, RELEASED_PARTS[part](released_run))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All tables of three demo items of each benchmark."""
    project = Project.copy(tmp_path_factory.mktemp("everything"))
    (project.path / "config/judge/absent.yaml").write_text(f"{ABSENT}metric: cosine\n")
    project.snakemake("all_tables", config=SMALL)
    return project


def test_every_table_is_built_in_every_format(everything: Project) -> None:
    for name in benchmarks.names():
        if (everything.path / f"data/demo/{name}").is_dir():  # of satire: tests/e2e/test_new_benchmark.py
            for table in benchmarks.load(name).TABLES.values():
                for suffix in (".csv", ".md", ".tex", ".lineage.json"):
                    assert (everything.path / f"results/{table.file}").with_suffix(suffix).stat().st_size > 0
    assert everything.wanted("all_tables", config=SMALL) == set()


def test_every_number_is_what_it_was(everything: Project) -> None:
    check("small/tables", read_tables(everything, without=OF_DEMO))


@pytest.mark.parametrize("name", TABLES)
def test_pandas_alone_gives_the_numbers_of_the_papers_tables(everything: Project, name: str) -> None:
    results, items = everything.path / "results", everything.path / "data/items"
    result = list(compared(results, items, name))
    assert result and all(ours == pytest.approx(by_hand, rel=1e-9) for _, ours, by_hand in result), result


@pytest.mark.parametrize("table", RANKED)
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
