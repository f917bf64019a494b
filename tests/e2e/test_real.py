"""The real Snakefile on real comics, from a mirror: what is missing is counted, and tried again; what reruns."""

import base64
import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import cv2
import pytest

from punchline.schema import sha256

from .conftest import TABLE
from .project import Project

pytestmark = [pytest.mark.long, pytest.mark.real]


def some_comics(mirror: Path, folder: Path, count: int, missing: int = 0) -> tuple[Project, list[str]]:
    """A project, and the files of some pinned comics; next to it a mirror that lacks the last of them."""
    project, small = Project.copy(folder / "p"), folder / "mirror"
    shutil.copytree(mirror / "pixelhumor", small / "pixelhumor")
    (small / "xkcd/images").mkdir(parents=True)
    with (mirror / "xkcd/manifest.csv").open(newline="") as file:
        comics = list(csv.DictReader(file))[:count]
    for comic in comics[: count - missing]:
        shutil.copy(mirror / "xkcd" / comic["file"], small / "xkcd" / comic["file"])
    (project.path / "some.csv").write_text("comic_id\n" + "".join(f"{comic['comic_id']}\n" for comic in comics))
    return project, [comic["file"] for comic in comics]


def config(project: Project, models: str = "random,reading-order") -> str:
    return f"corpus=open subset=some.csv models=[{models}] mirror={project.path.parent / 'mirror'}"


@pytest.fixture(scope="module")
def partial(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[str]]:
    """A project and a mirror that has one of two comics."""
    return some_comics(mirror, tmp_path_factory.mktemp("real"), 2, missing=1)


def test_a_missing_comic_is_counted_and_fetched_again(partial: tuple[Project, list[str]], mirror: Path) -> None:
    project, files = partial
    chosen, availability = config(project, "reading-order"), "results/pixelhumor/availability.csv"
    project.snakemake(TABLE, availability, config=chosen)
    (row,) = project.rows(TABLE, subset="some", kind="baseline")
    assert (row["n"], row["n_missing"]) == ("1", "1")
    (line,) = project.rows(availability)
    assert (line["source"], line["ok"], line["missing"]) == ("xkcd", "1", "1") and line["reason"]
    audited = project.audit(TABLE)
    assert audited["verdict"] == "equal"
    small = project.path.parent / "mirror"
    assert str(small) not in json.dumps({k: audited[k] for k in audited.keys() - {"noted", "sources"}})

    shutil.copy(mirror / "xkcd" / files[1], small / "xkcd" / files[1])
    assert project.wanted(TABLE, config=chosen) == set(), "a recorded missing is a result"
    project.punchline("retry", "--images", *chosen.split())
    project.snakemake(TABLE, availability, config=chosen)
    (row,) = project.rows(TABLE, subset="some", kind="baseline")
    assert (row["n"], row["n_missing"]) == ("2", "0")
    assert project.rows(availability)[0]["missing"] == "0"


def test_released_answers_need_no_image(mirror: Path, fresh: Project) -> None:
    """Released answers to one of 2,800 comics, and to an unknown one."""
    fresh.add_replay("few", {name: {"panel_sequence": "1", "text": "1: HI"} for name in ("xkcd_1", "nobody_7")})
    fresh.snakemake(TABLE, config=f"corpus=full mirror={mirror} models=[few]")
    row = fresh.rows(TABLE, kind="measured")[0]
    assert (row["subset"], row["n"], row["n_missing"]) == ("all", "1", "2799")
    assert not (fresh.path / "data/raw/pixelhumor/images").exists()
    notes = (fresh.path / TABLE).with_suffix(".md").read_text()
    assert "few: 1 answered items do not exist in pixelhumor: nobody_7" in notes


def parts_of(file: Path) -> dict[str, Any]:
    """Data of a report's pages, as a page reads it."""
    packed = file.read_text().removesuffix(");\n").split(",\n")[1]
    result: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(json.loads(packed))))
    return result


def test_a_report_shows_the_comics_that_are_there_with_their_credit(partial: tuple[Project, list[str]]) -> None:
    project, _ = partial
    project.snakemake("report", config=f"run=eyes {config(project, 'reading-order,ocr')}")
    root = project.path / "results/runs/eyes/report"
    sizes = [picture.stat().st_size for picture in (root / "pictures").iterdir()]
    assert len(sizes) == len(list((project.path.parent / "mirror/xkcd/images").iterdir())) and min(sizes) > 1000
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


LOCK = f"""comic_id,url,sha256,bytes,width,height,mirror
xkcd_1,https://imgs.xkcd.com/comics/barrel.jpg,{sha256(b"")},25000,600,400,pixelhumor/images/xkcd_1.jpg
"""


def test_one_other_picture_asks_about_that_comic_only(mirror: Path, tmp_path: Path) -> None:
    """The publisher has another image, and the pin says so."""
    project, _ = some_comics(mirror, tmp_path, 12)
    chosen = config(project)
    project.snakemake(TABLE, config=chosen)
    before = project.journal_lines()
    path = sorted((tmp_path / "mirror/xkcd/images").glob("*.png"))[0]
    old = path.read_bytes()
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    image[0, 0] = 255 - image[0, 0]
    cv2.imwrite(str(path), image)
    pins, new = "data/manifests/pixelhumor/images_pinned.csv", path.read_bytes()
    project.edit(pins, f"{sha256(old)},{len(old)}", f"{sha256(new)},{len(new)}")
    assert "fetch pixelhumor" in project.wanted(TABLE, config=chosen)
    project.snakemake(TABLE, config=chosen)
    assert project.journal_lines() == before + 8 * 2  # questions, models

    # The mirror, and which images it had at the first fetch, are no part of a selection.
    (project.path / "data/manifests/pixelhumor/images.lock.csv").write_text(LOCK)
    shutil.rmtree(tmp_path / "mirror/xkcd")
    assert project.wanted(TABLE, config=chosen) == set()
    assert project.audit(TABLE)["verdict"] == "equal"
    project.edit("src/punchline/comics/split.py", "\n\n\n", "\n\nSPARE = 1\n\n\n")
    assert {"prepare pixelhumor", "respond random all"} <= project.wanted(TABLE, config=chosen)
