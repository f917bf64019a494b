"""Answers and items as data for pages: where an answer was read, how right it is, what a wall filters by."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.records import score

from punchline.core import benchmark as benchmarks
from punchline.read.result import Read
from punchline.report import public
from punchline.report.answers import span
from punchline.report.items import columns
from punchline.report.shards import code, packed, script, write_parts
from punchline.schema import Gold

TEXT = "<think>No.</think>\U0001f600 Yes, so it is"
SPANS: list[tuple[str | None, list[tuple[str, Read[Any]]], list[int] | None]] = [
    (None, [], None),
    ("", [("", Read("x", 0, 1))], None),
    (TEXT, [], None),
    (TEXT, [(TEXT, Read("Yes", 20, 23))], [20, 23]),
    (TEXT, [(TEXT, Read(None, 0, 0))], None),  # nothing was read
    (TEXT, [(TEXT[18:], Read("Yes", 2, 5))], [20, 23]),  # a reader that was given a part
    (TEXT, [("of another answer", Read("Yes", 0, 3))], None),
    (TEXT, [(TEXT, Read("No", 7, 9)), (TEXT, Read("Yes", 20, 23))], [20, 23]),  # the last that read something
    (TEXT, [(TEXT, Read("Yes", 20, 23)), ("Yes", Read("Yes", 0, 3))], [20, 23]),  # the whole answer's own goes first
]


@pytest.mark.parametrize(("text", "reads", "expected"), SPANS)
def test_where_an_answer_was_read(
    text: str | None, reads: list[tuple[str, Read[Any]]], expected: list[int] | None
) -> None:
    assert span(text, reads) == expected


GLANCES: list[tuple[str, str, dict[str, float], list[str] | None, str]] = [
    ("Q1", "ok", {}, ["Yes"], "y"),
    ("Q1", "ok", {}, ["no"], "n"),
    ("Q2", "ok", {}, ["Humming", "Singing"], "p"),  # F1 of one right label of two
    ("Q7", "ok", {"panel_acc": 1.0}, ["2", "1"], "y"),
    ("Q8", "ok", {"wer": 0.25}, ["a"], "p"),
    ("Q8", "ok", {"wer": 3.0}, ["a"], "n"),  # more wrong words than there are
    ("Q6", "ok", {}, None, "-"),
    ("Q7", "missing", {}, None, "m"),
    ("Q7", "failed", {}, None, "f"),
    ("Q7", "refused", {"panel_acc": 0.0}, None, "r"),
    ("Q7", "unparsable", {"panel_acc": 0.0}, None, "u"),
]


@pytest.mark.parametrize(("task", "state", "metrics", "parsed", "expected"), GLANCES)
def test_an_answer_at_a_glance(
    task: str, state: Any, metrics: dict[str, float], parsed: list[str] | None, expected: str
) -> None:
    gold = Gold(benchmark="pixelhumor", item_id="c", values={"Q1": ["Yes"], "Q2": ["Singing"]})
    read = tuple(parsed) if parsed else None
    result = score("c", task=task, state=state, parsed=read, metrics=metrics, responses=("d",))
    assert code(result, benchmarks.right("pixelhumor", result, gold)) == expected


def test_values_are_packed() -> None:
    assert packed([1.0, None, 0.0]) == "1.0"
    assert packed([1.0, 0.25, None]) == [1.0, 0.25, None]


def test_a_wall_filters_by_what_tells_items_apart() -> None:
    rows = [{"id": [str(n)], "style": [["a", "b"][n % 2]], "same": ["x"], "text": ["w" * n]} for n in range(40)]
    rows.append({"style": ["a", "b"]})
    assert columns(rows) == {"style": [*([["a"], ["b"]] * 20), ["a", "b"]]}


HOSTILE = ["</script><script>window.hit = 1</script>", "\u2028\u202e\x00", '");alert(1);("', "__proto__", "a/../b"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_data_file_holds_text_as_text(text: str, tmp_path: Path) -> None:
    written = script(text, {text: [text]}).decode()
    key, packed = json.loads("[" + written.removeprefix("punchline.put(").removesuffix(");\n") + "]")
    assert key == text and json.loads(gzip.decompress(base64.b64decode(packed))) == {text: [text]}
    write_parts(str(tmp_path / "index.js"), text, {"index": 1, "0": 2})
    stamp = (tmp_path / "0.js").stat().st_mtime_ns
    write_parts(str(tmp_path / "index.js"), text, {"index": 3, "0": 2})
    assert (tmp_path / "0.js").stat().st_mtime_ns == stamp  # the same: left as it is
    write_parts(str(tmp_path / "index.js"), text, {"index": 3})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.js"]  # a chunk of before is gone


def test_what_annotations_say_is_left_out_of_a_public_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gold, panels, fields and questions, a judge's among them; answers stay, and what a picture is blurred for."""
    item = {
        "fields": {"caption": "SECRET"},
        "gold": {"text": "SECRET", "potentially_harmful": "yes"},
        "boxes": [[[0, 0, 1, 1, "SECRET"]], []],
        "asked": [["id", "Q1", "default", 0, "which of SECRET"]],
        "images": ["a.png"],
    }
    answers = {"1": {"answers": [{"text": "said"}], "heard": [{"question": "is it SECRET", "text": "PASS"}]}}
    facets = {"source": [["a"]], "style": [["SECRET"]], "potentially_harmful": [["yes"]]}
    index = {"facets": facets, "ids": ["1"], "titles": ["SECRET"], "texts": ["SECRET"]}
    codes = {"states": {"released": {"Q1@default": "y"}}}
    monkeypatch.setattr(public, "why_private", lambda project, benchmark: "none stated")
    items = {"0": {"1": item}, "index": index}
    for parts in (items, {"0": answers, "index": codes}):
        public.leave_out_private(None, "pixelhumor", parts)  # type: ignore[arg-type]
        assert "SECRET" not in str(parts)
    assert (item["images"], item["gold"]) == (["a.png"], {"potentially_harmful": "yes"})
    assert index["facets"] == {"source": [["a"]], "potentially_harmful": [["yes"]]}
    assert answers["1"]["answers"] == [{"text": "said"}] and answers["1"]["heard"][0]["text"] == "PASS"
    assert codes == {"states": {"released": {"Q1@default": "y"}}}
