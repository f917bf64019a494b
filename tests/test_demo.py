"""The demo corpus: complete, consistent gold in the released formats, legible pictures, the same bytes every time."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from punchline.benchmarks.pixelhumor import SOUND_EFFECTS, STYLES, demo
from punchline.benchmarks.pixelhumor.demo import LAYOUTS, SCRIPTS
from punchline.core import benchmark as benchmarks
from punchline.core import storage
from punchline.core.records import digest_of, sha256
from punchline.demo import comics
from punchline.demo.pen import SUPERSAMPLE, Pen, text_width, wrap
from punchline.demo.scripts import Panel
from punchline.demo.things import THINGS, Thing, nameable

QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
Row = dict[str, str]


def _rows(content: bytes, file: str) -> dict[str, Row]:
    return {row["comic_id"]: row for _, row in storage.parse_csv(content, ["comic_id"], file=file)}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo.draw(folder, seed=0)
    return folder


@pytest.fixture(scope="module")
def files(corpus: Path) -> dict[str, dict[str, Row]]:
    return {path.name: _rows(path.read_bytes(), path.name) for path in corpus.glob("*.csv")}


@pytest.fixture(scope="module")
def pictures() -> dict[str, tuple[Any, list[comics.Drawn]]]:
    return {name: comics.picture(script, name) for name, script in zip(demo.comic_ids(), SCRIPTS, strict=True)}


def _consolidated(row: Row, question: int) -> list[str]:
    """The rule that reproduces PixelHumor's subjective_label.csv: experts only where A1-A8 never agree."""

    def votes(annotators: range) -> list[str]:
        cells = (row[f"A{a}Q{question}"] for a in annotators)
        return [value for cell in cells if cell for value in ast.literal_eval(cell)]

    count = Counter(votes(range(1, 9)))
    if max(count.values()) == 1:
        count.update(votes(range(9, 13)))
    if question == 5:
        return [value for value, n in count.items() if n >= 2]
    kept = [value for value, n in count.items() if n == max(count.values())]
    return ["Both"] if question == 4 and set(kept) == {"Text", "Visual"} else kept


# ------------------------------------------------------------------------------------------------- gold


def test_files_have_the_released_columns_and_all_comics(files: dict[str, dict[str, Row]]) -> None:
    assert set(files) == set(demo.COLUMNS)
    for file, rows in files.items():
        assert all(tuple(row) == demo.COLUMNS[file] for row in rows.values())
        if file != "human_explanation.csv":
            assert set(rows) == set(demo.comic_ids())
    assert 10 <= len(files["human_explanation.csv"]) < len(SCRIPTS)


@pytest.mark.real
def test_files_have_the_columns_of_the_real_ones(corpus: Path, mirror: Path) -> None:
    for path in corpus.glob("*.csv"):
        real = (mirror / "pixelhumor" / path.name).read_bytes()
        assert path.read_bytes().split(b"\n")[0] == real.split(b"\n")[0], path.name


def test_full_label_is_the_join_of_the_parts(files: dict[str, dict[str, Row]]) -> None:
    parts = ("comic_url.csv", "subjective_label.csv", "objective_label.csv", "harm_annotation.csv")
    for name, row in files["full_label.csv"].items():
        joined: Row = {}
        for part in parts:
            joined |= files[part][name]
        assert row == joined


def test_some_files_have_another_row_order(files: dict[str, dict[str, Row]]) -> None:
    orders = {file: list(rows) for file, rows in files.items()}
    assert orders["full_label.csv"] == orders["subjective_label.csv"]
    assert orders["objective_label.csv"] != orders["full_label.csv"]
    assert orders["annotation.csv"] != orders["full_label.csv"]


