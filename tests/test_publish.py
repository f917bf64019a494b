"""What of a run's files may be passed on, by the licences that manifests state."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from punchline.paths import Paths
from punchline.report.publish import OPEN, Rights

LICENCES = ("MIT", "Apache-2.0", "CC0", "CC BY-NC-SA 4.0", "public domain")
OWN = "of the project; the strips are under licences of their own"
NONE = ("none stated", "none stated; README: for research purposes only", "proprietary", "", "not MIT")


@pytest.mark.parametrize("licence", [*LICENCES, OWN, *NONE])
def test_a_licence_opens_or_not(licence: str) -> None:
    assert bool(OPEN.match(licence)) == (licence not in NONE)


def chosen(*, drawn: bool) -> Any:
    """As much of a project as rights ask for."""
    cards = {name: SimpleNamespace(name=name, engine=engine) for name, engine in ENGINES.items()}
    selection = SimpleNamespace(corpus=SimpleNamespace(drawn=drawn))
    return SimpleNamespace(selection=selection, paths=Paths(), cards=cards, illustrated=lambda benchmark: False)


ENGINES = {"asked": "openai", "released": "replay"}
SHUT = "none stated"
# (path, role): whether it is passed on where annotations are open, and where they are not
FILES = {
    ("data/raw/b/labels.csv", "raw annotation"): (True, False),
    ("data/items/b/items.jsonl", "items"): (True, False),
    ("data/items/b/gold.jsonl", "gold"): (True, False),
    ("data/requests/b.parquet", "requests"): (True, False),
    ("data/requests/b/judge/asked.parquet", "judge requests"): (True, False),
    ("data/responses/b/asked.jsonl", "journal"): (True, True),
    ("data/responses/b/asked.parquet", "snapshot"): (True, True),
    ("data/responses/b/released.jsonl", "journal"): (True, False),
    ("data/raw/b_runs/old/run.csv", "released run"): (True, False),
    ("data/raw/b/images/1.png", "image"): (False, False),
    ("data/images/b/1.png", "picture"): (False, False),
    ("config/b/ratings.csv", "user's file"): (False, False),
    ("data/models/m/punchline.json", "model"): (False, False),
    ("results/b/table1.csv", "table"): (True, True),
    ("results/b/cells/asked.json", "cells"): (True, True),
    ("data/manifests/b/annotations.csv", "manifest"): (True, True),
}


@pytest.mark.parametrize("licence", ["MIT", SHUT])
def test_files_are_passed_on_or_withheld(licence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, path in (("b", "labels.csv"), ("b_runs", "old/run.csv")):
        manifest = tmp_path / f"data/manifests/{name}/annotations.csv"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(f"path,url,licence\n{path},https://a.example/x,{licence}\n")
    allowed = Rights(chosen(drawn=False), "b")
    assert {file: not allowed.withheld(*file) for file in FILES} == {
        file: passed[licence == SHUT] for file, passed in FILES.items()
    }
    assert bool(allowed.texts()) == (licence == SHUT)
    drawn = Rights(chosen(drawn=True), "b")
    mine = {file for file in FILES if file[1] in ("user's file", "model")}
    assert {file for file in FILES if drawn.withheld(*file)} == mine
