"""PixelHumor's tables of the data: on small tables made by hand, and on the released annotations."""

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
from punchline.benchmarks.pixelhumor.dataset import ANNOTATORS, EXPERTS, QUESTIONS, votes
from punchline.errors import PunchlineError
from punchline.files import csv_text
from punchline.stats.agreement import binary_statistics, nominal_alpha, nominal_statistics
from punchline.tables.declare import describe
from punchline.tables.render import read_published

Points = dict[tuple[str | int, ...], dict[str, float | None]]


def points(name: str, files: dict[str, bytes]) -> Points:
    """The table's values by its keys."""
    table = pixelhumor.TABLES[name]
    assert table.data is not None
    result: Points = {}
    for row in table.data({file: files[file] for file in table.files}):
        assert (row.model, tuple(row.keys), tuple(row.estimates)) == ("released annotations", table.keys, table.columns)
        key = tuple(row.keys.values())
        assert key not in result
        result[key] = {column: estimate.point() for column, estimate in row.estimates.items()}
        assert all(one.digests == () and one.n == len(one.clusters) for one in row.estimates.values())
    return result


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


@pytest.mark.parametrize(("cell", "column", "message"), refused("labels"))
def test_errors_of_votes_name_the_cell(cell: str, column: str, message: str) -> None:
    columns = ["comic_id", *(who + question for who in (*ANNOTATORS, *EXPERTS) for question in QUESTIONS)]
    row = dict.fromkeys(columns, "") | {"comic_id": "r_1", column: cell}
    with pytest.raises(PunchlineError) as error:
        votes({"annotation.csv": csv_text(columns, [row]).encode()})
    assert str(error.value).startswith(f"annotation.csv, line 2, record r_1, field {column}")
    assert message in str(error.value)


@pytest.fixture(scope="module")
def released(mirror: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (mirror / "pixelhumor").glob("*.csv")}


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, Points]:
    """Published values of the dataset tables: {table: {keys: {column: value}}}."""
    result: dict[str, Points] = {}
    for r in read_published(root / "config/published/pixelhumor.csv"):
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
    """Label by label, their order within a cell included: 14,000 cells."""
    table = points("consolidation", released)
    assert table == {(question,): {"equal": 2800, "share": 1} for question in QUESTIONS}


MISPRINTED = yaml.safe_load((Path(__file__).parent / "misprinted.yaml").read_text(encoding="utf-8"))


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "half_unit"),
    [("figure2", 0.5), ("table10", 0.005), ("table11", 0.005), ("table12", 0), ("agreement", 0.003)],
)
def test_where_the_print_differs(
    released: dict[str, bytes], published: dict[str, Points], name: str, half_unit: float
) -> None:
    """Of Figure 2 the print says that most numbers are assumed and to be adjusted to the data."""
    table = points(name, released)
    assert set(table) >= set(published[name])
    assert name in ("figure2", "agreement") or set(table) == set(published[name])
    assert name != "table12" or all(sum(value or 0 for value in row.values()) == 400 for row in table.values())
    result = differences(table, published[name], half_unit)
    assert result == {tuple(place): tuple(values) for place, values in MISPRINTED.get(name, [])}


def test_what_tables_yaml_may_say(tmp_path: Path) -> None:
    for text, message in (
        ("tabel8: {title: A}", "record tabel8: no such table. Did you mean 'table8'"),
        ("table8: {colums: [a]}", "record table8: Object contains unknown field `colums`"),
    ):
        (tmp_path / "tables.yaml").write_text(text)
        with pytest.raises(PunchlineError, match=message):
            describe(tmp_path / "tables.yaml", ["table8"])


@pytest.mark.real
def test_released_disagreements(released: dict[str, bytes]) -> None:
    result = {key: round(row["percent"] or 0, 1) for key, row in points("disagreements", released).items()}
    assert result["third_annotator", "any"] == 17.7 and result["expert", "any"] == 14.2
    assert [result["pair_differs", question] for question in QUESTIONS] == [9.6, 7.3, 15.2, 37.3, 64.1]
