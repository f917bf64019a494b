"""What reruns on real comics, from a mirror: fetched bytes, pins, the lock, splitting."""

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import cv2
import pytest

from punchline.schema import sha256

from .conftest import TABLE
from .project import Project
from .test_reruns import damage, edit, first

pytestmark = [pytest.mark.long, pytest.mark.real]

COMICS = 12
QUESTIONS = 8
MODELS = ("random", "reading-order")
BENCHMARK = "pixelhumor"


@pytest.fixture(scope="module")
def base(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Table 8 of some real comics, made, with the mirror beside it. Take a copy."""
    project = Project.copy(tmp_path_factory.mktemp("base") / "p")
    small = project.path.parent / "mirror"
    shutil.copytree(mirror / BENCHMARK, small / BENCHMARK)
    (small / "xkcd/images").mkdir(parents=True)
    with (mirror / "xkcd/manifest.csv").open(newline="") as file:
        comics = list(csv.DictReader(file))[:COMICS]
    for comic in comics:
        shutil.copy(mirror / "xkcd" / comic["file"], small / "xkcd" / comic["file"])
    (project.path / "some.csv").write_text("comic_id\n" + "".join(f"{comic['comic_id']}\n" for comic in comics))
    project.snakemake(TABLE, config=config(project))
    return project


@pytest.fixture
def project(base: Project, tmp_path: Path) -> Project:
    """A copy of it and of its mirror, to do anything with."""
    shutil.copytree(base.path.parent, tmp_path / "all", symlinks=True)
    return Project(tmp_path / "all/p")


def config(project: Project) -> str:
    """The mirror's place is no part of a selection: in a copy it is another."""
    return f"corpus=open subset=some.csv models=[{','.join(MODELS)}] mirror={project.path.parent / 'mirror'}"


LOCK = f"""comic_id,url,sha256,bytes,width,height,mirror
xkcd_1,https://imgs.xkcd.com/comics/barrel.jpg,{sha256(b"")},25000,600,400,pixelhumor/images/xkcd_1.jpg
"""
RESPOND = {f"respond {model} all" for model in MODELS}
SCORED = {f"score {BENCHMARK} {model}" for model in MODELS} | {f"tables {BENCHMARK}"}
FROM_IMAGES = {f"prepare {BENCHMARK}"} | RESPOND | SCORED
FROM_FILES = {f"fetch {BENCHMARK}"} | FROM_IMAGES

Change = Callable[[Project], object]
CHANGES: dict[str, tuple[Change, set[str]]] = {
    "nothing": (lambda p: None, set()),
    "one more line in the lock of images": (
        lambda p: (p.path / "data/manifests/pixelhumor/images.lock.csv").write_text(LOCK),
        set(),
    ),
    "a mirror that is gone": (lambda p: shutil.rmtree(p.path.parent / "mirror/xkcd"), set()),
    "a comment where panels are split": (
        lambda p: edit(p, "src/punchline/comics/split.py", "\n\n\n", "\n\n\n# A remark.\n"),
        set(),
    ),
    "how panels are split": (
        lambda p: edit(p, "src/punchline/comics/split.py", "\n\n\n", "\n\nSPARE = 1\n\n\n"),
        FROM_IMAGES,
    ),
    "a damaged image": (lambda p: damage(first(p, "data/raw/pixelhumor/images/*.png")), FROM_FILES),
    "a damaged picture": (lambda p: damage(first(p, "data/images/pixelhumor/*.png")), FROM_IMAGES),
    "a label changed by hand in what was fetched": (
        lambda p: edit(p, "data/raw/pixelhumor/objective_label.csv", ",", ", "),
        FROM_FILES,
    ),
    "a comic less": (
        lambda p: (p.path / "some.csv").write_text("".join((p.path / "some.csv").open().readlines()[:-1])),
        FROM_FILES,
    ),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.replace(" ", "_"))
def test_what_a_change_wants(project: Project, change: str) -> None:
    make, expected = CHANGES[change]
    make(project)
    assert project.wanted(TABLE, config=config(project)) == expected
    audited = project.audit(TABLE)
    # The audit looks at all bytes; the graph wants just what makes the differing ones again.
    assert (audited["verdict"] == "equal") == (not expected), audited


def test_one_other_picture_asks_about_that_comic_only(project: Project) -> None:
    """The publisher has another image, and the pin says so."""
    before = project.journal_lines()
    path = first(Project(project.path.parent), "mirror/xkcd/images/*.png")
    old = sha256(path.read_bytes())
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    image[0, 0] = 255 - image[0, 0]
    cv2.imwrite(str(path), image)
    content = path.read_bytes()
    pins = project.path / "data/manifests/pixelhumor/images_pinned.csv"
    row = next(line for line in pins.read_text().split("\n") if old in line)
    cells = row.split(",")
    cells[3:5] = [sha256(content), str(len(content))]
    edit(project, "data/manifests/pixelhumor/images_pinned.csv", row, ",".join(cells))
    wanted = project.wanted(TABLE, config=config(project))
    assert wanted == FROM_FILES
    project.snakemake(TABLE, config=config(project))
    assert project.journal_lines() == before + QUESTIONS * len(MODELS)
    assert project.wanted(TABLE, config=config(project)) == set()
    assert project.audit(TABLE)["verdict"] == "equal"
