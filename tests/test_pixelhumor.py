"""PixelHumor: released files in, items, gold and requests out; what cannot be read is named."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import pytest

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor import ask
from punchline.benchmarks.pixelhumor.data import boxes
from punchline.core.errors import PunchlineError
from punchline.core.records import Image, ImageRef, Text

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


def test_comics() -> None:
    assert pixelhumor.listing(files()) == [("a_b_1", "a_b", "https://x.test/1"), ("c_2", "c", "https://x.test/2")]


def test_boxes() -> None:
    assert boxes(files()) == {
        "a_b_1": [(0, 0, 50, 40, 2), (50, 0, 100, 40, 1)],
        "c_2": [(0, 0, 10, 10, 1)],
    }


def test_items_of_the_given_images_only() -> None:
    (item,) = pixelhumor.items(files(), {"a_b_1": (IMAGE,)})
    assert (item.item_id, item.source, item.cluster, item.images, item.missing) == (
        "a_b_1",
        "a_b",
        "a_b_1",
        (IMAGE,),
        None,
    )
    assert "HELLO" not in str(item)
    assert "Pun" not in str(item)


def test_a_missing_image_is_an_item_with_its_reason() -> None:
    first, second = pixelhumor.items(files(), {"c_2": "HTTP 404", "a_b_1": (IMAGE,)})
    assert (first.item_id, second.item_id) == ("a_b_1", "c_2")  # released order
    assert (second.images, second.missing) == ((), "HTTP 404")


def test_golds_are_joined_on_the_comic() -> None:
    first, second = pixelhumor.golds(files())
    assert first.item_id == "a_b_1"
    assert first.values == {
        "Q1": ["Yes"],
        "Q2": ["Present, contribute"],
        "Q3": ["2"],
        "Q4": ["Both"],
        "Q5": ["Pun", "Dark"],
        "panel_sequence": "2, 1",
        "text": "1: THERE \n 2: HELLO ",
        "number_of_panels": 2,
        "potentially_harmful": "harm",
    }
    assert (second.values["panel_sequence"], second.values["Q3"]) == ("1", ["NA"])


def test_eight_requests_image_before_question() -> None:
    (item,) = pixelhumor.items(files(), {"a_b_1": (IMAGE,)})
    requests = pixelhumor.requests(item)
    assert [request.task for request in requests] == list(pixelhumor.TASKS)
    for request in requests:
        system, user = request.messages
        assert (system.role, system.content) == ("system", (Text(text=ask.PROMPTS["system"]),))
        assert user.role == "user"
        assert user.content == (Image(sha256=IMAGE.sha256), Text(text=ask.PROMPTS[request.task]))
        assert request.sampling.temperature == 0
        assert request.sampling.max_tokens == pixelhumor.LIMITS[request.task]
        assert (request.condition, request.sample, request.item_id) == ("default", 0, "a_b_1")


def test_requests_of_a_missing_image_say_so() -> None:
    (item,) = pixelhumor.items(files(), {"c_2": "gone"})
    assert all(request.messages[1].content[0] == Image(sha256=None) for request in pixelhumor.requests(item))


def test_requests_do_not_depend_on_labels_or_urls() -> None:
    other = files(comic_url=FILES["comic_url.csv"].replace("x.test", "y.test"))
    ids = [
        [
            request.request_id
            for item in pixelhumor.items(given, {"a_b_1": (IMAGE,)})
            for request in pixelhumor.requests(item)
        ]
        for given in (files(), other)
    ]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 8


def test_prompts_are_pinned() -> None:
    """Any change of a prompt, white space included, asks every model anew: this test makes it deliberate."""
    whole = "\0".join([ask.PROMPTS["system"], *(ask.PROMPTS[task] for task in pixelhumor.TASKS)])
    assert (
        hashlib.sha256(whole.encode()).hexdigest() == "e609585a44822c6d70ec5590eaf642dde019bba1ed492146769a0d6dc62d667b"
    )


def replaced(name: str, old: str, new: str) -> dict[str, bytes]:
    assert old in FILES[f"{name}.csv"]
    return files(**{name: FILES[f"{name}.csv"].replace(old, new, 1)})


def read_items(given: dict[str, bytes]) -> object:
    return pixelhumor.items(given, {"a_b_1": (IMAGE,)})


@pytest.mark.parametrize(
    ("read", "name", "old", "new", "expected"),
    [
        (
            pixelhumor.listing,
            "comic_url",
            "comic_url\n",
            "url\n",
            ["comic_url.csv", "line 1", "comic_url", "missing column"],
        ),
        (pixelhumor.listing, "comic_url", "c_2,", "a_b_1,", ["line 3", "a_b_1", "comic_id", "line 2", "once"]),
        (pixelhumor.listing, "comic_url", "c_2,", "../c_2,", ["line 3", "comic_id", "source_number"]),
        (pixelhumor.listing, "comic_url", "c_2,", "c 2", ["line 3"]),
        (
            boxes,
            "metadata",
            "'x1': 0,",
            "'x1': '0',",
            ["metadata.csv", "line 2", "a_b_1", "metadata", "int"],
        ),
        (boxes, "metadata", "'x1': 0,", "'x1': True,", ["line 2", "a_b_1", "int"]),
        (boxes, "metadata", "'x1': 0,", "'x1': -1,", ["line 2", "a_b_1", "0 <= x1 < x2"]),
        (boxes, "metadata", "'x2': 50", "'x2': 0", ["line 2", "a_b_1", "0 <= x1 < x2"]),
        (boxes, "metadata", "'x1': 0, ", "", ["line 2", "a_b_1", "x1"]),
        (boxes, "metadata", "'panel_number': '2'", "'panel_number': 'two'", ["a_b_1", "panel_number"]),
        (boxes, "metadata", "'panel_number': '2'", "'panel_number': '0'", ["a_b_1", "panel_number"]),
        (boxes, "metadata", "{'x1': 0", "{'x1\\ud800': 0", ["line 2", "a_b_1", "half a character"]),
        (boxes, "metadata", "{'x1': 0", "__import__('os'), {'x1': 0", ["line 2", "a_b_1", "list literal"]),
        (boxes, "metadata", "\"[{'x1': 0, 'y1': 0, 'x2': 10", "\"[{'x1': 0", ["line 3", "c_2"]),
        (
            boxes,
            "metadata",
            "\"[{'x1': 0, 'y1': 0, 'x2': 10, 'y2': 10, 'panel_number': '1'}]\"",
            "[]",
            ["c_2"],
        ),
        (
            boxes,
            "metadata",
            "\"[{'x1': 0, 'y1': 0, 'x2': 10, 'y2': 10, 'panel_number': '1'}]\"",
            "[7]",
            ["c_2"],
        ),
        (read_items, "metadata", "'x2': 100", "'x2': 103", ["metadata.csv", "line 2", "a_b_1", "100 x 40", "subset"]),
        (read_items, "metadata", "'y2': 40", "'y2': 43", ["metadata.csv", "line 2", "a_b_1", "100 x 40"]),
        (read_items, "metadata", "a_b_1,", "a_b_9,", ["metadata.csv", "a_b_1", "no panel boxes"]),
        (
            pixelhumor.golds,
            "subjective_label",
            "['Yes']",
            "Yes",
            ["subjective_label.csv", "line 2", "a_b_1", "Q1", "list"],
        ),
        (pixelhumor.golds, "subjective_label", "['Yes']", "['Maybe']", ["line 2", "a_b_1", "Q1", "'Maybe'", "Yes"]),
        (pixelhumor.golds, "subjective_label", "['Yes']", "[['Yes']]", ["line 2", "a_b_1", "Q1"]),
        (pixelhumor.golds, "subjective_label", "['Yes']", "[]", ["line 2", "a_b_1", "Q1"]),
        (pixelhumor.golds, "subjective_label", "['Yes']", "['Yes'", ["line 2", "a_b_1", "Q1"]),
        (pixelhumor.golds, "subjective_label", "['Yes']", "[" * 5000, ["line 2", "a_b_1", "Q1"]),
        (pixelhumor.golds, "subjective_label", "['2']", "['two']", ["line 2", "a_b_1", "Q3", "panel number"]),
        (pixelhumor.golds, "subjective_label", "['2']", "[2]", ["line 2", "a_b_1", "Q3"]),
        (pixelhumor.golds, "subjective_label", "'Dark'", "'Drak'", ["line 2", "a_b_1", "Q5", "'Drak'", "Dark"]),
        (pixelhumor.golds, "subjective_label", ",['Absent']", "", ["line 3", "c_2", "5 cells", "6"]),
        (
            pixelhumor.golds,
            "objective_label",
            '"2, 1"',
            '"2; 1"',
            ["objective_label.csv", "line 3", "a_b_1", "panel_sequence"],
        ),
        (pixelhumor.golds, "objective_label", '"2, 1"', "", ["a_b_1", "panel_sequence", "as 2, 1, 3"]),
        (pixelhumor.golds, "objective_label", '",2\n', '",two\n', ["a_b_1", "number_of_panels", "`int`"]),
        (pixelhumor.golds, "objective_label", '",2\n', '",0\n', ["a_b_1", "number_of_panels"]),
        (pixelhumor.golds, "objective_label", "c_2,", "c_3,", ["objective_label.csv", "only"]),
        (pixelhumor.golds, "harm_annotation", "a_b_1,harm\n", "", ["harm_annotation.csv", "a_b_1", "only"]),
        (pixelhumor.golds, "harm_annotation", ",harm", ",maybe", ["harm_annotation.csv", "line 2", "harm or non-harm"]),
    ],
)
def test_bad_input_is_named(
    read: Callable[[dict[str, bytes]], Iterable[object]], name: str, old: str, new: str, expected: list[str]
) -> None:
    list(read(files()))
    with pytest.raises(PunchlineError) as error:
        list(read(replaced(name, old, new)))
    for part in expected:
        assert part in str(error.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(PunchlineError, match=r"harm_annotation\.csv: the file is not there"):
        list(pixelhumor.golds({name: content for name, content in files().items() if name != "harm_annotation.csv"}))


def test_an_image_of_no_comic() -> None:
    with pytest.raises(PunchlineError, match=r"comic_url\.csv, record c_9.*no such item"):
        pixelhumor.items(files(), {"c_9": (IMAGE,)})


def test_a_box_may_reach_two_pixels_beyond() -> None:
    assert pixelhumor.items(replaced("metadata", "'x2': 100", "'x2': 102"), {"a_b_1": (IMAGE,)})


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        (
            "objective_label",
            '"2, 1"',
            '"2, 2"',
            "objective_label.csv line 3 a_b_1 panel_sequence: 2, 2 is no permutation",
        ),
        ("objective_label", '"2, 1"', '"2, 1, 3"', "a_b_1 panel_sequence: 2, 1, 3 is no permutation of 1 to 2"),
        ("objective_label", " 2: HELLO", " 3: HELLO", "a_b_1 text: the keys 1, 3 are not 1 to 2"),
        ("objective_label", "1: THERE \n 2: HELLO", "HELLO", "a_b_1 text: the keys (none) are not 1 to 2"),
        ("subjective_label", "['2']", "['3']", "subjective_label.csv line 2 a_b_1 Q3: panel 3 of a comic of 2"),
        ("subjective_label", "['Yes']", "['No']", "a_b_1 Q5: ['Pun', 'Dark'] though Q1 is No"),
        (
            "metadata",
            "'panel_number': '2'",
            "'panel_number': '1'",
            "metadata.csv line 2 a_b_1 metadata: the labels 1, 1",
        ),
        ("metadata", "'panel_number': '2'", "'panel_number': '3'", "a_b_1 metadata: the labels 3, 1 are not 1 to 2"),
    ],
)
def test_what_is_odd_is_tolerated_and_told(name: str, old: str, new: str, expected: str) -> None:
    given = replaced(name, old, new)
    assert any(expected in line for line in pixelhumor.oddities(given))
    assert len(list(pixelhumor.golds(given))) == len(pixelhumor.listing(given)) == len(boxes(given)) == 2


def test_nothing_is_odd() -> None:
    assert pixelhumor.oddities(files()) == []
    assert pixelhumor.oddities({"comic_url.csv": files()["comic_url.csv"]}) == []
