"""Replay of released answers to YesBut."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.test_yesbut import corpus, items

from punchline.benchmarks import yesbut
from punchline.core.benchmark import optional_module
from punchline.core.engine import check_files
from punchline.engines import replay
from punchline.errors import PunchlineError
from punchline.schema import ModelCard


def replayed(path: Path, files: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """The engine that replays a folder, with these files written to it."""
    for name, content in (files or {}).items():
        (path / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    card = ModelCard(name="m", engine="replay", options={"format": "yesbut", "path": str(path)} | options)
    engine = replay.engine(card, 0)
    check_files(card, engine)
    return engine


def outputs(**by_id: Any) -> list[dict[str, Any]]:
    files = {f"{name.removeprefix('c')}.jpg": text for name, text in by_id.items()}
    return [{"image_file": file, "output": text, "title": "ignored"} for file, text in files.items()]


def test_replay(tmp_path: Path) -> None:
    files = {"moral_mcq_prompt2.json": outputs(c00001="B", c00009=None)}
    engine = replayed(tmp_path, files | {"description_prompt1.json": outputs(c00001="x")})
    assert [Path(file).name for file in engine.files] == ["description_prompt1.json", "moral_mcq_prompt2.json"]
    assert engine.unknown(["00001.jpg"]) == ["00009.jpg"]
    (item,) = items(corpus())
    requests = yesbut.requests(item)
    output = {(r.condition, r.task): a for r, a in zip(requests, engine.answer(requests, {}, "k"), strict=True)}
    assert output["default", "moral_mcq_2"].text == "B" and output["default", "description_1"].text == "x"
    assert output["default", "moral_mcq_1"].reason == "question not in the file"
    assert output["oracle", "moral_mcq_2"].state == "missing"
    assert sum(response.state == "ok" for response in output.values()) == 2


TITLES, DESCRIPTIONS = "title_mcq_prompt3.json", "description_prompt2.json"
NO_OUTPUT = "record 1.jpg: Object missing required field `output`"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (TITLES, '[{"image_file": "1.jpg", "output": "A"', "not JSON"),
        (TITLES, "{}", "expected a list of records"),
        (TITLES, "[null]", "record number 1: expected an object"),
        (TITLES, [{"output": "A"}], "record number 1, field image_file"),
        (TITLES, [{"image_file": 3, "output": "A"}], "field image_file"),
        (TITLES, [{"image_file": "1.jpg"}], NO_OUTPUT),
        (TITLES, [{"image_file": "1.jpg", "gen_des": "A"}], NO_OUTPUT),
        (TITLES, '[{"image_file": "1.jpg", "output": "A", "output": "B"}]', "'output' is there twice"),
        (TITLES, [{"image_file": "1.jpg", "output": 3}], "Expected `str | null`, got `int`"),
        (TITLES, outputs(c1="\ud800"), "surrogates"),
        (TITLES, outputs(c1="A") * 2, "record 1.jpg, field image_file: the record is there twice"),
        (DESCRIPTIONS, [{"image_file": "1.jpg", "gen_des": 3}], "field gen_des: Expected `str | null`"),
        (DESCRIPTIONS, [{"image_file": "1.jpg", "gen_des": "\ud800"}], "surrogates"),
    ],
)
def test_bad_replay(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(PunchlineError, match=name) as error:
        replayed(tmp_path, {name: content}).unknown([])
    assert message in str(error.value)


def test_replay_of_descriptions_under_their_other_name() -> None:
    texts = {"1.jpg": {"gen_des": "other"}, "2.jpg": {"gen_des": "other", "output": "own"}, "3.jpg": {"gen_des": None}}
    content = json.dumps([{"image_file": file, **fields} for file, fields in texts.items()])
    read = optional_module("yesbut", "replay").read({"description_prompt2.json": content.encode()}, "f")
    assert read == {file: {"description_2": text} for file, text in zip(texts, ("other", "own", None), strict=True)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("description_promt1.json", "Did you mean 'description_prompt1.json'"),
        ("title_prompt1.json", "title_mcq_prompt1.json"),
        ("moral_mcq_prompt3.JSON", "Did you mean 'moral_mcq_prompt3.json'"),
        ("notes.json", "Valid: contradiction_prompt1.json"),
    ],
)
def test_replay_of_a_misspelt_file(tmp_path: Path, name: str, expected: str) -> None:
    good = {"title_mcq_prompt3.json": "[]", "README.md": "", "._title_mcq_prompt1.json": ""}
    for files in ({name: "[]"}, good):  # alone, and beside one that is well named
        with pytest.raises(PunchlineError, match=f"unknown file '{name}'") as error:
            replayed(tmp_path, files)
        assert str(error.value).startswith(str(tmp_path)) and expected in str(error.value)
    (tmp_path / name).unlink()
    assert [Path(file).name for file in replayed(tmp_path, good).files] == ["title_mcq_prompt3.json"]


def test_replay_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(PunchlineError, match=r"is no folder with answers. Expected any of: .*title_mcq_prompt3\.json"):
        replayed(tmp_path)
    with pytest.raises(PunchlineError, match="no such file"):
        replayed(tmp_path / "absent")
    with pytest.raises(PunchlineError, match="nothing to select"):
        replayed(tmp_path, {"title_mcq_prompt3.json": []}, select={"a": 1}).unknown([])
    for name in ("title_prompt1.json", "title_mcq_prompt1.json", "a.json"):
        (tmp_path / name).write_text("[]", encoding="utf-8")
        with pytest.raises(PunchlineError, match=r"m\.yaml, field path: .* is no folder"):
            replayed(tmp_path / name)
