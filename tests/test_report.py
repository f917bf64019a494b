"""Which pictures a report may hold, how cells are shown."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from punchline.files import write_records, write_text
from punchline.paths import Paths
from punchline.report import figures
from punchline.report.pictures import OWN, Right, held, items_with_rights, rights
from punchline.report.tables import Cell, Sheet, cell
from punchline.schema import ImageRef, Item
from punchline.tables.declare import Table
from punchline.workflow.processes import MODES

OPEN = ("CC BY-NC 2.5", "CC BY-SA 4.0", "CC0", "CC-BY 4.0", "public domain")
SHUT = ("CC BY-ND 4.0", "cc-by-nc-nd-2.5", "none stated", "", "all rights reserved", "not CC BY")
LICENCES = dict.fromkeys(OPEN, "open") | dict.fromkeys(SHUT, "all")


def chosen(*, drawn: bool) -> Any:
    """As much of a project as pictures.py asks."""
    return SimpleNamespace(selection=SimpleNamespace(corpus=SimpleNamespace(drawn=drawn)), paths=Paths())


def pinned(benchmark: str, *lines: str) -> None:
    write_text(
        f"data/manifests/{benchmark}/images_pinned.csv", "\n".join(["comic_id,page_url,licence,credit", *lines, ""])
    )


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


def test_what_is_pinned_today_is_open(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
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
