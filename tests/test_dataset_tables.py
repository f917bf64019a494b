"""PixelHumor's tables of the data: on small tables made by hand, and on the released annotations."""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.records import refused

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor.dataset import (
    ANNOTATORS,
    EXPERTS,
    QUESTIONS,
    consolidate_comic,
    gold_labels,
    votes,
    words,
)
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv
from punchline.stats.agreement import binary_statistics, consolidate, nominal_alpha, nominal_statistics
from punchline.stats.intervals import interval
from punchline.tables.declare import describe

Points = dict[tuple[str | int, ...], dict[str, float | None]]


def points(name: str, files: dict[str, bytes]) -> Points:
    """The table's values by its keys."""
    table = pixelhumor.TABLES[name]
    assert table.data is not None
    result: Points = {}
    for row in table.data({file: files[file] for file in table.files}):
        assert row.model == "released annotations"
        assert tuple(row.keys) == table.keys
        assert tuple(row.estimates) == table.columns
        key = tuple(row.keys.values())
        assert key not in result
        result[key] = {column: estimate.point() for column, estimate in row.estimates.items()}
        for estimate in row.estimates.values():
            assert estimate.digests == () and not len(estimate.used)
            assert estimate.n == len(estimate.clusters)
    return result


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    return csv_text(columns, (dict(zip(columns, row, strict=True)) for row in rows)).encode()


def annotations(comics: dict[str, dict[str, list[list[str]]]]) -> bytes:
    """{comic: {annotator: the five answers}} as annotation.csv."""
    everyone = [*ANNOTATORS, *EXPERTS]
    columns = ["comic_id", *(a + q for a in everyone for q in QUESTIONS)]
    return as_csv(columns, [[c, *(x for a in everyone for x in own.get(a, [""] * 5))] for c, own in comics.items()])


def labels(comics: dict[str, list[Any]]) -> bytes:
    return as_csv(["comic_id", *QUESTIONS], [[comic, *own] for comic, own in comics.items()])


def texts(*rows: tuple[str, str, str]) -> bytes:
    return as_csv(["comic_id", "panel_sequence", "text", "number_of_panels"], [[c, "1", t, n] for c, t, n in rows])


def said(q1: str, q2: str, q3: str, q4: list[str], q5: list[str]) -> list[list[str]]:
    return [[q1], [q2], [q3], q4, q5]


NO = said("No", "Absent", "NA", ["NA"], ["NA"])


@pytest.mark.parametrize(
    ("votes", "experts", "several", "expected"),
    [
        ([["Yes"], ["Yes"]], [], False, ("Yes",)),
        ([["Yes"], ["No"]], [], False, ("Yes", "No")),  # an unsettled tie keeps both
        ([["Yes"], ["No"]], [["No"]], False, ("No",)),
        ([["Yes"], ["Yes"], ["No"]], [["No"], ["No"]], False, ("Yes",)),  # settled: the experts are not asked
        ([["Pun", "Dark"], ["Pun", "Dark", "Surprise"]], [["Surprise"]], True, ("Pun", "Dark")),
        ([["Pun"], ["Dark"]], [], True, ()),  # nothing has 2 votes
        ([["Pun"], ["Dark"]], [["Dark", "Pun", "Surprise"]], True, ("Pun", "Dark")),
        ([[], []], [], True, ()),
        ([[], []], [["Yes"]], False, ("Yes",)),
    ],
)
def test_consolidate(votes: Any, experts: Any, several: bool, expected: tuple[str, ...]) -> None:
    assert consolidate(votes, experts, several=several) == expected


def of_two(one: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[Any, Any]]]:
    return st.lists(st.tuples(one, one), min_size=2, max_size=20)


@given(of_two(st.sampled_from("abcd")), of_two(st.sets(st.sampled_from("xyz"))))
def test_alphas_are_krippendorffs(pairs: list[tuple[str, str]], sets: list[tuple[set[str], set[str]]]) -> None:
    """Of one label each, and pooled over questions; undefined without variation."""
    binary = [[float(label in first), float(label in second)] for first, second in sets for label in "xyz"]
    codes = [[float(ord(label)) for label in pair] for pair in pairs]
    for given_, statistics in ((codes, nominal_statistics(pairs)), (binary, binary_statistics(sets, "xyz"))):
        value, data = float(nominal_alpha(statistics.sum(axis=0))), np.array(given_).T
        one = len(np.unique(data)) == 1
        expected = np.nan if one else krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert np.isnan(nominal_alpha(nominal_statistics([]).sum(axis=0)))


YES = said("Yes", "Absent", "1", ["Text"], ["Pun"])


def vote(cell: str, column: str) -> tuple[str, ...]:
    """Labels of one cell of annotation.csv."""
    question = QUESTIONS.index(column[-2:])
    own = [""] * question + [cell] + [""] * (4 - question)
    return votes({"annotation.csv": annotations({"r_1": {column[:-2]: own}})})["r_1"].get(column, ())  # type: ignore[dict-item]


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
    | st.from_regex(r"\[('[^']*'(, )?)*\]", fullmatch=True)
)
def test_a_vote_is_read_or_refused(cell: str) -> None:
    with contextlib.suppress(PunchlineError):
        result = vote(cell, "A1Q3")
        assert all(isinstance(label, str) for label in result) and bool(result) == bool(cell.strip())


