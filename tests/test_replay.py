"""Released answers: reading of the file, and what is answered from it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.errors import PunchlineError
from punchline.core.records import Image, Message, ModelCard, Request, Sampling, Text
from punchline.engines import replay

PIXELHUMOR: Any = benchmarks.released_format("pixelhumor")

GOOD = {
    "xkcd_1": {"Q1": "Yes", "Q5": "Pun, Surprise", "Q6": "", "panel_sequence": "2, 1", "text": "1: HI\n2: “no”"},
    "xkcd_2": {"Q1": None},
    "xkcd_9": {},
}


def request(task: str, item_id: str = "xkcd_1", **changes: Any) -> Request:
    content = (Image(sha256=None), Text(text=f"question {task}"))
    fields: dict[str, Any] = {
        "benchmark": "pixelhumor",
        "item_id": item_id,
        "task": task,
        "condition": "default",
        "messages": (Message(role="user", content=content),),
        "sampling": Sampling(temperature=0, max_tokens=16),
    }
    return Request(**fields | changes)


def card(path: Path | str, **options: Any) -> ModelCard:
    return ModelCard(name="gpt", engine="replay", options={"format": "pixelhumor", "path": str(path), **options})


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "gpt.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("task", "item_id", "changes", "expected"),
    [
        ("Q1", "xkcd_1", {}, ("ok", "Yes", None)),
        ("Q5", "xkcd_1", {}, ("ok", "Pun, Surprise", None)),
        ("Q6", "xkcd_1", {}, ("ok", "", None)),
        ("Q7", "xkcd_1", {}, ("ok", "2, 1", None)),
        ("Q8", "xkcd_1", {}, ("ok", "1: HI\n2: “no”", None)),
        ("Q2", "xkcd_1", {}, ("missing", None, "question not in the file")),
        ("Q1", "xkcd_2", {}, ("missing", None, "null in the file")),
        ("Q1", "xkcd_9", {}, ("missing", None, "question not in the file")),
        ("Q1", "xkcd_3", {}, ("missing", None, "item not in the file")),
        ("Q1", "xkcd_1", {"benchmark": "yesbut"}, ("missing", None, "the file answers pixelhumor only")),
        ("Q1", "xkcd_1", {"sample": 1}, ("missing", None, "the file has one answer to each question as published")),
        (
            "Q1",
            "xkcd_1",
            {"condition": "x"},
            ("missing", None, "the file has one answer to each question as published"),
        ),
    ],
)
def test_answers(good: Path, task: str, item_id: str, changes: dict[str, Any], expected: tuple[Any, ...]) -> None:
    engine = engines.load(card(good), seed=0)
    asked = request(task, item_id, **changes)
    (response,) = engine.answer([asked], {}, "key")
    assert (response.state, response.text, response.reason) == expected
    assert (response.request_id, response.model_key, response.engine) == (asked.request_id, "key", "replay")
    assert not engine.needs_images


def test_comics_that_nobody_asks_for_are_named(good: Path) -> None:
    engine = replay.engine(card(good), seed=0)
    assert engine.unknown(["xkcd_1", "xkcd_3"]) == ["xkcd_2", "xkcd_9"]
    assert engine.unknown(frozenset(GOOD)) == []


def test_identity_is_the_content_not_the_path(good: Path, tmp_path: Path) -> None:
    identity = engines.load(card(good), seed=0).identity()
    assert identity["sha256"] == hashlib.sha256(good.read_bytes()).hexdigest()
    moved = tmp_path / "moved.json"
    moved.write_bytes(good.read_bytes())

    def key(path: Path, seed: int) -> str:
        return engines.model_key(engines.load(card(path), seed), card(path), "pixelhumor")

    assert key(moved, 7) == key(good, 0)
    moved.write_bytes(good.read_bytes() + b"\n")
    assert key(moved, 0) != key(good, 0)


def test_path_is_relative_to_the_working_directory(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(good.parent)
    (response,) = replay.engine(card("gpt.json"), seed=0).answer([request("Q1")], {}, "key")
    assert response.text == "Yes"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"a_1": {"Q1": "Yes",}}', "line 1: not JSON: "),
        (b'{"a_1":\n {"Q1" "Yes"}}', "line 2: not JSON: Expecting ':' delimiter at column 8"),
        (b"", "line 1: not JSON: Expecting value at column 1"),
        (b"{}{}", "not JSON: Extra data at column 3"),
        (b'{"a_1": {\n"Q1": "\xff"}}', "line 2: not JSON: byte 17 is not UTF-8"),
        (b"[]", "expected an object of records"),
        (b"null", "expected an object of records"),
        (b'"a"', "expected an object of records"),
        (b'{"a_1": "Yes"}', "record a_1: expected an object"),
        (b'{"a_1": ["Yes"]}', "record a_1: expected an object"),
        (b'{"a_1": null}', "record a_1: expected an object"),
        (b'{"a_1": {"Q3": 3}}', "record a_1, field Q3: Expected `str | null`, got `int`"),
        (b'{"a_1": {"Q3": NaN}}', "field Q3: Expected `str | null`, got `float`"),
        (b'{"a_1": {"Q1": true}}', "Expected `str | null`, got `bool`"),
        (b'{"a_1": {"Q5": ["Pun"]}}', "record a_1, field Q5: Expected `str | null`, got `array`"),
        (b'{"a_1": {"text": {"1": "HI"}}}', "field text: Expected `str | null`, got `object`"),
        (b'{"a_1": {}, "b_1": {}, "a_1": {}}', "record a_1: the record is there twice"),
        (b'{"a_1": {"Q1": "Yes", "Q1": "No"}}', "record a_1, field Q1: the field is there twice"),
        (b'{"a_1": {"Q7": "1"}}', "record a_1: Object contains unknown field `Q7`. Did you mean"),
        (b'{"a_1": {"panel_sequnce": "1"}}', "Did you mean 'panel_sequence'?"),
        (b'{"a_1": {"Q1": "\\ud800"}}', "field Q1: half a surrogate pair"),
        (b'{"\\udc00": {}}', "expected a plain file name for an id"),
        (b"[" * 200_000, "not JSON that can be read"),
        (b'{"a_1": {"Q3": ' + b"1" * 5000 + b"}}", "not JSON that can be read"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "gpt.json"
    path.write_bytes(content)
    with pytest.raises(PunchlineError) as error:
        list(replay.engine(card(path), seed=0).answer([request("Q1")], {}, "key"))
    assert str(error.value).startswith(str(path)) and expected in str(error.value)


def test_a_byte_order_mark_is_no_content() -> None:
    assert PIXELHUMOR.read({"f": b'\xef\xbb\xbf{"a_1": {"Q1": "No"}}'}, "f") == {"a_1": {"Q1": "No"}}


def test_file_not_there(tmp_path: Path) -> None:
    engine = replay.engine(card(tmp_path / "no.json"), seed=0)
    with pytest.raises(
        PunchlineError, match=r"config/model/gpt\.yaml, field path: .*no\.json.*No such file.*working dir"
    ):
        engine.identity()
    with pytest.raises(PunchlineError, match="directory"):
        replay.engine(card(tmp_path), seed=0).identity()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"format": "pixelhumor", "path": "a", "pth": "b"}, "unknown option 'pth'. Did you mean 'path'?"),
        ({"format": "pixelhumor"}, "field path: the option is missing"),
        ({"path": "a.json"}, "field format: the option is missing"),
        ({"format": "pixelhumour", "path": "a"}, "unknown format 'pixelhumour'. Did you mean 'pixelhumor'?"),
        ({"format": "pixelhumor", "path": 3}, "field path: expected a text, got 3"),
        ({"format": "pixelhumor", "path": ""}, "field path: expected a text, got ''"),
        ({"format": "pixelhumor", "path": "a", "select": ["b"]}, "field select: expected {column: value}"),
    ],
)
def test_bad_options(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(PunchlineError, match=re.escape(expected)) as error:
        replay.engine(ModelCard(name="gpt", engine="replay", options=options), seed=0)
    assert str(error.value).startswith("config/model/gpt.yaml")


def test_nothing_to_select(good: Path) -> None:
    with pytest.raises(PunchlineError, match="nothing to select"):
        list(replay.engine(card(good, select={"model": "gpt-4o"}), seed=0).answer([request("Q1")], {}, "key"))


def _reads_or_says_why(content: bytes) -> None:
    try:
        answers = PIXELHUMOR.read({"gpt.json": content}, "gpt.json")
    except PunchlineError as error:
        assert str(error).startswith("gpt.json")
    else:
        for tasks in answers.values():
            assert set(tasks) <= {f"Q{n}" for n in range(1, 9)}
            assert all(text is None or text.encode() is not None for text in tasks.values())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["Q1", "Q9", "text"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.binary(max_size=60))
def test_any_bytes(content: bytes) -> None:
    _reads_or_says_why(content)


@given(st.dictionaries(st.text(st.characters()), st.dictionaries(st.sampled_from(["Q1", "text"]), _VALUES, max_size=2)))
def test_any_json(value: Any) -> None:
    _reads_or_says_why(json.dumps(value).encode())


@given(
    st.dictionaries(
        st.text(),
        st.dictionaries(st.sampled_from(PIXELHUMOR.Comic.__struct_fields__), st.none() | st.text()),
    )
)
def test_good_files_are_read_as_they_stand(value: dict[str, dict[str, str | None]]) -> None:
    expected = {
        comic: {PIXELHUMOR.TASK_OF.get(field, field): text for field, text in answers.items()}
        for comic, answers in value.items()
    }
    for ascii_only in (True, False):
        assert PIXELHUMOR.read({"f": json.dumps(value, ensure_ascii=ascii_only).encode()}, "f") == expected