def test_coverage(files: dict[str, dict[str, Row]]) -> None:
    rows = files["full_label.csv"].values()
    assert len(rows) >= 60
    assert {name.rsplit("_", 1)[0] for name in files["full_label.csv"]} == set(LAYOUTS)
    sizes = Counter(int(row["number_of_panels"]) for row in rows)
    assert set(sizes) == set(range(1, 9))
    assert sizes[1] >= 10
    values = {q: Counter(v for row in rows for v in ast.literal_eval(row[q])) for q in QUESTIONS}
    assert set(values["Q1"]) == {"Yes", "No"}
    assert set(values["Q2"]) == set(SOUND_EFFECTS)
    assert set(values["Q4"]) == {"Text", "Visual", "Both", "NA"}
    assert set(values["Q5"]) == {*STYLES, "NA"}
    assert min(values["Q5"].values()) >= 3
    assert {len(ast.literal_eval(row["Q5"])) for row in rows} == {1, 2, 3, 4}
    assert {row["potentially_harmful"] for row in rows} == {"harm", "non-harm"}
    assert sum(not re.sub(r"\d+: ?", "", row["text"]).strip() for row in rows) >= 3, "comics without words"


@pytest.mark.parametrize("name", demo.comic_ids())
def test_gold_of_each_comic(name: str, files: dict[str, dict[str, Row]], corpus: Path) -> None:
    row = files["full_label.csv"][name]
    script = SCRIPTS[demo.comic_ids().index(name)]
    n = int(row["number_of_panels"])
    sequence = [int(piece) for piece in row["panel_sequence"].split(", ")]
    assert sorted(sequence) == list(range(1, n + 1))
    assert row["comic_url"] == f"demo:{name}"

    # `text` in label order; its panels in reading order are the scripts' words
    pieces = re.split(r"(?:^| \n )(\d+):", row["text"])[1:]
    assert [int(label) for label in pieces[::2]] == list(range(1, n + 1))
    words = dict(zip(map(int, pieces[::2]), pieces[1::2], strict=True))
    for label, panel in zip(sequence, script.panels, strict=True):
        assert words[label].strip() == " \n ".join(comics.panel_texts(panel))

    if row["Q1"] == "['No']":
        assert [row[q] for q in ("Q2", "Q3", "Q4", "Q5")] == ["['Absent']", "['NA']", "['NA']", "['NA']"]
    else:
        (peak,) = ast.literal_eval(row["Q3"])
        assert script.peak is not None
        assert int(peak) == sequence[script.peak - 1]
    silent = not any(text.startswith("* ") for panel in script.panels for text in panel.texts)
    assert silent == (row["Q2"] == "['Absent']")

    boxes = ast.literal_eval(files["metadata.csv"][name]["metadata"])
    height, width = cv2.imread(str(corpus / "images" / f"{name}.png")).shape[:2]
    assert [box["panel_number"] for box in boxes] == [str(label) for label in range(1, n + 1)]
    by_label = {int(box["panel_number"]): box for box in boxes}
    for box in boxes:
        assert 0 <= box["x1"] < box["x2"] <= width
        assert 0 <= box["y1"] < box["y2"] <= height
    assert sequence == sorted(sequence, key=lambda label: (by_label[label]["y1"], by_label[label]["x1"]))


def test_votes_consolidate_to_the_gold(files: dict[str, dict[str, Row]]) -> None:
    for name, row in files["annotation.csv"].items():
        for question in range(1, 6):
            gold = ast.literal_eval(files["subjective_label.csv"][name][f"Q{question}"])
            assert _consolidated(row, question) == gold, (name, question)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_votes_consolidate_under_any_seed(seed: int) -> None:
    tables = {file: _rows(text.encode(), file) for file, text in demo.tables(seed).items()}
    for name, row in tables["annotation.csv"].items():
        for question in range(1, 6):
            gold = ast.literal_eval(tables["subjective_label.csv"][name][f"Q{question}"])
            assert _consolidated(row, question) == gold, (name, question)


def test_votes_show_all_ways_of_agreement(files: dict[str, dict[str, Row]]) -> None:
    rows = files["annotation.csv"].values()
    voters = Counter(
        (
            sum(bool(row[f"A{a}Q1"]) for a in range(1, 9)),
            sum(bool(row[f"A{a}Q1"]) for a in range(9, 13)),
        )
        for row in rows
    )
    assert set(voters) == {(2, 0), (3, 0), (2, 1), (3, 1)}
    cells = {row[f"A{a}Q4"] for row in rows for a in range(1, 13)}
    assert "['Text', 'Visual']" in cells
    assert "['Both']" not in cells


