"""Reports and exports: which pictures and annotations they may hold, how cells, answers and items are shown."""

import base64
import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.cases import cases
from tests.records import score

from punchline.artifacts.project import Project
from punchline.config.runs import selection_of
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.export import export, hf
from punchline.export.samples import ExportItem
from punchline.files import write_records, write_text
from punchline.paths import Paths
from punchline.read.result import Read
from punchline.report import figures, public
from punchline.report.answers import span
from punchline.report.items import columns
from punchline.report.pictures import OWN, Right, held, items_with_rights, rights
from punchline.report.shards import code, script, write_parts
from punchline.report.tables import Cell, Sheet, cell
from punchline.schema import Gold, ImageRef, Item, sha256
from punchline.tables.declare import Table
from punchline.workflow.processes import MODES, PICTURES, PUBLIC, is_public

OPEN = ("CC BY-NC 2.5", "CC BY-SA 4.0", "CC0", "CC-BY 4.0", "public domain")
SHUT = ("CC BY-ND 4.0", "cc-by-nc-nd-2.5", "none stated", "", "all rights reserved", "not CC BY")
LICENCES = dict.fromkeys(OPEN, "open") | dict.fromkeys(SHUT, "all")


def chosen(*, drawn: bool) -> Any:
    """As much of a project as pictures.py asks."""
    return SimpleNamespace(selection=SimpleNamespace(corpus=SimpleNamespace(drawn=drawn)), paths=Paths())


def pinned(benchmark: str, *lines: str) -> None:
    content = "\n".join(["comic_id,page_url,licence,credit", *lines, ""])
    write_text(f"data/manifests/{benchmark}/images_pinned.csv", content)


@pytest.mark.parametrize("licence", LICENCES)
def test_a_licence_decides(licence: str, here: Path) -> None:
    pinned("yesbut", f"c,https://a.example/c,{licence},by C")
    known = rights(chosen(drawn=False), "yesbut")
    assert known["c"] == Right(LICENCES[licence], licence, "by C", "https://a.example/c")
    item = Item(benchmark="yesbut", item_id="o", source="s", cluster="o", fields={"page_url": "https://a.example/o"})
    write_records("data/items/yesbut/items.jsonl", [item])
    for drawn, right in ((False, Right("all", url="https://a.example/o")), (True, OWN)):
        assert list(items_with_rights(chosen(drawn=drawn), "yesbut")) == [(item, right)]


def test_nothing_is_held_that_may_not_be_passed_on(here: Path) -> None:
    pinned("pixelhumor", "open_1,,CC BY-NC 2.5,O", "shut_1,,none stated,S")
    images = [ImageRef(path="p.png", sha256=name, width=1, height=1) for name in ("open_1", "shut_1", "new_1")]
    about: dict[str, Any] = {"benchmark": "pixelhumor", "source": "s", "cluster": "c"}
    items = [Item(item_id=image.sha256, images=(image,), **about) for image in images]
    write_records("data/items/pixelhumor/items.jsonl", items)
    of_mode = {mode: [image.sha256 for image in held(chosen(drawn=False), "pixelhumor", mode)] for mode in MODES}
    assert of_mode == {"own": [], "open": ["open_1"], "all": ["open_1", "shut_1", "new_1"]}
    assert len(list(held(chosen(drawn=True), "pixelhumor", "own"))) == 3


def test_what_is_pinned_today_is_open(in_root: None) -> None:
    for benchmark in ("pixelhumor", "stripcipher"):
        known = rights(chosen(drawn=False), benchmark)
        assert known and all(right.mode == "open" and right.credit and right.licence for right in known.values())


TABLE = Table("t", "T", across=lambda _: [], columns=("wer", "count"), counts=("count",), lower_is_better=("wer",))
CELLS = [
    ({"wer": "0.12345", "wer_lo": "0.1", "wer_hi": "0.2"}, "wer", Cell("0.123", "0.12345", "0.100 to 0.200", True)),
    ({"wer": "0.12345", "wer_lo": "", "wer_hi": ""}, "wer", Cell("0.123", "0.12345", "", True)),
    ({"wer": ""}, "wer", Cell("", "", "", True)),
    ({"count": "2800.0"}, "count", Cell("2,800", "2800.0", "", True)),
    ({"wer": "1e-05"}, "wer", Cell("0.000", "1e-05", "", True)),
    ({"n": "2800"}, "n", Cell("2800", "2800", "", True)),
    ({"model": "<script>"}, "model", Cell("<script>", "<script>")),
    ({"model": "a\u202eb\x1b[31m"}, "model", Cell("a\\u202eb\\x1b[31m", "a\\u202eb\\x1b[31m")),
]


@pytest.mark.parametrize(("values", "column", "expected"), CELLS)
def test_cells_are_shown(values: dict[str, str], column: str, expected: Cell) -> None:
    assert cell(values, column, TABLE) == expected


def sheet(*rows: dict[str, str]) -> Sheet:
    return Sheet("b", TABLE, "t.csv", ["model", "wer"], rows)


HOSTILE = "<script>alert(1)</script>\"'&"


def test_charts_hold_no_script_and_no_address_of_elsewhere() -> None:
    drawn = figures.svg(figures.forest(sheet({"model": HOSTILE, "kind": "measured", "wer": ".2"})))
    assert "<script" not in drawn and "&lt;script" in drawn and "style=" not in drawn
    assert drawn.replace('xmlns="http://www.w3.org/2000/svg"', "").count("http") == 0


