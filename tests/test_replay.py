"""Released answers of PixelHumor and YesBut: reading of the files, and what is answered from them."""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.cases import cases
from tests.records import refused, request
from tests.test_yesbut import corpus, items

from punchline.artifacts.passes import passes_of
from punchline.benchmarks import yesbut
from punchline.benchmarks.released import Answer
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.benchmark import optional_module
from punchline.core.engine import check_files
from punchline.engines import replay
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Request

GOOD = {
    "xkcd_1": {"Q1": "Yes", "Q5": " Pun, Surprise", "Q6": "", "panel_sequence": "2, 1", "text": "1: HI\n2: “no”"},
    "xkcd_2": {"Q1": None},
    "xkcd_9": {},
}


def asked(task: str, item_id: str = "xkcd_1", **changes: Any) -> Request:
    return request("question", **{"benchmark": "pixelhumor", "item_id": item_id, "task": task} | changes)


def card(path: Path | str, **options: Any) -> ModelCard:
    return ModelCard(name="gpt", engine="replay", options={"format": "pixelhumor", "path": str(path), **options})


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "gpt.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    return path


@pytest.mark.parametrize(("task", "item_id", "changes", "expected"), cases(__file__, "answers", tuple))
def test_answers(good: Path, task: str, item_id: str, changes: dict[str, Any], expected: tuple[Any, ...]) -> None:
    engine = engines.load(card(good), seed=0)
    one = asked(task, item_id, **changes)
    (response,) = engine.answer([one], {}, "key")
    assert (response.state, response.text, response.reason) == expected
    assert (response.request_id, response.model_key, response.engine) == (one.request_id, "key", "replay")
    assert not engine.needs_images


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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        *refused("pixelhumor answers"),
        (b'{"a_1": {\n"Q1": "\xff"}}', "not JSON records"),
        (b"[" * 200_000, "not JSON records"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes | str, expected: str) -> None:
    path = tmp_path / "gpt.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PunchlineError) as error:
        list(replay.engine(card(path), seed=0).answer([asked("Q1")], {}, "key"))
    assert str(error.value).startswith(str(path)) and expected in str(error.value)


def test_file_not_there(tmp_path: Path) -> None:
    output = r"config/model/gpt\.yaml, field path: .*no\.json.*No such file.*working dir"
    with pytest.raises(PunchlineError, match=output):
        replay.engine(card(tmp_path / "no.json"), seed=0).identity()
    with pytest.raises(PunchlineError, match="directory"):
        replay.engine(card(tmp_path), seed=0).identity()


@pytest.mark.parametrize(("options", "expected"), refused("replay"))
def test_bad_options(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(PunchlineError, match=re.escape(expected)) as error:
        replay.engine(ModelCard(name="gpt", engine="replay", options=options), seed=0)
    assert str(error.value).startswith("config/model/gpt.yaml")


def test_answers_are_read_for_a_judge_only_where_the_benchmark_has_one(tmp_path: Path) -> None:
    """Files of other benchmarks are large, and may not be there yet."""
    chosen = {"extractor": None, "judge": None}
    for name, reads in (("pixelhumor", False), ("humorbench", True)):
        path = str(tmp_path / "absent")
        about = {"format": name, "path": path} | ({"annotations": path} if reads else {})
        card = ModelCard(name="m", engine="replay", options=about)
        with pytest.raises(PunchlineError) if reads else nullcontext():
            assert passes_of(benchmarks.load(name), card, replay.engine(card, 0), ["default"], chosen) == {}


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
    requests = list(yesbut.requests(item))
    output = {(r.condition, r.task): a for r, a in zip(requests, engine.answer(requests, {}, "k"), strict=True)}
    assert output["default", "moral_mcq_2"].text == "B" and output["default", "description_1"].text == "x"
    assert output["default", "moral_mcq_1"].reason == "question not in the file"
    assert output["oracle", "moral_mcq_2"].state == "missing"
    assert sum(response.state == "ok" for response in output.values()) == 2


TITLES, DESCRIPTIONS = "title_mcq_prompt3.json", "description_prompt2.json"


@pytest.mark.parametrize(("name", "content", "message"), cases(__file__, "bad"))
def test_bad_replay(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(PunchlineError, match=name) as error:
        replayed(tmp_path, {name: content}).unknown([])
    assert message in str(error.value)


def test_replay_of_descriptions_under_their_other_name() -> None:
    texts = {"1.jpg": {"gen_des": "other"}, "2.jpg": {"gen_des": "other", "output": "own"}, "3.jpg": {"gen_des": None}}
    content = json.dumps([{"image_file": file, **fields} for file, fields in texts.items()])
    read = optional_module("yesbut", "replay").read({"description_prompt2.json": content.encode()}, "f")
    expected = zip(texts, ("other", "own", None), strict=True)
    assert read == {file: {"description_2": Answer(text)} for file, text in expected}


@pytest.mark.parametrize(("name", "expected"), cases(__file__, "misspelt"))
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
