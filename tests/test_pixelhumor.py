"""PixelHumor: released files in, items, gold and requests out; what cannot be read is named; the released data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.records import read_golds, read_items, response

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor.data import Metadata, by_comic
from punchline.benchmarks.pixelhumor.scoring import score_item
from punchline.errors import PunchlineError
from punchline.schema import RULES, Image, ImageRef, Rule, Score

FILES = {
    "comic_url.csv": "comic_id,comic_url\na_b_1,https://x.test/1\nc_2,https://x.test/2\n",
    "metadata.csv": (
        "comic_id,metadata\n"
        "a_b_1,\"[{'x1': 0, 'y1': 0, 'x2': 50, 'y2': 40, 'panel_number': '2'}, "
        "{'x1': 50, 'y1': 0, 'x2': 100, 'y2': 40, 'panel_number': '1'}]\"\n"
        "c_2,\"[{'x1': 0, 'y1': 0, 'x2': 10, 'y2': 10, 'panel_number': '1'}]\"\n"
    ),
    "subjective_label.csv": (
        "comic_id,Q1,Q2,Q3,Q4,Q5\n"
        "a_b_1,['Yes'],\"['Present, contribute']\",['2'],['Both'],\"['Pun', 'Dark']\"\n"
        "c_2,['No'],['Absent'],['NA'],['NA'],['NA']\n"
    ),
    "objective_label.csv": (
        'comic_id,panel_sequence,text,number_of_panels\nc_2,1,"1: ",1\na_b_1,"2, 1","1: THERE \n 2: HELLO ",2\n'
    ),
    "harm_annotation.csv": "comic_id,potentially_harmful\na_b_1,harm\nc_2,non-harm\n",
}
IMAGE = ImageRef(path="data/images/pixelhumor/a_b_1.png", sha256="ab" * 32, width=100, height=40)


def files(**changed: str) -> dict[str, bytes]:
    return {name: changed.get(name.split(".")[0], text).encode() for name, text in FILES.items()}


def boxes(files: dict[str, bytes]) -> Any:
    return {comic: row.boxes for comic, row in by_comic(files, "metadata.csv", Metadata).items()}


def test_items_of_the_given_images_only_and_a_missing_one_with_its_reason() -> None:
    assert pixelhumor.listing(files()) == [("a_b_1", "a_b", "https://x.test/1"), ("c_2", "c", "https://x.test/2")]
    assert boxes(files()) == {"a_b_1": [(0, 0, 50, 40, 2), (50, 0, 100, 40, 1)], "c_2": [(0, 0, 10, 10, 1)]}
    (item,) = pixelhumor.items(files(), {"a_b_1": (IMAGE,)})
    assert (item.item_id, item.source, item.cluster) == ("a_b_1", "a_b", "a_b_1")
    assert (item.images, item.missing) == ((IMAGE,), None)
    assert "HELLO" not in str(item) and "Pun" not in str(item)
    first, second = pixelhumor.items(files(), {"c_2": "HTTP 404", "a_b_1": (IMAGE,)})
    assert (first.item_id, second.item_id) == ("a_b_1", "c_2")  # released order
    assert (second.images, second.missing) == ((), "HTTP 404")
    assert all(request.messages[1].content[0] == Image(sha256=None) for request in pixelhumor.requests(second))


def replaced(name: str, old: str, new: str) -> dict[str, bytes]:
    assert old in FILES[f"{name}.csv"]
    return files(**{name: FILES[f"{name}.csv"].replace(old, new, 1)})


CHANGED = yaml.safe_load((Path(__file__).parent / "pixelhumor_files.yaml").read_text(encoding="utf-8"))
READING: dict[str, Callable[[dict[str, bytes]], Any]] = {
    "listing": pixelhumor.listing,
    "boxes": boxes,
    "golds": pixelhumor.golds,
    "read_items": lambda given: pixelhumor.items(given, {"a_b_1": (IMAGE,)}),
}


@pytest.mark.parametrize(
    ("read", "name", "old", "new", "expected"),
    [*CHANGED["refused"], ("golds", "subjective_label", "['Yes']", "[" * 5000, ["line 2", "a_b_1", "Q1"])],
)
def test_bad_input_is_named(read: str, name: str, old: str, new: str, expected: list[str]) -> None:
    list(READING[read](files()))
    with pytest.raises(PunchlineError) as error:
        list(READING[read](replaced(name, old, new)))
    for part in expected:
        assert part in str(error.value)


def test_a_comic_that_is_not_there() -> None:
    with pytest.raises(PunchlineError, match=r"comic_url\.csv, record c_9.*no such item"):
        pixelhumor.items(files(), {"c_9": (IMAGE,)})
    assert pixelhumor.items(replaced("metadata", "'x2': 100", "'x2': 102"), {"a_b_1": (IMAGE,)})  # two pixels beyond


@pytest.fixture(scope="module")
def released(mirror: Path) -> dict[str, bytes]:
    names = (*pixelhumor.ITEM_FILES, *pixelhumor.GOLD_FILES)
    return {name: (mirror / "pixelhumor" / name).read_bytes() for name in names}


@pytest.mark.real
@pytest.mark.parametrize("rule", RULES)
def test_gold_as_an_answer_is_right_on_every_comic(released: dict[str, bytes], rule: Rule) -> None:
    items, golds, scores = read_items(pixelhumor, released), read_golds(pixelhumor, released), list[Score]()
    for name, gold in golds.items():
        answers = {task: ", ".join(gold.values[task]) for task in ("Q1", "Q2", "Q3", "Q4", "Q5")}
        answers |= {"Q7": gold.values["panel_sequence"], "Q8": gold.values["text"]}
        scores += score_item({t: response(t, text) for t, text in answers.items()}, items[name], gold, "gold", rule)
    assert all(score.state == "ok" for score in scores if score.scored or rule == "paper")
    no_humor = {name for name, gold in golds.items() if gold.values["Q1"] == ["No"] and rule == "released"}
    assert {score.item_id for score in scores if not score.scored} == no_humor
    right = {"Q7": {"panel_acc": 1}, "Q8": {"text_acc": 1, "wer": 0, "cer": 0}}
    assert [score for score in scores if score.metrics != right.get(score.task, {})] == []  # xkcd_108, smbc_2640 too
