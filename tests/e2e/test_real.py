"""The real Snakefile on real comics, from a mirror: what is missing is counted, and tried again when asked."""

import base64
import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from .conftest import TABLE
from .project import Project

pytestmark = [pytest.mark.long, pytest.mark.real]


@pytest.fixture(scope="module")
def partial(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path, list[str]]:
    """A project and a mirror that has one of two pinned comics, and the annotations."""
    project = Project.copy(tmp_path_factory.mktemp("real"))
    small = tmp_path_factory.mktemp("mirror")
    shutil.copytree(mirror / "pixelhumor", small / "pixelhumor")
    with (mirror / "xkcd/manifest.csv").open(newline="") as file:
        pinned = list(csv.DictReader(file))[:2]
    (small / "xkcd/images").mkdir(parents=True)
    shutil.copy(mirror / "xkcd" / pinned[0]["file"], small / "xkcd" / pinned[0]["file"])
    ids = [row["comic_id"] for row in pinned]
    (project.path / "two.csv").write_text("comic_id\n" + "\n".join(ids) + "\n")
    return project, small, [row["file"] for row in pinned]


def test_a_missing_comic_is_counted_and_fetched_when_asked_again(
    partial: tuple[Project, Path, list[str]], mirror: Path
) -> None:
    project, small, files = partial
    config = f"corpus=open mirror={small} subset=two.csv models=[reading-order]"
    availability = "results/pixelhumor/availability.csv"
    project.snakemake(TABLE, availability, config=config)
    row = next(r for r in project.rows(TABLE) if r["subset"] == "two" and r["kind"] == "baseline")
    assert (row["n"], row["n_missing"]) == ("1", "1")
    (line,) = project.rows(availability)
    assert (line["source"], line["ok"], line["missing"]) == ("xkcd", "1", "1")
    assert line["reason"]
    audited = project.audit(TABLE)
    assert audited["verdict"] == "equal"
    assert str(small) not in json.dumps({k: v for k, v in audited.items() if k not in ("noted", "sources")})

    shutil.copy(mirror / "xkcd" / files[1], small / "xkcd" / files[1])
    assert project.to_run(TABLE, config=config) == set(), "a recorded missing is a result"
    project.punchline("retry", "--images", *config.split())
    project.snakemake(TABLE, availability, config=config)
    row = next(r for r in project.rows(TABLE) if r["subset"] == "two" and r["kind"] == "baseline")
    assert (row["n"], row["n_missing"]) == ("2", "0")
    assert project.rows(availability)[0]["missing"] == "0"


def test_released_answers_need_no_image_and_both_rules_can_be_asked(mirror: Path, tmp_path: Path) -> None:
    """Gold given as answers, for all 2,800 comics but one: full marks under both rules, one comic missing."""
    project = Project.copy(tmp_path / "p")
    gold = _gold_as_answers(mirror / "pixelhumor")
    gold.pop("xkcd_1")
    gold["nobody_7"] = {"panel_sequence": "1"}
    (project.path / "gold.json").write_text(json.dumps(gold))
    (project.path / "config/model/gold.yaml").write_text("engine: replay\nformat: pixelhumor\npath: gold.json\n")
    config = f"corpus=full mirror={mirror} models=[gold]"
    for scoring in ("released", "paper"):
        project.snakemake(TABLE, "results/pixelhumor/table2.csv", config=f"{config} scoring={scoring}")
        ours = [r for r in project.rows(TABLE) if r["kind"] == "measured"]
        assert [(r["subset"], r["n"], r["n_missing"], r["scoring"]) for r in ours] == [
            ("all", "2799", "1", scoring),
            ("multi-panel", "2304", "1", scoring),
        ]
        assert {(r["panel_acc"], r["text_acc"], r["wer"], r["cer"]) for r in ours} == {("1.0", "1.0", "0.0", "0.0")}
        tasks = [r for r in project.rows("results/pixelhumor/table2.csv") if r["kind"] == "measured"]
        assert {float(r["f1"]) for r in tasks} == {1.0}
        assert {r["n"] for r in tasks} == ({"2767"} if scoring == "released" else {"2799"})
    assert not (project.path / "data/raw/pixelhumor/images").exists()
    assert (
        "gold: 1 answered items do not exist in pixelhumor: nobody_7"
        in (project.path / TABLE).with_suffix(".md").read_text()
    )


def _gold_as_answers(folder: Path) -> dict[str, dict[str, str]]:
    import ast

    answers: dict[str, dict[str, str]] = {}
    with (folder / "subjective_label.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            answers[row["comic_id"]] = {q: ", ".join(ast.literal_eval(row[q])) for q in ("Q1", "Q2", "Q3", "Q4", "Q5")}
    with (folder / "objective_label.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            answers[row["comic_id"]] |= {"panel_sequence": row["panel_sequence"], "text": row["text"]}
    return answers


def parts_of(file: Path) -> dict[str, Any]:
    """Data of a report's pages, as a page reads it."""
    packed = file.read_text().removesuffix(");\n").split(",\n")[1]
    result: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(json.loads(packed))))
    return result


def test_a_report_shows_the_comics_that_are_there_with_their_credit(
    partial: tuple[Project, Path, list[str]], mirror: Path
) -> None:
    project, small, _ = partial
    project.snakemake("report", config=f"run=eyes corpus=open mirror={small} subset=two.csv models=[reading-order,ocr]")
    root = project.path / "results/runs/eyes/report"
    pictures = list((root / "pictures").iterdir())
    assert len(pictures) == len(list((small / "xkcd/images").iterdir())) and all(
        picture.stat().st_size > 1000 for picture in pictures
    )
    page = parts_of(root / "items/pixelhumor/0.js")
    assert {tuple(one["rights"][:2]) for one in page.values()} == {("open", "CC BY-NC 2.5")}
    assert all("Randall Munroe" in one["rights"][2] for one in page.values())
    sheet = (root / "tables/pixelhumor/table8.html").read_text()
    assert "reading-order" in sheet and "<svg" in sheet and "not comparable with ours" in sheet

    # No licence is stated for PixelHumor's annotations: a public report has pictures, and nothing of theirs.
    gold = next(iter(page.values()))["gold"]
    assert len(gold) > 5 and all(one["asked"][0][-1] for one in page.values())
    project.snakemake("report", config="run=eyes public=true")
    left = parts_of(root / "items/pixelhumor/0.js")
    assert left.keys() == page.keys()
    for item_id, one in left.items():
        assert set(one["gold"]) <= {"potentially_harmful"} and one["images"] == page[item_id]["images"]
        assert {question for *_, question in one["asked"]} == {one["fields"]["annotation"]}
    assert "made of files under this licence: none stated" in (root / "index.html").read_text()
    assert not (root / "tables/pixelhumor/votes.csv").exists()
