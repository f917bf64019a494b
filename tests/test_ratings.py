"""People's ratings: the file, the statistics, the tables, the blinded sheets."""

import math
import statistics
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records import refused

from punchline.benchmarks import pixelhumor, yesbut
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.rating.draw import declared
from punchline.rating.texts import blinded, unblinded
from punchline.schema import Item
from punchline.stats import ratings as metric
from punchline.tables import rating_tables
from punchline.tables.ratings import Choice, Rating, as_csv, preferred, read_ratings

PANELS = b"comic_id,panel_sequence,text,number_of_panels\n" + b"".join(
    f"x_{n},1,t,{panels}\n".encode() for n, panels in enumerate((1, 4, 4, 9, 12))
)
# An item, its source, points or choices by raters r1 and r2.
POINTS = [one.split() for one in ("x_0 GPT-4o 7 6", "x_1 GPT-4o 5 5", "x_3 GPT-4o 1 4", "x_0 mine 2", "x_4 mine 3")]
CHOICES = [one.split() for one in ("x_0 Human Human", "x_1 Human GPT-4o", "x_2 GPT-4o")]
RATED = "item_id,source,rater,score,choice\n"
RATED += "".join(f"{item},{source},r{k},{one},\n" for item, source, *of in POINTS for k, one in enumerate(of, 1))
RATED += "".join(f"{item},,r{k},,{choice}\n" for item, *choices in CHOICES for k, choice in enumerate(choices, 1))
FILES = {"objective_label.csv": PANELS, "ratings.csv": RATED.encode()}


def cells(table: str, files: dict[str, bytes] | None = None) -> dict[tuple[str, str], dict[str, float | None]]:
    """Values of a table by source and panels."""
    rows = pixelhumor.TABLES[table].data(FILES if files is None else files)  # type: ignore[misc]
    return {
        (row.model, str(row.keys.get("panels", ""))): {name: of.point() for name, of in row.estimates.items()}
        for row in rows
    }


RATED_TWICE = [[7, 5, 1], [6, 5, 4]]  # x_0, x_1 and x_3 of GPT-4o
LEVELS = {"k_alpha": "interval", "k_alpha_ordinal": "ordinal"}
ALPHAS = {name: krippendorff.alpha(RATED_TWICE, level_of_measurement=level) for name, level in LEVELS.items()}


def test_tables_by_hand() -> None:
    for table, model, panels, expected in (
        ("table5", "GPT-4o", "", {"mean": 14 / 3, "median": 5, "std": statistics.stdev([6.5, 5, 2.5])}),
        ("table5", "mine", "", {"median": 2.5}),
        ("table6", "GPT-4o", "", ALPHAS | {"exact_match": 1 / 3, "mean": 4 / 3, "median": 1}),
        ("table6", "Overall", "", {"exact_match": 1 / 3}),
        ("figure3", "GPT-4o", "4", {"mean": 5}),
        ("figure3", "GPT-4o", "over_8", {"share": 1 / 3}),
        ("figure3", "mine", "over_8", {"mean": 3}),
    ):
        made = cells(table)[model, panels]
        assert {name: made[name] for name in expected} == pytest.approx(expected)


def test_preferences_one_rater_and_none() -> None:
    assert "k_alpha" not in cells("table6").get(("mine", ""), {})  # one rater: nothing to agree on
    assert preferred([Choice("x", "1", "a"), Choice("x", "2", "b"), Choice("x", "3", "a")]) == {"x": "a"}
    assert cells("table7") == {(name, ""): {"times_selected": 1} for name in ("Human", "GPT-4o", "(no agreement)")}
    assert not any(cells(one, {"objective_label.csv": PANELS}) for one in ("table5", "table6", "table7", "figure3"))


def test_yesbuts_figure_3() -> None:
    votes = (("a", "correctness", 4), ("b", "correctness", 2), ("a", "faithfulness", 5))
    lines = (f"00001.jpg,m,{rater},description,{aspect},{score}\n" for rater, aspect, score in votes)
    content = "item_id,source,rater,task,aspect,score\n" + "".join(lines)
    files = {"Yesbut_data.json": b'[{"image_file": "00001.jpg"}]', "ratings.csv": content.encode()}
    data: Any = yesbut.TABLES["figure3"].data
    means = {row.keys["aspect"]: row.estimates["mean"].point() for row in data(files)}
    assert means == {"correctness": 3, "faithfulness": 5}
    with pytest.raises(PunchlineError, match="from 1 to 5"):
        list(data(files | {"ratings.csv": content.replace(",5", ",6").encode()}))


