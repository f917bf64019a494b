"""The baselines, on comics drawn here: panels of rectangles, figures of circles."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import cases
from tests.records import answers_of

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor import answers as reading
from punchline.benchmarks.pixelhumor import baselines
from punchline.comics import number, ocr
from punchline.comics.number import Label
from punchline.comics.split import Box
from punchline.config.cards import read_card
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core import variants
from punchline.errors import PunchlineError
from punchline.schema import RULES, ImageRef, Item, ModelCard, Request, Response, sha256

GRID = [(10, 10, 190, 190), (210, 10, 390, 190), (10, 210, 190, 390), (210, 210, 390, 390)]


def draw(boxes: Sequence[tuple[int, int, int, int]], labels: Sequence[int]) -> bytes:
    """PNG of a numbered comic of 400 x 400 pixels: framed panels with a figure each."""
    image = np.full((400, 400, 3), 255, np.uint8)
    for x1, y1, x2, y2 in boxes:
        cv2.rectangle(image, (x1, y1), (x2 - 1, y2 - 1), (0, 0, 0), 2)
        cv2.circle(image, ((x1 + x2) // 2, y2 - 40), 15, (0, 0, 0), 2)
    numbered = number.draw_labels(image, [(*box, label) for box, label in zip(boxes, labels, strict=True)])
    return number.encode(numbered)


def requests(png: bytes | None, item_id: str = "xkcd_1") -> list[Request]:
    image = ImageRef(path=f"{item_id}.png", sha256=sha256(png), width=400, height=400) if png else None
    images = (image,) if image else ()
    return pixelhumor.requests(Item(benchmark="pixelhumor", item_id=item_id, source="x", cluster="x", images=images))


def load(name: str, seed: int = 0) -> engines.Engine:
    return engines.load(ModelCard(name=name, engine="baselines", options={"baseline": name}), seed)


def ask(engine: engines.Engine, asked: Sequence[Request], folder: Path, *pngs: bytes) -> dict[str, Response]:
    """{task: response} for requests on one comic."""
    images = {sha256(png): folder / f"{sha256(png)}.png" for png in pngs}
    for png in pngs:
        images[sha256(png)].write_bytes(png)
    return {one.task: answer for one, answer in zip(asked, answers_of(engine, asked, images), strict=True)}


def said(responses: dict[str, Response]) -> dict[str, str | None]:
    return {task: response.text for task, response in responses.items() if response.state == "ok"}


@pytest.mark.parametrize("name", ["random", "prior", "label-order", "reading-order", "ocr", "last-panel"])
def test_cards_of_the_project(root: Path, name: str) -> None:
    card = read_card(name, root / "config/model")
    engine = engines.load(card, seed=0)
    assert (engine.name, engine.needs_images) == ("baselines", name != "prior")
    assert engine.version.endswith(f"({name})")
    for task, answer in card.options.get("answers", {}).items():
        for rule in RULES:
            (label,) = reading.parse_labels(task, answer, rule) or ()
            assert label.lower() == answer.lower()


def test_what_is_missing_or_not_attempted(tmp_path: Path) -> None:
    for name in baselines.ATTEMPTED:
        responses = ask(load(name), requests(None), tmp_path).values()
        assert {(one.state, one.text, one.reason) for one in responses} == {("missing", None, "image missing")}
    options = {"baseline": "prior", "answers": {"Q1": "Yes", "Q5": "Surprise"}}
    prior = engines.load(ModelCard(name="prior", engine="baselines", options=options), 0)
    assert said(ask(prior, requests(None), tmp_path)) == {"Q1": "Yes", "Q5": "Surprise"}
    png = draw(GRID, [1, 2, 3, 4])
    with pytest.raises(PunchlineError, match="record xkcd_1: no file for the image"):
        ask(load("reading-order"), requests(png), tmp_path)
    other = [msgspec.structs.replace(request, benchmark="yesbut") for request in requests(png)]
    assert {r.reason for r in ask(load("random"), other, tmp_path, png).values()} == {"not attempted"}
    # Without a picture no label is named.
    item = Item(benchmark="pixelhumor", item_id="1", source="x", cluster="x")
    blind = list(variants.requests(benchmarks.load("pixelhumor"), item, "no-image"))
    assert set(said(ask(load("random"), blind, tmp_path))) == {"Q1", "Q2", "Q4", "Q5"}
    for name in ("label-order", "reading-order", "ocr"):
        assert {one.reason for one in ask(load(name), blind, tmp_path).values()} == {"not attempted"}


def test_no_label_to_be_read_is_a_failure(tmp_path: Path) -> None:
    png = number.encode(np.full((400, 400, 3), 255, np.uint8))
    for name, tasks in baselines.ATTEMPTED.items():
        responses = ask(load(name), requests(png), tmp_path, png)
        reasons = {task: responses[task].reason for task in tasks}
        unread = "no label can be read on the image"
        assert reasons == {task: unread if task in baselines.NAMES_LABELS else None for task in tasks}


@pytest.mark.parametrize(("boxes", "labels"), cases(__file__, "orders"))
def test_reading_order(tmp_path: Path, boxes: Any, labels: list[int]) -> None:
    png = draw(boxes, labels)
    for name, order in (("reading-order", labels), ("label-order", sorted(labels))):
        assert said(ask(load(name), requests(png), tmp_path, png)) == {"Q7": ", ".join(map(str, order))}


@pytest.mark.parametrize(("labels", "boxes", "expected"), cases(__file__, "labels"))
def test_labels_find_their_panels(labels: list[Any], boxes: list[Any], expected: list[Any]) -> None:
    result = baselines.panels([Label(*label) for label in labels], [Box(*box) for box in boxes], 400, 400)
    assert [[label.label, [*box]] for label, box in result] == expected


def test_random_is_reproducible_whatever_the_order(tmp_path: Path) -> None:
    png = draw(GRID, [2, 1, 4, 3])
    sent = [request for n in range(6) for request in requests(png, f"xkcd_{n}")]
    file = tmp_path / "a.png"
    file.write_bytes(png)

    def texts(asked: Sequence[Request], seed: int) -> dict[str, str | None]:
        return {r.request_id: r.text for r in load("random", seed).answer(asked, {sha256(png): file}, "key")}

    first = texts(sent, 0)
    assert texts(random.Random(1).sample(sent, len(sent)), 0) == first != texts(sent, 1)
    assert {k: v for request in sent for k, v in texts([request], 0).items()} == first


def test_ocr_of_a_comic_without_text(tmp_path: Path) -> None:
    png = draw(GRID[:2], [2, 1])
    assert said(ask(load("ocr"), requests(png), tmp_path, png))["Q8"] == '1: ""\n2: ""'


def test_lines_of_text_are_ordered_by_rows() -> None:
    lines = [(110, 8, 200, 28, "b"), (0, 30, 100, 50, "c"), (0, 4, 100, 24, "a")]
    lines += [(50, 50, 90, 58, "d")]  # a small line just below
    assert "".join(line.text for line in ocr.in_rows([ocr.Line(*line) for line in lines])) == "abcd"


def test_balloons_are_read_one_after_the_other() -> None:
    lines = [(0, 0, 100, 20, "a"), (10, 24, 90, 44, "b"), (0, 48, 40, 68, "c"), (50, 49, 100, 69, "d")]  # d beside c
    lines += [(160, 10, 260, 30, "e"), (160, 34, 260, 54, "f"), (60, 120, 200, 140, "g")]  # on the right; below
    for seed in range(5):
        shuffled = [ocr.Line(*line) for line in random.Random(seed).sample(lines, 7)]
        assert "".join(line.text for line in ocr.in_order(shuffled)) == "abcdefg"


@pytest.mark.parametrize(("line", "expected"), cases(__file__, "lines"))
def test_lines_go_to_panels(line: tuple[int, int, int, int], expected: list[str]) -> None:
    boxes = [Box(0, 0, 200, 200), Box(220, 0, 400, 200), Box(100, 100, 150, 150)]
    assert ocr.panel_texts([ocr.Line(*line, "x")], boxes) == expected
    assert ocr.panel_texts([ocr.Line(*line, "x")], []) == []


NUMBERS = st.text(st.sampled_from("A1 2:3.\"{}()*_'\n!٣"), max_size=12)


@given(st.lists(NUMBERS | st.text(max_size=12), min_size=1, max_size=4))
def test_text_cannot_pass_for_a_panel_number(texts: list[str]) -> None:
    answer = "\n".join(baselines.panel_text(n, " ".join(text.split())) for n, text in enumerate(texts, 1))
    labels = [str(n) for n in range(1, len(texts) + 1)]
    for rule in RULES:
        assert list(reading.panel_texts(answer, rule, labels)) == labels
