"""People's ratings: the file, the statistics, the tables, the blinded sheets."""

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records import refused, response

from punchline.benchmarks import pixelhumor
from punchline.core.storage import write_table
from punchline.errors import PunchlineError
from punchline.files import parse_csv, write_records
from punchline.paths import Paths
from punchline.people.sheet import explanations
from punchline.schema import ImageRef, Item, Request, Response
from punchline.stats import ratings as metric
from punchline.stats.estimate import Median
from punchline.tables import rating_tables
from punchline.tables.ratings import Choice, Explanation, Rating, as_csv, blinded, preferred, read_ratings, unblinded

PANELS = b"comic_id,panel_sequence,text,number_of_panels\n" + b"".join(
    f"x_{n},1,t,{panels}\n".encode() for n, panels in enumerate((1, 4, 4, 9, 12))
)
RATED = """item_id,source,rater,score,choice
x_0,GPT-4o,r1,7,
x_0,GPT-4o,r2,6,
x_1,GPT-4o,r1,5,
x_1,GPT-4o,r2,5,
x_3,GPT-4o,r1,1,
x_3,GPT-4o,r2,4,
x_0,mine,r1,2,
x_4,mine,r1,3,
x_0,,r1,,Human
x_0,,r2,,Human
x_1,,r1,,Human
x_1,,r2,,GPT-4o
x_2,,r1,,GPT-4o
"""
FILES = {"objective_label.csv": PANELS, "ratings.csv": RATED.encode()}


def cells(table: str, files: dict[str, bytes] | None = None) -> dict[tuple[str, str, str], float | None]:
    rows = pixelhumor.TABLES[table].data(FILES if files is None else files)  # type: ignore[misc]
    return {
        (row.model, str(row.keys.get("panels", "")), column): estimate.point()
        for row in rows
        for column, estimate in row.estimates.items()
    }


RATED_TWICE = [[7, 5, 1], [6, 5, 4]]  # x_0, x_1 and x_3 of GPT-4o


@pytest.mark.parametrize(
    ("table", "model", "panels", "column", "expected"),
    [
        ("table5", "GPT-4o", "", "mean", (6.5 + 5 + 2.5) / 3),
        ("table5", "GPT-4o", "", "median", 5),
        ("table5", "GPT-4o", "", "std", statistics.stdev([6.5, 5, 2.5])),
        ("table5", "mine", "", "median", 2.5),
        ("table6", "GPT-4o", "", "exact_match", 1 / 3),
        ("table6", "GPT-4o", "", "mean", (1 + 0 + 3) / 3),
        ("table6", "GPT-4o", "", "median", 1),
        ("table6", "GPT-4o", "", "k_alpha", krippendorff.alpha(RATED_TWICE, level_of_measurement="interval")),
        ("table6", "GPT-4o", "", "k_alpha_ordinal", krippendorff.alpha(RATED_TWICE, level_of_measurement="ordinal")),
        ("table6", "Overall", "", "exact_match", 1 / 3),
        ("figure3", "GPT-4o", "4", "mean", 5),
        ("figure3", "GPT-4o", "over_8", "share", 1 / 3),
        ("figure3", "mine", "over_8", "mean", 3),
    ],
)
def test_tables_by_hand(table: str, model: str, panels: str, column: str, expected: float) -> None:
    assert cells(table)[model, panels, column] == pytest.approx(expected)


def test_preferences_and_one_rater() -> None:
    assert ("mine", "", "k_alpha") not in cells("table6")  # one rater: nothing to agree on
    assert preferred([Choice("x", "1", "a"), Choice("x", "2", "b"), Choice("x", "3", "a")]) == {"x": "a"}
    names = ("Human", "GPT-4o", "(no agreement)")
    assert cells("table7") == {(name, "", "times_selected"): 1 for name in names}


def test_yesbuts_figure_3() -> None:
    from punchline.benchmarks.yesbut import tables as yesbut_tables

    content = "item_id,source,rater,task,aspect,score\n" + "".join(
        f"00001.jpg,m,{rater},description,{aspect},{score}\n"
        for rater, aspect, score in (("a", "correctness", 4), ("b", "correctness", 2), ("a", "faithfulness", 5))
    )
    files = {"Yesbut_data.json": b'[{"image_file": "00001.jpg"}]', "ratings.csv": content.encode()}
    data = yesbut_tables.TABLES["figure3"].data
    assert data is not None
    means = {row.keys["aspect"]: row.estimates["mean"].point() for row in data(files)}
    assert means == {"correctness": 3, "faithfulness": 5}
    with pytest.raises(PunchlineError, match="from 1 to 5"):
        list(data(files | {"ratings.csv": content.replace(",5", ",6").encode()}))


@pytest.mark.parametrize("table", ["table5", "table6", "table7", "figure3"])
def test_without_ratings_no_row(table: str) -> None:
    assert cells(table, {"objective_label.csv": PANELS}) == {}


@pytest.mark.parametrize(("line", "expected"), refused("ratings"))
def test_bad_ratings_are_named(line: str, expected: str) -> None:
    with pytest.raises(PunchlineError) as error:
        read_ratings(f"item_id,source,rater,score,choice\n{line}\n".encode(), "r.csv", items=["x_1"], scale=(1, 7))
    assert str(error.value).startswith("r.csv")
    assert expected in str(error.value)