@pytest.mark.real
def test_the_rule_of_consolidation_is_that_of_the_real_data(mirror: Path) -> None:
    folder = mirror / "pixelhumor"
    votes = _rows((folder / "annotation.csv").read_bytes(), "annotation.csv")
    gold = _rows((folder / "subjective_label.csv").read_bytes(), "subjective_label.csv")
    wrong = [
        (name, q) for name, row in gold.items() for q in range(1, 6)
        if _consolidated(votes[name], q) != ast.literal_eval(row[f"Q{q}"])
    ]  # fmt: skip
    assert wrong == []


# ------------------------------------------------------------------------------------------------- pictures


def test_words_drawn_are_the_gold(pictures: dict[str, tuple[Any, list[comics.Drawn]]]) -> None:
    for name, script in zip(demo.comic_ids(), SCRIPTS, strict=True):
        for panel, drawn in zip(script.panels, pictures[name][1], strict=True):
            assert drawn.texts == comics.panel_texts(panel)
            assert len(drawn.lettering) >= len(drawn.texts)


def test_words_lie_inside_their_panel_and_clear_of_the_label(
    pictures: dict[str, tuple[Any, list[comics.Drawn]]],
) -> None:
    for name, (_, panels) in pictures.items():
        for number, drawn in enumerate(panels, start=1):
            x1, y1, x2, y2 = drawn.box
            for a, b, c, d in drawn.lettering:
                where = (name, number)
                assert x1 + 4 <= a and c <= x2 - 4 and y1 + 4 <= b and d <= y2 - 4, where
                assert a >= x1 + comics.LABEL_CORNER[2] - 1 or b >= y1 + comics.LABEL_CORNER[3], where


def _meet(a: comics.Box, b: comics.Box, slack: float) -> bool:
    return a[0] < b[2] - slack and b[0] < a[2] - slack and a[1] < b[3] - slack and b[1] < a[3] - slack


def test_balloons_cover_neither_figures_nor_one_another(
    pictures: dict[str, tuple[Any, list[comics.Drawn]]],
) -> None:
    for name, (_, panels) in pictures.items():
        for number, drawn in enumerate(panels, start=1):
            x1, y1, x2, y2 = drawn.box
            for i, box in enumerate(drawn.balloons):
                assert x1 <= box[0] and box[2] <= x2 and y1 <= box[1] and box[3] <= y2, (name, number)
                assert not any(_meet(box, other, 0) for other in drawn.balloons[:i]), (name, number)
                covered = [thing for thing, body in drawn.bodies if _meet(box, body, 4)]
                assert not covered, (name, number, covered)


def test_there_is_ink_where_words_are(pictures: dict[str, tuple[Any, list[comics.Drawn]]]) -> None:
    for name, (image, panels) in pictures.items():
        for drawn in panels:
            for box in drawn.lettering:
                a, b, c, d = (round(v) for v in box)
                assert image[b:d, a:c].min() < 90, name


def test_nothing_looks_like_a_panel_label(pictures: dict[str, tuple[Any, list[comics.Drawn]]]) -> None:
    """Labels are pure red, and JPEG leaves R > 150, R - max(G, B) > 90 of it: no such pixel anywhere."""
    for name, (image, _) in pictures.items():
        values = image.astype(int)
        red = (values[..., 2] > 150) & (values[..., 2] - values[..., :2].max(axis=2) > 90)
        assert not red.any(), name


def test_images_are_small(corpus: Path) -> None:
    images = list((corpus / "images").glob("*.png"))
    assert {path.stem for path in images} == set(demo.comic_ids())
    assert sum(path.stat().st_size for path in images) < 4_000_000
    assert not list(corpus.rglob("*.part"))


# ------------------------------------------------------------------------------------------------- determinism


