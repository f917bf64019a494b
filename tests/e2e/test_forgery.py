"""Forgeries that are consistent with themselves: what the audit alone tells, and what a statement tells."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from punchline.core.journal import Journal, parse_journal
from punchline.core.records import Response
from punchline.project.lineage import Lineage, document, root_of

from .conftest import SMALL, TABLE
from .project import Project

pytestmark = pytest.mark.e2e

MODELS = "models=[first,second] limit=6"


def answers(project: Project, model: str) -> list[Response]:
    path = project.path / f"data/responses/pixelhumor/{model}.jsonl"
    return list(parse_journal(path.read_bytes(), file=path)[0].values())


def forge(project: Project, model: str, texts: dict[str, str]) -> None:
    """Other texts in a model's journal, by request id, with valid hashes; its views are gone."""
    path = project.path / f"data/responses/pixelhumor/{model}.jsonl"
    forged = [msgspec.structs.replace(a, text=texts.get(a.request_id, a.text)) for a in answers(project, model)]
    path.unlink()
    with Journal(path) as journal:
        for answer in forged:
            journal.append(answer)
    for view in path.parent.glob(f"{model}.parquet*"):
        view.unlink()


def links(found: dict[str, Any]) -> set[str]:
    return {finding["link"] for finding in found["findings"]}


def rows(project: Project, table: str = TABLE) -> list[dict[str, str]]:
    with (project.path / table).open(newline="") as file:
        return list(csv.DictReader(file))


def score(project: Project, model: str) -> float:
    return next(float(row["panel_acc"]) for row in rows(project) if row["model"] == model)


