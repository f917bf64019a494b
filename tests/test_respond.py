"""Responding asks only what is missing, counts every state, and loses nothing when it is killed."""

from pathlib import Path
from typing import Any

import pytest
from tests.asked import Counting, ask
from tests.records import request

from punchline import text
from punchline.core.engine import model_key
from punchline.core.storage import read_table
from punchline.errors import PunchlineError
from punchline.respond import image_files
from punchline.schema import Image, ImageRef, Item, ModelCard, Request, Response, State, sha256


def requests(count: int, image: str | None = "d" * 64) -> list[Request]:
    return [request(Image(sha256=image), "?", item_id=f"i{n}") for n in range(count)]


def run(folder: Path, engine: Counting | None, asked: list[Request], **options: Any) -> dict[str, int]:
    key = model_key(Counting(), ModelCard(name="m", engine="counting"), "b")
    return dict(ask(engine, asked, {}, journal=folder / "m.jsonl", index=folder / "m.parquet", key=key, **options))


@pytest.mark.parametrize("journal", [None, b"", b'{"record":{"torn'])
@pytest.mark.parametrize("state", ["ok", "failed"])
def test_answers_that_only_an_index_holds_are_not_asked(journal: bytes | None, state: State, tmp_path: Path) -> None:
    run(tmp_path, Counting(state=state), requests(2))
    path, indexes = tmp_path / "m.jsonl", [tmp_path / "none.parquet", tmp_path / "m.parquet"]
    content = path.read_bytes()
    path.unlink() if journal is None else path.write_bytes(journal)
    engine = Counting()
    assert run(tmp_path, engine, requests(2), indexes=indexes) == {state: 2}
    assert engine.asked == [] and path.read_bytes() == content


def test_nobody_is_asked_while_a_line_is_damaged(tmp_path: Path) -> None:
    run(tmp_path, Counting(), requests(2))
    path = tmp_path / "m.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"i0"', b'"i9"'))
    engine = Counting()
    with pytest.raises(PunchlineError, match=r"m\.jsonl, line 1: the record differs from its sha256"):
        run(tmp_path, engine, requests(2))
    assert engine.asked == []
    assert run(tmp_path, engine, requests(2), indexes=[tmp_path / "m.parquet"]) == {"ok": 2}  # nothing to ask


def test_a_missing_image_is_counted_and_not_asked(tmp_path: Path) -> None:
    engine = Counting(needs_images=True)
    assert run(tmp_path, engine, requests(2, image=None)) == {"missing": 2}
    assert engine.asked == []
    assert {r.reason for r in read_table(tmp_path / "m.parquet", Response)} == {"image missing"}
    assert run(tmp_path / "blind", Counting(), requests(2, image=None)) == {"ok": 2}


def test_changed_image_bytes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"one")
    image = ImageRef(path=str(path), sha256=sha256(b"one"), width=1, height=1)
    item = Item(benchmark="b", item_id="i", source="s", cluster="i", images=(image,))
    assert list(image_files([item])) == [sha256(b"one")]
    path.write_bytes(b"two")
    with pytest.raises(PunchlineError, match=r"a\.png, record i: the image's bytes have changed"):
        image_files([item])


def test_the_first_time_left_comes_after_three_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of eight answers every six seconds."""
    lines, now = list[str](), 0
    monkeypatch.setattr(text, "log_line", lines.append)
    monkeypatch.setattr("punchline.text.time.monotonic", lambda: now)
    for number in text.track(range(100), 100, "m", at_once=8):
        now += 6 * (number % 8 == 0)
    assert lines[:3] == ["m: 1 of 100", "m: 9 of 100", "m: 17 of 100"]
    assert lines[3].startswith("m: 25 of 100, 0.9 a second, about 79 s left")