@pytest.mark.parametrize(("line", "expected"), refused("ratings"))
def test_bad_ratings_are_named(line: str, expected: str) -> None:
    with pytest.raises(PunchlineError) as error:
        read_ratings(f"item_id,source,rater,score,choice\n{line}\n".encode(), "r.csv", items=["x_1"], scale=(1, 7))
    assert str(error.value).startswith("r.csv") and expected in str(error.value)


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
    pairs = [unit[:2] for unit in units if len(unit) > 1]
    matrices = metric.coincidences(pairs, scale).sum(axis=0)
    alpha = metric.nominal_alpha(metric.nominal_counts(pairs, scale).sum(axis=0))
    assert float(alpha) == pytest.approx(float(metric.alpha_of(scale, "nominal")(matrices)), nan_ok=True)


TEXTS = {"GPT-4o": '=HYPERLINK("http://x.test","a")', "mine": "It is funny, because\nof a pun."}
ITEMS = {f"x_{n}": Item(benchmark="b", item_id=f"x_{n}", source="s", cluster="c") for n in range(5)}


@pytest.mark.parametrize(("study", "task", "questions"), [("pixelhumor/relevance", "", 1), ("texts", "description", 3)])
def test_a_sheet_is_blind_and_its_key_opens_it(tmp_path: Path, study: str, task: str, questions: int) -> None:
    output = {(item_id, task, source): text for item_id in ITEMS for source, text in TEXTS.items()}
    _, _, declaration = declared(study)
    sheet, key = blinded(declaration, output, ITEMS, 0)
    assert sheet != blinded(declaration, output, ITEMS, 1)[0] and "GPT-4o" not in sheet
    rows = [cells for _, cells in parse_csv(sheet.encode(), (), file="sheet.csv")]
    assert not any(row["explanation"].startswith(("=", "+", "-", "@")) for row in rows)
    filled, keyed = tmp_path / "r1.csv", tmp_path / "key.csv"
    filled.write_text(sheet.replace(",\n", ",4\n"))
    keyed.write_text(key)
    result = unblinded(filled, keyed)
    assert {(one.item_id, one.about.get("task", ""), one.source) for one in result} == set(output)
    assert {(one.score, one.rater) for one in result} == {(4, "r1")}
    assert len(read_ratings(as_csv(result).encode(), "r.csv")[0]) == 10 * questions
    filled.write_text(sheet)
    assert unblinded(filled, keyed) == []


def test_sheets_with_keys_of_version_0_1(tmp_path: Path) -> None:
    sheet, key = tmp_path / "r1.csv", tmp_path / "key.csv"
    key.write_text("row,item_id,source\n1,x_0,m\n2,x_1,m\n")
    sheet.write_text("row,item_id,score\n1,x_0,4\n2,x_1,\n")
    assert unblinded(sheet, key) == [Rating("x_0", "m", "r1", 4.0, {})]
    for lines, expected in (
        ("3,x_0,4\n", "r1.csv, line 2, record x_0: the key has no row '3' of this item. Use the key that was written"),
        ("1,x_9,4\n", "the key has no row '1' of this item"),
        ("1,x_0,4?\n", "field score: '4\\?' is no number"),
    ):
        sheet.write_text(f"row,item_id,score\n{lines}")
        with pytest.raises(PunchlineError, match=expected):
            unblinded(sheet, key)


def test_a_ratings_digest_names_all_of_it() -> None:
    one = Rating("x", "m", "r", 3.0, {"task": "a"})
    assert len({rating_tables.digest(r) for r in (one, one._replace(score=4.0), one._replace(about={}))}) == 3
    with pytest.raises(PunchlineError, match="for studies in which raters give points"):
        blinded(declared("elements")[2], {}, {}, 0)