def test_further_columns_are_kept_apart_and_notes_are_not() -> None:
    content = b"item_id,source,rater,score,aspect\nx,m,r,3,correctness\nx,m,r,4,faithfulness\n"
    scores, _ = read_ratings(content, "r.csv")
    assert [rating.about for rating in scores] == [{"aspect": "correctness"}, {"aspect": "faithfulness"}]
    assert read_ratings(as_csv(scores).encode(), "again.csv")[0] == scores
    with pytest.raises(PunchlineError, match="rated already in line 2"):
        read_ratings(content.replace(b"aspect", b"note"), "r.csv")


SCORES = st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=4), min_size=2, max_size=12)


@given(SCORES)
def test_alpha_is_the_packages(units: list[list[int]]) -> None:
    scale = sorted({score for unit in units for score in unit})
    most = max(map(len, units))
    data = [[unit[i] if i < len(unit) else np.nan for unit in units] for i in range(most)]
    pairable = {score for unit in units if len(unit) > 1 for score in unit}
    for level in ("nominal", "ordinal", "interval"):
        value = float(metric.alpha_of(scale, level)(metric.coincidences(units, scale).sum(axis=0)))  # type: ignore[arg-type]
        if len(pairable) < 2:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(krippendorff.alpha(reliability_data=data, level_of_measurement=level))


@given(st.lists(st.sampled_from([1.0, 1.5, 4.0, 6.5, 7.0]), min_size=2, max_size=30))
def test_moments_are_the_librarys(values: Sequence[float]) -> None:
    scale = sorted(set(values))
    sums = metric.counts(values, scale).sum(axis=0)
    assert float(metric.mean_of(scale)(sums)) == pytest.approx(statistics.mean(values))
    assert float(Median(tuple(scale))(sums)) == statistics.median(values)
    assert float(metric.deviation_of(scale)(sums)) == pytest.approx(statistics.stdev(values))
    two = np.stack([sums, sums])  # as intervals call it
    assert Median(tuple(scale))(two).shape == (2,)


def test_a_sheet_is_blind_and_its_key_opens_it() -> None:
    said = [Explanation(f"x_{n}", source, f"images/x_{n}.png", text) for n in range(5) for source, text in TEXTS]
    sheet, key = blinded(said, 0)
    assert (sheet, key) == blinded(list(reversed(said)), 0)
    assert sheet != blinded(said, 1)[0]
    assert "GPT-4o" not in sheet
    rows = [cells for _, cells in parse_csv(sheet.encode(), (), file="sheet.csv")]
    assert not any(row["explanation"].startswith(("=", "+", "-", "@")) for row in rows)
    filled = sheet.replace(",\n", ",4\n").replace(",\r\n", ",4\r\n")
    found = unblinded(filled.encode(), key.encode(), "r1", sheet_file="sheet.csv", key_file="key.csv")
    assert {(one.item_id, one.source) for one in found} == {(one.item_id, one.source) for one in said}
    assert all(one.score == 4 for one in found)
    assert unblinded(sheet.encode(), key.encode(), "r1", sheet_file="s", key_file="k") == []
    first = f"1,{rows[0]['item_id']},,a text,"
    twice = f"row,item_id,image,explanation,score\n{first}4\n{first}5\n"
    with pytest.raises(PunchlineError, match="row 1 is there twice"):
        unblinded(twice.encode(), key.encode(), "r1", sheet_file="s", key_file="k")
    other = blinded(said[:3], 3)[1]
    with pytest.raises(PunchlineError, match="the key has no row"):
        unblinded(filled.encode(), other.encode(), "r1", sheet_file="s", key_file="k")


TEXTS = (("GPT-4o", '=HYPERLINK("http://x.test","a")'), ("mine", "It is funny, because\nof a pun."))


def test_a_ratings_digest_names_all_of_it() -> None:
    one = Rating("x", "m", "r", 3.0, {"task": "a"})
    assert len({rating_tables.digest(r) for r in (one, one._replace(score=4.0), one._replace(about={}))}) == 3


def test_explanations_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PunchlineError, match="nothing has been asked yet"):
        explanations(Paths(), "pixelhumor", "Q6", ["m"])
    image = ImageRef(path="images/x_1.png", sha256="0" * 64, width=1, height=1)
    items = [Item(benchmark="pixelhumor", item_id="x_1", source="x", cluster="x_1", images=(image,))]
    asked = [request for request in pixelhumor.requests(items[0]) if request.task in ("Q5", "Q6")]
    said = [response(r, f"to {r.task}") for r in asked]
    write_records("data/items/pixelhumor/items.jsonl", items)
    write_table("data/requests/pixelhumor.parquet", asked, Request)
    write_table("data/responses/pixelhumor/m.parquet", said, Response)
    assert explanations(Paths(), "pixelhumor", "Q6", ["m"]) == [Explanation("x_1", "m", "images/x_1.png", "to Q6")]
    with pytest.raises(PunchlineError, match=r"the model has no answers.*Valid: m"):
        explanations(Paths(), "pixelhumor", "Q6", ["n"])
    with pytest.raises(PunchlineError, match="no request has the task 'Q66'"):
        explanations(Paths(), "pixelhumor", "Q66", ["m"])
    with pytest.raises(PunchlineError, match=r"data/runs/other/requests/pixelhumor\.parquet: nothing has been asked"):
        explanations(Paths(run="other"), "pixelhumor", "Q6", ["m"])