def test_same_seed_same_bytes(corpus: Path, tmp_path: Path) -> None:
    demo.draw(tmp_path, seed=0)
    first = {path.relative_to(corpus): path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    again = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert first == again


def test_another_seed_gives_other_labels_but_the_same_jokes() -> None:
    zero, one = demo.tables(0), demo.tables(1)
    assert zero["objective_label.csv"] != one["objective_label.csv"]
    assert zero["annotation.csv"] != one["annotation.csv"]
    assert zero["comic_url.csv"] == one["comic_url.csv"]
    rows = [_rows(tables["subjective_label.csv"].encode(), "") for tables in (zero, one)]
    for name in rows[0]:
        assert all(rows[0][name][q] == rows[1][name][q] for q in ("Q1", "Q2", "Q4", "Q5"))


def drawn(benchmark: str, folder: Path) -> dict[str, str]:
    """Digests of all that a benchmark's `draw` writes: files, and images."""
    benchmarks.drawn(benchmark).draw(folder)
    files = {path.relative_to(folder).as_posix(): sha256(path.read_bytes()) for path in folder.rglob("*.*")}
    images = {name: digest for name, digest in files.items() if name.startswith("images/")}
    return {"files": digest_of({name: files[name] for name in files.keys() - images}), "images": digest_of(images)}


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_the_corpus_is_the_published_one(benchmark: str, root: Path, tmp_path: Path) -> None:
    """Whoever changes a joke, a label or a line changes tests/golden/drawn.json knowingly."""
    assert drawn(benchmark, tmp_path) == json.loads((root / "tests/golden/drawn.json").read_bytes())[benchmark]


def test_the_readmes_picture_is_drawn_by_the_project(root: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, root / "docs/demo.py", tmp_path / "demo.png"], check=True)
    assert (tmp_path / "demo.png").read_bytes() == (root / "docs/demo.png").read_bytes(), "run python docs/demo.py"


# ------------------------------------------------------------------------------------------------- scripts


@pytest.mark.parametrize(
    ("scene", "fault"),
    [("bob@50 nobody@20", "nobody@20"), ("bob@", "bob@"), ("bob 50", "bob"), ("bob@50,", "bob@50,")],
)
def test_a_scene_that_cannot_be_read_is_named(scene: str, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(fault))):
        comics._items(scene)


@pytest.mark.parametrize("text", ["no speaker", "bob HI", "* ", ""])
def test_a_text_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read the text"):
        comics.panel_texts(Panel("bob@50", (text,)))


@pytest.mark.parametrize(
    ("change", "width"), [(lambda words: words, 120.0), (lambda words: words[::-1], 90.0), (str.lower, 200.0)]
)
def test_wrapping_keeps_words_and_width(change: Callable[[str], str], width: float) -> None:
    words = change("THE QUICK BROWN DUCK ASKS THE SLOW GREY SNAIL FOR THE WAY")
    lines = wrap(words, width, comics.LETTERS)
    assert " ".join(lines) == words
    assert all(text_width(line, comics.LETTERS) <= width for line in lines)


def test_every_thing_draws_and_stays_near_its_box() -> None:
    """Each drawing leaves ink, and leaves none far outside the room it claims (in both directions)."""
    for name in filter(nameable, THINGS):
        half, height = THINGS[name].room
        for flip in (False, True):
            image = np.full((400 * SUPERSAMPLE, 400 * SUPERSAMPLE, 3), 255, np.uint8)
            THINGS[name].draw(Pen(image, comics.generator(0, name), (200.0, 300.0), 1.0, flip), ())
            x, y, width, tall = cv2.boundingRect(255 - cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
            assert width * tall > 0, name
            if name in ("hook", "zebra"):  # a line from above; a road from edge to edge
                continue
            top = 300 - y / SUPERSAMPLE
            reach = max(200 - x / SUPERSAMPLE, (x + width) / SUPERSAMPLE - 200)
            assert top <= height + 14, (name, top)
            assert reach <= half + 16, (name, reach)


@pytest.mark.parametrize("line", ["oval", "1,2 3,4", "line 0,0 ; w=2"])
def test_a_shape_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        Thing(line).draw(Pen(np.zeros((8, 8, 3), np.uint8), comics.generator(0, "")), ())
