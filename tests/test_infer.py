"""Inference asks only what is missing, counts every state, and loses nothing when it is killed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.records import response

from punchline.core.engine import model_key
from punchline.core.storage import read_table
from punchline.errors import PunchlineError
from punchline.schema import Image, ImageRef, Item, Message, ModelCard, Request, Response, Sampling, State, Text, sha256
from punchline.stages.infer import image_files, infer, places_of


class Counting:
    """A small engine of its own: answers with the item's id and counts what it is asked."""

    name = "counting"
    version = "1"

    def __init__(self, needs_images: bool = False, state: State = "ok", dies_after: int | None = None) -> None:
        self.needs_images = needs_images
        self.state = state
        self.dies_after = dies_after
        self.asked: list[str] = []

    def identity(self) -> dict[str, Any]:
        return {"v": 1}

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        for number, request in enumerate(requests):
            if number == self.dies_after:
                raise RuntimeError("the engine died")
            self.asked.append(request.item_id)
            text = request.item_id if self.state == "ok" else None
            about = {"model_key": model_key, "engine": self.name, "engine_version": self.version}
            yield response(request, text, self.state, reason=None, **about)


def requests(count: int, image: str | None = "d" * 64) -> list[Request]:
    message = Message(role="user", content=(Image(sha256=image), Text(text="?")))
    of: dict[str, Any] = {"benchmark": "b", "task": "Q1", "condition": "default", "messages": (message,)}
    return [Request(item_id=f"i{n}", sampling=Sampling(temperature=0, max_tokens=1), **of) for n in range(count)]


def run(folder: Path, engine: Counting | None, asked: list[Request], **options: Any) -> dict[str, int]:
    key = model_key(Counting(), ModelCard(name="m", engine="counting"), "b")
    files = {"journal": folder / "m.jsonl", "snapshot": folder / "m.parquet"}
    return dict(infer(engine, asked, {}, **files, label="test", key=key, **options))


def test_a_second_run_asks_nothing_and_new_items_only(tmp_path: Path) -> None:
    engine = Counting()
    assert run(tmp_path, engine, requests(3)) == {"ok": 3}
    first = (tmp_path / "m.parquet").read_bytes()
    assert run(tmp_path, engine, requests(3)) == {"ok": 3}
    assert (tmp_path / "m.parquet").read_bytes() == first
    assert engine.asked == ["i0", "i1", "i2"]
    assert run(tmp_path, engine, requests(5)) == {"ok": 5}
    assert engine.asked == ["i0", "i1", "i2", "i3", "i4"]


def test_a_smaller_selection_is_a_smaller_view_and_loses_no_answer(tmp_path: Path) -> None:
    engine = Counting()
    run(tmp_path, engine, requests(5))
    run(tmp_path, engine, requests(2))
    assert [r.text for r in read_table(tmp_path / "m.parquet", Response)] == ["i0", "i1"]
    run(tmp_path, engine, requests(5))
    assert len(engine.asked) == 5


def test_an_engine_that_dies_leaves_its_answers_and_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        run(tmp_path, Counting(dies_after=2), requests(5))
    assert not (tmp_path / "m.parquet").exists()
    engine = Counting()
    run(tmp_path, engine, requests(5))
    assert engine.asked == ["i2", "i3", "i4"]


def test_failed_answers_are_asked_again(tmp_path: Path) -> None:
    assert run(tmp_path, Counting(state="failed"), requests(2)) == {"failed": 2}
    engine = Counting()
    assert run(tmp_path, engine, requests(2)) == {"ok": 2}
    assert engine.asked == ["i0", "i1"]


def test_refused_is_an_answer(tmp_path: Path) -> None:
    engine = Counting(state="refused")
    assert run(tmp_path, engine, requests(2)) == {"refused": 2}
    run(tmp_path, engine, requests(2))
    assert len(engine.asked) == 2


@pytest.mark.parametrize("journal", [None, b""])
@pytest.mark.parametrize("state", ["ok", "failed"])
def test_an_absent_journal_is_written_from_the_snapshot(journal: bytes | None, state: State, tmp_path: Path) -> None:
    run(tmp_path, Counting(state=state), requests(2))
    content = (tmp_path / "m.jsonl").read_bytes()
    (tmp_path / "m.jsonl").unlink() if journal is None else (tmp_path / "m.jsonl").write_bytes(journal)
    engine = Counting()
    assert run(tmp_path, engine, requests(2), before=lambda: read_table(tmp_path / "m.parquet", Response)) == {state: 2}
    assert engine.asked == [] and (tmp_path / "m.jsonl").read_bytes() == content
    assert run(tmp_path, engine, requests(2), before=list) == {"ok": 2}  # the journal is there: failed ones are asked


def test_without_an_engine_an_answer_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    run(tmp_path, Counting(), requests(2))
    assert run(tmp_path, None, requests(2)) == {"ok": 2}
    with pytest.raises(PunchlineError, match="1 requests have no answer, though every shard is done"):
        run(tmp_path, None, requests(3))


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_shards_are_disjoint_and_complete_and_keep_items_whole(shards: int) -> None:
    items = ["a", "b", "a", "c", "d", "b", "a", "e"]
    parts = [list(places_of(items, str(shard), shards)) for shard in range(1, shards + 1)]
    assert sorted(place for part in parts for place in part) == list(range(len(items)))
    assert sorted(item for part in parts for item in {items[place] for place in part}) == list("abcde")


def test_a_missing_image_is_counted_and_not_asked(tmp_path: Path) -> None:
    engine = Counting(needs_images=True)
    assert run(tmp_path, engine, requests(2, image=None)) == {"missing": 2}
    assert engine.asked == []
    assert {r.reason for r in read_table(tmp_path / "m.parquet", Response)} == {"image missing"}


def test_an_engine_that_needs_no_image_is_asked_all_the_same(tmp_path: Path) -> None:
    assert run(tmp_path, Counting(needs_images=False), requests(2, image=None)) == {"ok": 2}


def test_changed_image_bytes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"one")
    image = ImageRef(path=str(path), sha256=sha256(b"one"), width=1, height=1)
    item = Item(benchmark="b", item_id="i", source="s", cluster="i", images=(image,))
    assert list(image_files([item])) == [sha256(b"one")]
    path.write_bytes(b"two")
    with pytest.raises(PunchlineError, match=r"a\.png, record i: the image's bytes have changed"):
        image_files([item])