def test_lower_errors_stand_higher_kinds_apart_and_no_value_is_said() -> None:
    rows = [("bad", "measured", "0.9"), ("good", "measured", "0.1"), ("guess", "baseline", "0.0")]
    text = json.dumps(figures.forest(sheet(*({"model": m, "kind": k, "wer": v} for m, k, v in rows))))
    assert text.index("good") < text.index("bad") < text.index("guess")
    assert figures.forest(sheet({"model": "a", "kind": "measured", "wer": ""})) == {} and figures.svg({}) == ""
    result = figures.svg(figures.on_paper(figures.nothing("results/<b>.csv")))
    assert "results/&lt;b&gt;.csv has no value to draw" in result and "currentColor" not in result


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
def test_where_an_answer_was_read(text: str | None, reads: list[Any], expected: list[int] | None) -> None:
    assert span(text, reads) == expected


@pytest.mark.parametrize(("task", "state", "metrics", "parsed", "expected"), cases(__file__, "glances"))
def test_an_answer_at_a_glance(task: str, state: Any, metrics: dict[str, float], parsed: Any, expected: str) -> None:
    gold = Gold(benchmark="pixelhumor", item_id="c", values={"Q1": ["Yes"], "Q2": ["Singing"]})
    read = tuple(parsed) if parsed else None
    result = score("c", task=task, state=state, parsed=read, metrics=metrics, responses=("d",))
    value = benchmarks.right("pixelhumor", result, gold)
    assert code(result, value) == expected
    assert code(result, value, {"d"}) == ("a" if state == "missing" else expected)  # a baseline does not attempt it


def test_a_wall_filters_by_what_tells_items_apart() -> None:
    rows = [{"id": [str(n)], "style": [["a", "b"][n % 2]], "same": ["x"], "text": ["w" * n]} for n in range(40)]
    rows.append({"style": ["a", "b"]})
    assert columns(rows) == {"style": [*([["a"], ["b"]] * 20), ["a", "b"]]}


SCRIPTS = ["</script><script>window.hit = 1</script>", "\u2028\u202e\x00", '");alert(1);("', "__proto__", "a/../b"]


@pytest.mark.parametrize("text", SCRIPTS)
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


BYTES = b"\x89PNG of nobody's licence"


def test_a_full_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(PunchlineError, match="not an empty folder"):
        export(Project(selection_of("default")), "hf", tmp_path, "open")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(("right", "held"), [(OWN, True), (Right("all", url="https://example.org/1"), False)])
def test_a_picture_that_may_not_be_passed_on_is_a_link(tmp_path: Path, right: Right, held: bool) -> None:
    (tmp_path / "a.png").write_bytes(BYTES)
    image = ImageRef(path=str(tmp_path / "a.png"), sha256=sha256(BYTES), width=1, height=1)
    item = Item(benchmark="b", item_id="1", source="s", cluster="1", images=(image,))
    one = ExportItem(item, Gold(benchmark="b", item_id="1", values={}), right, held)
    path = tmp_path / "items.parquet"
    hf.write_rows(path, hf.ITEMS, [hf.item_row(one)])
    (row,) = pq.read_table(path).to_pylist()
    assert [picture["bytes"] for picture in row["images"]] == ([BYTES] if held else [])
    assert (row["url"], row["image_sha256"]) == (right.url, [sha256(BYTES)])


OPEN_LICENCES = ("MIT", "Apache-2.0", "CC0", "CC BY-NC-SA 4.0", "public domain")
STRIPS = "of the project; the strips are under licences of their own"
NONE = ("none stated", "none stated; README: for research purposes only", "proprietary", "", "not MIT")


def test_a_licence_opens_or_not() -> None:
    for licence in [*OPEN_LICENCES, STRIPS, *NONE]:
        assert bool(public.OPEN.match(licence)) == (licence not in NONE)


def test_annotations_are_private_by_their_licences(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = here / "data/manifests/b/annotations.csv"
    manifest.parent.mkdir(parents=True)
    for licences, drawn, asked, reason in (
        (["MIT", "CC0"], False, "true", ""),
        (["MIT", "none stated", ""], False, "true", "none stated"),
        (["none stated"], False, "false", ""),
        (["none stated"], True, "true", ""),
    ):
        monkeypatch.setenv(PUBLIC, asked)
        rows = "".join(f"{n}.csv,https://a.example/x,{licence}\n" for n, licence in enumerate(licences))
        manifest.write_text(f"path,url,licence\n{rows}")
        project: Any = SimpleNamespace(selection=SimpleNamespace(corpus=SimpleNamespace(drawn=drawn)))
        why = public.why_private(project, "b")
        assert bool(why) == bool(reason) and reason in why


def test_a_public_report_is_asked_for_by_config(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = ((None, "", False), ("false", "all", False), ("TRUE", "open", True), (True, "own", True))
    for asked, pictures, expected in cases:
        monkeypatch.setenv(PICTURES, pictures)
        assert is_public(asked) is expected
    with pytest.raises(PunchlineError, match="expected true or false, got 'yes'"):
        is_public("yes")
    monkeypatch.setenv(PICTURES, "all")
    with pytest.raises(PunchlineError, match="may not be shared"):
        is_public("true")
