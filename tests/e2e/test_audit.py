"""The audit of whole runs: what it lists, and consistent forgeries, which it detects alone or with a root digest."""

import fcntl
import json
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.torture.forgeries import answers_of, rewrite

from punchline.artifacts.lineage import Lineage, document, root_of
from punchline.files import sha256_file

from .conftest import SMALL, TABLE
from .project import Project


def test_an_untouched_run_is_equal_and_lists_its_files(small_run: Project) -> None:
    report = small_run.audit(TABLE)
    assert (report["verdict"], report["findings"]) == ("equal", [])
    roles = {file["role"] for file in report["files"]}
    expected = "raw annotation,image,picture,picture index,items,gold,requests,journal,snapshot,scores,table,lineage"
    assert roles >= set(expected.split(","))
    for file in report["files"]:
        assert set(file) == {"path", "sha256", "role"}
        assert not Path(file["path"]).is_absolute()
    assert small_run.punchline("audit", TABLE, "--expect", report["root"]).endswith("verdict  equal\n")


@pytest.mark.long
def test_the_root_is_the_same_in_another_folder_at_another_time(small_run: Project, tmp_path: Path) -> None:
    other = Project.copy(tmp_path / "elsewhere")
    other.snakemake(TABLE, config=SMALL)
    assert other.audit(TABLE)["root"] == small_run.audit(TABLE)["root"]
    assert (other.path / TABLE).read_bytes() == (small_run.path / TABLE).read_bytes()


MODELS = "models=[first,second,random] limit=6"


def forge(project: Project, model: str, texts: dict[str, str]) -> None:
    """Other texts in a model's journal, by request id, with valid hashes; its views are gone."""
    rewrite(project, model, lambda one: msgspec.structs.replace(one, text=texts.get(one.request_id, one.text)))


def texts(project: Project, model: str) -> dict[str, str]:
    """{request id: text} of a model's answers."""
    return {request_id: answer.text for request_id, answer in answers_of(model, project).items() if answer.text}


def links(found: dict[str, Any]) -> set[str]:
    return {finding["link"] for finding in found["findings"]}


def lineage(project: Project) -> Lineage:
    content = (project.path / TABLE).with_suffix(".lineage.json").read_bytes()
    return msgspec.json.decode(content, type=Lineage)


def score(project: Project, model: str) -> float:
    return float(project.rows(TABLE, model=model)[0]["panel_acc"])