@pytest.fixture(scope="module")
def replayed(small_run: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two models whose answers were released: one has all panels in order, the other none."""
    folder = tmp_path_factory.mktemp("forgery") / "p"
    shutil.copytree(small_run.path, folder, symlinks=True)
    project = Project(folder)
    project.replay_labels()
    project.snakemake(TABLE, config=MODELS)
    assert (score(project, "first"), score(project, "second")) == (1.0, 0.0)
    assert project.audit(TABLE)["verdict"] == "equal"
    return project


@pytest.fixture
def own(replayed: Project, tmp_path: Path) -> Project:
    shutil.copytree(replayed.path, tmp_path / "p", symlinks=True)
    return Project(tmp_path / "p")


def test_released_answers_are_read_again(own: Project) -> None:
    forge(own, "second", {answer.request_id: answer.text or "" for answer in answers(own, "first") if answer.text})
    own.snakemake(TABLE, config=MODELS)
    assert score(own, "second") == 1.0  # everything after the journal follows from it
    found = own.audit(TABLE)
    assert links(found) == {"released answers"}
    assert "released '9, 8, 7', journalled" in found["findings"][0]["what"]


def test_the_demo_is_drawn_again(small: Project) -> None:
    labels = "data/raw/demo/pixelhumor/objective_label.csv"
    small.rewrite_raw(labels, (small.path / labels).read_bytes().replace(b"1, 2", b"2, 1", 1))
    small.snakemake(TABLE, config=SMALL)
    found = small.audit(TABLE)
    assert links(found) == {"source"} and f"{labels} is not what the project draws" in found["findings"][0]["what"]


def test_a_lineage_cannot_switch_its_own_checks_off(small: Project) -> None:
    path = (small.path / TABLE).with_suffix(".lineage.json")
    made = msgspec.json.decode(path.read_bytes(), type=Lineage)
    corpus = msgspec.structs.replace(made.selection.corpus, drawn=False)
    selection = msgspec.structs.replace(made.selection, corpus=corpus)
    root = root_of(made.benchmark, made.table, selection, made.models, made.cells, made.files)
    path.write_bytes(document(msgspec.structs.replace(made, selection=selection, root=root)))
    assert "corpus" in links(small.audit(TABLE))
    fewer = made.files[::2]
    root = root_of(made.benchmark, made.table, made.selection, made.models, made.cells, fewer)
    path.write_bytes(document(msgspec.structs.replace(made, files=fewer, root=root)))
    assert "the lineage does not name it" in small.audit(TABLE)["findings"][0]["what"]


def test_a_selection_of_items_is_named_and_never_comparable(own: Project) -> None:
    two = (own.path / "data/items/pixelhumor/selected.csv").read_text().splitlines()[1:3]
    (own.path / "config/best.csv").write_text("\n".join(["comic_id", *(line.split(",")[0] for line in two), ""]))
    own.snakemake(TABLE, config="models=[first] subset=config/best.csv")
    ours = [row for row in rows(own) if row["kind"] == "measured"]
    assert {row["subset"] for row in ours} == {"best", "best: multi-panel"}
    assert {row["comparable"] for row in rows(own)} == {"no"}
    for row in ours:
        assert re.fullmatch(r"subset config/best\.csv \(sha256 [0-9a-f]{16}…\): 2 of 73 items(; .*)?", row["note"])
    note = (own.path / TABLE).with_suffix(".md").read_text()
    assert "- Items: 2 of 73 (subset config/best.csv (sha256 " in note
    assert own.audit(TABLE)["verdict"] == "equal"
    own.snakemake(TABLE, config=MODELS)
    assert {row["subset"] for row in rows(own) if row["kind"] == "measured"} == {"all", "multi-panel"}
    assert "- Items: 6 of 73 (limit 6)." in (own.path / TABLE).with_suffix(".md").read_text()


def test_a_statement_tells_what_the_audit_alone_cannot(small: Project) -> None:
    """What the paper prints stands in the project alone: changed with all that follows, it is equal."""
    said = small.punchline("attest", TABLE)
    small.punchline("attest", "table8", "-o", "table8.json")
    statement = small.path / "table8.json"
    assert statement.read_text() == said
    stated = json.loads(said)
    assert {subject["name"].rsplit(".", 1)[1] for subject in stated["subject"]} == {"csv", "md", "tex"}
    assert f"equal    what {statement.name} states" in small.punchline("audit", TABLE, "--attestation", "table8.json")
    printed = small.path / "config/published/pixelhumor.csv"
    printed.write_text(
        re.sub(r"(?m)^(pixelhumor,table8,GPT-4o,[^,]*,panel_acc,)[^,]*", r"\g<1>0.999", printed.read_text())
    )
    small.snakemake(TABLE, config=SMALL)
    assert "0.999" in (small.path / TABLE).read_text() and small.audit(TABLE)["verdict"] == "equal"
    said = small.punchline("audit", TABLE, "--attestation", "table8.json", fails=True)
    assert "DIFFERS  attestation: table8.json: subject results/table8.csv: stated" in said
    assert "internalParameters.root: stated" in said
    statement.write_text('{"_type": "https://in-toto.io/Statement/v1"}')
    said = small.punchline("audit", TABLE, "--attestation", "table8.json", fails=True)
    assert "no statement about a table" in said and "Traceback" not in said


def test_a_baselines_answers_are_computed_again(small: Project) -> None:
    forge(small, "random", {answer.request_id: "1" for answer in answers(small, "random") if answer.text})
    small.snakemake(TABLE, config=SMALL)
    found = small.audit(TABLE)
    assert found["verdict"] == "differs"
    assert {finding["link"] for finding in found["findings"]} == {"computed answers"}


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_a_statement_is_signed_by_a_plain_key_as_documented(small: Project, tmp_path: Path) -> None:
    small.punchline("attest", TABLE, "-o", "table8.intoto.json")
    key, signers = tmp_path / "key", tmp_path / "signers"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signers.write_text(f"me {key.with_suffix('.pub').read_text()}")
    small.run("ssh-keygen", "-Y", "sign", "-n", "punchline", "-f", str(key), "table8.intoto.json")

    def verified() -> bool:
        check = ["ssh-keygen", "-Y", "verify", "-n", "punchline", "-f", str(signers), "-I", "me", "-s"]
        file = small.path / "table8.intoto.json"
        with file.open("rb") as content:
            return subprocess.run([*check, f"{file}.sig"], stdin=content, check=False).returncode == 0

    assert verified()
    file = small.path / "table8.intoto.json"
    file.write_bytes(file.read_bytes().replace(b"table8", b"table9", 1))
    assert not verified()


def test_there_is_no_audit_while_a_run_is_at_work(small: Project) -> None:
    with (small.path / ".punchline/running").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        said = small.punchline("audit", TABLE, fails=True)
    assert "a run is at work in this folder" in said and "DIFFERS" not in said
    assert small.audit(TABLE)["verdict"] == "equal"


def test_a_lost_lineage_is_made_again(small: Project) -> None:
    path = (small.path / TABLE).with_suffix(".lineage.json")
    path.unlink()
    assert f"snakemake --cores all {TABLE}" in small.punchline("audit", TABLE, fails=True)
    small.snakemake(TABLE, config=SMALL)
    assert small.audit(TABLE)["verdict"] == "equal"


OVERVIEWS = ("cost", "discrepancies", "pixelhumor/unread", "pixelhumor/ranks", "pixelhumor/availability")


@pytest.mark.long
def test_overviews_are_made_again(own: Project) -> None:
    """They hold scores and counts, and have no lineage."""
    paths = [f"results/{name}.csv" for name in OVERVIEWS]
    config = "models=[first,second,reading-order] limit=6"  # the last looks at pictures
    own.snakemake(*paths, config=config)
    roots = {name: own.audit(name) for name in OVERVIEWS}
    assert {found["verdict"] for found in roots.values()} == {"equal"}
    assert "equal" in own.punchline("audit", paths[0], "--expect", roots["cost"]["root"])
    own.punchline("audit", "cost", "--expect", roots["discrepancies"]["root"], fails=True)
    for path, name in zip(paths, OVERVIEWS, strict=True):
        text = (own.path / path).read_bytes()
        (own.path / path).write_bytes(text + b"one more\n")
        assert links(own.audit(name)) == {"record", "overview"}, name
        record = own.path / f"{path}.made.json"
        made = json.loads(record.read_bytes())  # with its record forged too
        made["outputs"][path] = hashlib.sha256((own.path / path).read_bytes()).hexdigest()
        honest = record.read_bytes()
        record.write_text(json.dumps(made))
        assert links(own.audit(name)) == {"overview"}, name
        (own.path / path).write_bytes(text)
        record.write_bytes(honest)
    forge(own, "second", {answer.request_id: answer.text or "" for answer in answers(own, "first") if answer.text})
    own.snakemake(*paths, config=config)
    assert links(own.audit("discrepancies")) == {"released answers"}


def test_other_code_is_named_and_what_it_makes_is_compared(own: Project) -> None:
    said = json.loads(own.punchline("attest", TABLE))["predicate"]["buildDefinition"]["internalParameters"]["code"]
    assert {"grade", "cells", "table", "infer"} <= said.keys()
    source = own.path / "src/punchline/stages/grade.py"
    source.write_text(source.read_text() + "\nUNUSED = 1\n")
    found = own.audit(TABLE)
    assert found["code"] == ["grade"] and found["verdict"] == "equal"
    assert "other code is at hand than what made it: grade" in own.punchline("audit", TABLE)


def test_another_version_of_a_library_is_named(own: Project) -> None:
    """Installed here under another version, as its distribution says; a signature names it, so grades differ too."""
    said = json.loads(own.punchline("attest", TABLE))["predicate"]["buildDefinition"]["internalParameters"]["libraries"]
    described = own.path / "src/jiwer-9.9.9.dist-info/METADATA"
    described.parent.mkdir()
    described.write_text("Metadata-Version: 2.1\nName: jiwer\nVersion: 9.9.9\n")
    found = own.audit(TABLE)
    assert found["libraries"] == [f"jiwer {said['jiwer']}, here 9.9.9"] and "grades" in links(found)


def test_kept_digests_are_not_believed(own: Project) -> None:
    """Who changes code, and a file, can also write into the cache of digests that both are as before."""
    cache, source = own.path / ".punchline/digests.json", own.path / "src/punchline/stages/grade.py"
    released = own.path / "data/replay/second.json"
    time.sleep(2.1)  # a digest of what has just changed is not kept
    own.punchline("tables")  # which keeps the digests of what it looks at
    kept = json.loads(cache.read_bytes())
    for path, text in ((source, "\nUNUSED = 1\n"), (released, " ")):
        path.write_text(path.read_text() + text)
        stat = path.stat()
        known = [name for name in kept if name.endswith((f":{path}", f":{path.relative_to(own.path)}"))]
        assert known, path
        for name in known:
            kept[name][0] = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    cache.write_text(json.dumps(kept))
    found = own.audit(TABLE)
    assert found["code"] == ["grade"]
    assert str(released.relative_to(own.path)) in {finding["path"] for finding in found["findings"]}