@pytest.mark.parametrize(("cell", "column", "message"), refused("labels"))
def test_errors_of_votes_name_the_cell(cell: str, column: str, message: str) -> None:
    with pytest.raises(PunchlineError) as error:
        vote(cell, column)
    assert str(error.value).startswith(f"annotation.csv, line 2, record r_1, field {column}")
    assert message in str(error.value)


OBJECTIVE, SUBJECTIVE, ANNOTATION = "objective_label.csv", "subjective_label.csv", "annotation.csv"


@pytest.mark.parametrize(
    ("table", "files", "says"),
    [
        ("table10", {}, "objective_label.csv: the file is not there"),
        (
            "table10",
            {OBJECTIVE: texts(("a_1", "x\ny", "2"), ("a_2", "", "two"))},
            "objective_label.csv, line 4, record a_2, field number_of_panels: Expected `int`, got `str`, got 'two'",
        ),
        (
            "table11",
            {OBJECTIVE: texts(("a_1", "", "2"), ("a_1", "", "2"))},
            "objective_label.csv, line 3, record a_1, field comic_id: the id is there already, in line 2",
        ),
        ("table11", {OBJECTIVE: texts(("a1", "", "2"))}, "objective_label.csv, line 2, field comic_id: 'a1' is no"),
        ("table11", {OBJECTIVE: b"comic_id,number_of_panels\na_1,2\n"}, "objective_label.csv, line 1, field panel_seq"),
        (
            "figure2",
            {SUBJECTIVE: labels({"a_1": YES, "a_2": [*YES[:4], ""]})},
            "subjective_label.csv, line 3, record a_2, field Q5: '' is not a Python list literal",
        ),
        (
            "consolidation",
            {SUBJECTIVE: labels({"a_1": YES}), ANNOTATION: annotations({"a_2": {"A1": YES}})},
            "annotation.csv, record a_2, field comic_id: no record of this comic in subjective_label.csv",
        ),
        ("agreement", {ANNOTATION: b"\xff"}, "annotation.csv, line 1: byte 0 is not UTF-8"),
    ],
)
def test_errors_name_the_place(table: str, files: dict[str, bytes], says: str) -> None:
    with pytest.raises(PunchlineError) as error:
        list(pixelhumor.TABLES[table].data(files))
    assert str(error.value).startswith(says)


SMALL = {
    "annotation.csv": annotations(
        {
            "a_1": {
                "A1": said("Yes", "Absent", "1", ["Text", "Visual"], ["Pun", "Dark"]),
                "A2": said("Yes", "Absent", "2", ["Text", "Visual"], ["Dark"]),
                "A9": said("Yes", "Absent", "2", ["Text"], ["Pun"]),
            },
            "a_2": {  # A3 is a third annotator, not of the pair
                "A3": said("Yes", "Present, contribute", "1", ["Text"], ["Pun", "Surprise"]),
                "A5": said("Yes", "Present, contribute", "1", ["Visual"], ["Pun"]),
                "A6": said("Yes", "Absent", "1", ["Text"], ["Surprise"]),
            },
            "b_1": {"A7": NO, "A8": said("Yes", "Absent", "1", ["Text"], ["Dark"]), "A12": NO},
            "b_2": {"A1": YES},  # one annotator only
            "b_3": {},  # none
        }
    ),
    "subjective_label.csv": labels(
        {
            "a_1": said("Yes", "Absent", "2", ["Both"], ["Dark"]),
            "a_2": said("Yes", "Present, contribute", "1", ["Text"], ["Pun", "Surprise"]),
            "b_1": NO,
            "b_2": said("Yes", "Present, do not contribute", "1", ["Visual"], ["Pun"]),
            "b_3": said("Yes", "Absent", "1", ["Text"], ["Silliness", "Dark"]),
        }
    ),
    "objective_label.csv": texts(
        ("b_1", "", "1"), ("a_1", "1: ONE TWO\n 2: THREE", "2"), ("a_2", "1: ONE", "5"), ("b_2", "X Y", "3")
    ),
}


def test_words_panels_and_consolidation_of_a_few_comics() -> None:
    counted = {"1: HELLO THERE\n 2: \n 3: BYE": 3, "NO LABEL HERE": 3, "1:A AT 10: SHARP": 4, "1 : X": 3, "1: ": 0}
    assert {text: words(text) for text in counted} == counted  # only a label that begins a line goes
    assert vote(" ['Text', 'Visual'] ", "A12Q4") == ("Text", "Visual") and vote("  ", "A1Q1") == ()
    row = next(iter(pixelhumor.TABLES["table10"].data(SMALL)))
    assert {name for name, found in row.estimates.items() if interval(found) != (None, None)} == {"average"}
    table = points("consolidation", SMALL)
    # b_2: Q1 and Q3 follow from the one vote, Q2 and Q4 do not, Q5 has no style with two votes: not counted
    assert [table[question,]["equal"] for question in QUESTIONS] == [4, 3, 4, 3, 3] and len(table) == 5
    assert (table["Q2",]["share"], table["Q5",]["share"]) == (0.75, 1)