@pytest.fixture(scope="module")
def replayed(small_run: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two models whose answers were released, one with all panels in order, the other with none, and a baseline."""
    project = small_run.copied(tmp_path_factory.mktemp("forgery"))
    project.replay_labels()
    project.snakemake(TABLE, config=MODELS)
    assert (score(project, "first"), score(project, "second")) == (1.0, 0.0)
    assert project.audit(TABLE)["verdict"] == "equal"
    return project


@pytest.fixture
def own(replayed: Project, tmp_path: Path) -> Project:
    return replayed.copied(tmp_path / "p")


def test_released_and_computed_answers_are_read_again(own: Project) -> None:
    forge(own, "second", texts(own, "first"))
    forge(own, "random", dict.fromkeys(texts(own, "random"), "1"))
    own.snakemake(TABLE, config=MODELS)
    assert score(own, "second") == 1.0  # everything after the journal follows from it
    report = own.audit(TABLE)
    assert links(report) == {"released answers", "computed answers"}
    assert any("rebuilt {'text': '9, 8, 7'}" in finding["what"] for finding in report["findings"])


PRIOR = "".join(f"  {task}_{k}: The cat sleeps.\n" for k in (1, 2, 3) for task in ("description", "contradiction"))
COMPUTED = {  # a table and its run; journals of its passes
    "results/humorbench/leaderboard.csv": (
        "benchmarks=[humorbench] models=[echo] conditions=[default]",
        ("humorbench/echo", "humorbench/judge/overlap"),
    ),
    "results/yesbut/table3.csv": (
        "benchmarks=[yesbut] models=[same] conditions=[default,chained]",
        ("yesbut/same", "yesbut/chained/same", "yesbut/judge/overlap"),
    ),
}


@pytest.mark.parametrize("target", COMPUTED)
def test_what_costs_nothing_is_asked_again_in_every_pass(fresh: Project, target: str) -> None:
    """Explainers, one that is asked about its own descriptions, and a judge that counts words."""
    (fresh.path / "config/model/same.yaml").write_text(f"engine: baselines\nbaseline: prior\nanswers:\n{PRIOR}")
    chosen, journals = COMPUTED[target]
    config = f"{chosen} judge=overlap scorers=null limit=2"
    fresh.snakemake(target, config=config)
    report = fresh.audit(target)
    assert (report["verdict"], report["recorded"]) == ("equal", [])
    for journal in journals:
        folder, _, who = f"data/responses/{journal}".rpartition("/")
        rewrite(fresh, who, lambda one: msgspec.structs.replace(one, text=f"{one.text} PASS"), folder)
        fresh.snakemake(target, config=config)
        (finding,) = (one for one in fresh.audit(target)["findings"] if one["path"] == f"{folder}/{who}.jsonl")
        assert finding["link"] == "computed answers" and re.search(r"records differ, first \S+", finding["what"])


def test_a_lineage_cannot_switch_its_own_checks_off(small: Project) -> None:
    path = (small.path / TABLE).with_suffix(".lineage.json")
    result = lineage(small)
    corpus = msgspec.structs.replace(result.selection.corpus, drawn=False)
    selection = msgspec.structs.replace(result.selection, corpus=corpus)
    forged = msgspec.structs.replace(result, selection=selection)
    path.write_bytes(document(msgspec.structs.replace(forged, root=root_of(forged))))
    assert "corpus" in links(small.audit(TABLE))
    forged = msgspec.structs.replace(result, files=result.files[::2])
    path.write_bytes(document(msgspec.structs.replace(forged, root=root_of(forged))))
    assert "the lineage does not name it" in small.audit(TABLE)["findings"][0]["what"]


def test_a_selection_of_items_is_named_and_never_comparable(own: Project) -> None:
    two = (own.path / "data/items/pixelhumor/selected.csv").read_text().splitlines()[1:3]
    (own.path / "config/best.csv").write_text("\n".join(["comic_id", *(line.split(",")[0] for line in two), ""]))
    own.snakemake(TABLE, config="models=[first] subset=config/best.csv")
    ours = own.rows(TABLE, kind="measured")
    assert {row["subset"] for row in ours} == {"best", "best: multi-panel"}
    assert {row["comparable"] for row in own.rows(TABLE)} == {"no"}
    for row in ours:
        assert re.fullmatch(r"subset config/best\.csv \(sha256 [0-9a-f]{16}…\): 2 of 73 items(; .*)?", row["note"])
    note = (own.path / TABLE).with_suffix(".md").read_text()
    assert "- Items: 2 of 73 (subset config/best.csv (sha256 " in note
    assert own.audit(TABLE)["verdict"] == "equal"


def test_an_audit_needs_an_idle_folder_all_files_and_a_lineage(small: Project) -> None:
    with (small.path / ".punchline/running").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        output = small.punchline("audit", TABLE, fails=True)
    assert "a run is at work in this folder" in output and "DIFFERS" not in output
    (small.path / "data/requests/pixelhumor.parquet").unlink()
    assert "data/requests/pixelhumor.parquet" in {finding["path"] for finding in small.audit(TABLE)["findings"]}
    (small.path / TABLE).with_suffix(".lineage.json").unlink()
    assert f"snakemake --cores all {TABLE}" in small.punchline("audit", TABLE, fails=True)
    small.snakemake(TABLE, config=SMALL)
    assert small.audit(TABLE)["verdict"] == "equal"


OVERVIEWS = ("cost", "discrepancies", "pixelhumor/unread", "pixelhumor/ranks", "pixelhumor/availability")


@pytest.mark.long
def test_overviews_are_made_again(own: Project) -> None:
    """They hold scores and counts, and have no lineage; a forged provenance file does not help."""
    paths = [f"results/{name}.csv" for name in OVERVIEWS]
    config = "models=[first,second,reading-order] limit=6"  # the last looks at pictures
    own.snakemake(*paths, config=config)
    roots = {name: own.audit(name) for name in OVERVIEWS}
    assert {found["verdict"] for found in roots.values()} == {"equal"}
    own.punchline("audit", "cost", "--expect", roots["discrepancies"]["root"], fails=True)
    for path, name in zip(paths, OVERVIEWS, strict=True):
        of_tables = name in ("pixelhumor/unread", "pixelhumor/ranks")
        record = own.path / ("results/pixelhumor/tables.made.json" if of_tables else "results/cost.csv.made.json")
        honest = {file: file.read_bytes() for file in (own.path / path, record)}
        (own.path / path).write_bytes(honest[own.path / path] + b"one more\n")
        result = json.loads(honest[record])
        result["outputs"][path] = sha256_file(own.path / path)
        record.write_text(json.dumps(result))
        assert links(own.audit(name)) == {"overview"}, name
        for file, content in honest.items():
            file.write_bytes(content)
    forge(own, "second", texts(own, "first"))
    own.snakemake(*paths, config=config)
    assert links(own.audit("discrepancies")) == {"released answers"}


def test_another_version_of_a_library_is_named(own: Project) -> None:
    """Installed here under another version, as its distribution says; a signature names it, so scores differ too."""
    libraries = lineage(own).libraries
    assert isinstance(libraries, dict)
    described = own.path / "src/jiwer-9.9.9.dist-info/METADATA"
    described.parent.mkdir()
    described.write_text("Metadata-Version: 2.1\nName: jiwer\nVersion: 9.9.9\n")
    report = own.audit(TABLE)
    assert report["libraries"] == [f"jiwer {libraries['jiwer']}, here 9.9.9"] and "scores" in links(report)


def test_other_code_is_named_and_kept_digests_are_not_believed(own: Project) -> None:
    assert {"score", "table", "requests"} <= lineage(own).code.keys()
    cache, source = own.path / ".punchline/digests.json", own.path / "src/punchline/score.py"
    time.sleep(2.1)  # a digest of what has just changed is not kept
    own.punchline("tables")  # which keeps the digests of what it looks at
    kept = json.loads(cache.read_bytes())
    wrong = {name: [stat, "0" * 64] for name, (stat, _) in kept.items() if name.startswith("sha256:")}
    cache.write_text(json.dumps(kept | wrong))
    source.write_text(source.read_text() + "\nUNUSED = 1\n")
    own.edit("config/model/random.yaml", "# Chance", "# A chance")  # neither a comment nor another table's value counts
    own.edit("config/published/pixelhumor.csv", ",table3,G", ",table3,F")
    report = own.audit(TABLE)
    assert (report["verdict"], report["code"], bool(wrong)) == ("equal", ["score", "shortcuts", "table"], True)