def test_small_agreement() -> None:
    """Pairs: a_1 (A1, A2), a_2 (A5, A6), b_1 (A7, A8; one No). b_2 and b_3 have none."""
    table = points("agreement", SMALL)
    assert table["Q1",]["agreement"] == pytest.approx(2 / 3)
    assert [table[q,]["agreement"] for q in ("Q2", "Q3", "Q4", "Q5")] == [0.5, 0.5, 0.5, 0.5]
    assert table["overall",]["agreement"] == pytest.approx((2 / 3 + 4 * 0.5) / 5)
    # Q5: a_1 differs on Pun only, a_2 on Pun and Surprise: 13 of 16 pairs agree, 5 of 32 answers are yes
    assert table["Q5",]["alpha"] == pytest.approx(1 - 31 * 6 / (32**2 - 27**2 - 5**2))
    alphas = [table[q,]["alpha"] for q in QUESTIONS]
    assert table["overall",]["alpha"] == pytest.approx(np.mean(alphas))  # type: ignore[arg-type]
    table = points("agreement", {"annotation.csv": annotations({"b_2": {"A1": YES}})})  # without any pair
    assert all(value is None for row in table.values() for value in row.values())


@pytest.fixture(scope="module")
def released(mirror: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (mirror / "pixelhumor").glob("*.csv")}


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, Points]:
    """Published values of the dataset tables: {table: {keys: {column: value}}}."""
    path = root / "config" / "published" / "pixelhumor.csv"
    result: dict[str, Points] = {}
    for _, r in parse_csv(path.read_bytes(), ("table", "key"), file=path):
        if r["row"] == "published annotations":
            key = tuple(part.split("=")[1] for part in r["key"].split(";"))
            result.setdefault(r["table"], {}).setdefault(key, {})[r["column"]] = float(r["value"])
    return result


def differences(measured: Points, printed: Points, half_unit: float) -> dict[tuple[str, ...], tuple[float, float]]:
    """{(keys, column): (measured, printed)} where rounding does not explain the difference."""
    return {
        (*map(str, key), column): (round(float(measured[key][column] or 0), 4), value or 0)
        for key, columns in printed.items()
        for column, value in columns.items()
        if abs((measured[key][column] or 0) - (value or 0)) > half_unit + 1e-9
    }


@pytest.mark.real
def test_raw_votes_give_the_released_labels(released: dict[str, bytes]) -> None:
    """Cell by cell, the order of the labels within a cell included: 14,000 cells."""
    voted, gold = votes(released), gold_labels(released)
    assert len(voted) == len(gold) == 2800
    assert {(c, q) for c in gold for q in QUESTIONS if consolidate_comic(voted[c], q) != gold[c][q]} == set()
    table = points("consolidation", released)
    assert table == {(question,): {"equal": 2800, "share": 1} for question in QUESTIONS}


MISPRINTED = yaml.safe_load((Path(__file__).parent / "misprinted.yaml").read_text(encoding="utf-8"))


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "half_unit"), [("figure2", 0.5), ("table10", 0.005), ("table11", 0.005), ("table12", 0)]
)
def test_where_the_print_differs(
    released: dict[str, bytes], published: dict[str, Points], name: str, half_unit: float
) -> None:
    """Of Figure 2 the print says that most numbers are assumed and to be adjusted to the data."""
    table = points(name, released)
    assert set(table) >= set(published[name])
    assert name == "figure2" or set(table) == set(published[name])
    assert name != "table12" or all(sum(value or 0 for value in row.values()) == 400 for row in table.values())
    result = differences(table, published[name], half_unit)
    assert result == {tuple(place): tuple(values) for place, values in MISPRINTED[name]}


@pytest.mark.real
def test_released_agreement(released: dict[str, bytes], published: dict[str, Points]) -> None:
    table = points("agreement", released)
    near = differences(table, published["agreement"], 0.003)
    assert near == {}, "within 0.003 of the print, 0.872 and 0.556"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tabel8: {title: A}", "tables.yaml, record tabel8: no such table. Did you mean 'table8'? Valid: table8"),
        ("table8: {colums: [a]}", "tables.yaml, record table8: Object contains unknown field `colums`"),
        ("table8: {keys: a}", "tables.yaml, record table8: Expected `array`, got `str` - at `$.keys`"),
    ],
)
def test_what_tables_yaml_may_say(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "tables.yaml").write_text(text)
    with pytest.raises(PunchlineError) as error:
        describe(tmp_path / "tables.yaml", ["table8"])
    assert str(error.value).endswith(message)


@pytest.mark.real
def test_released_disagreements(released: dict[str, bytes]) -> None:
    result = {key: round(row["percent"] or 0, 1) for key, row in points("disagreements", released).items()}
    assert result["third_annotator", "any"] == 17.7 and result["expert", "any"] == 14.2
    assert [result["pair_differs", question] for question in QUESTIONS] == [9.6, 7.3, 15.2, 37.3, 64.1]
