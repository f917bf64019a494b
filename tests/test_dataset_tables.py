"""PixelHumor's tables of the data: on small tables made by hand, and on the released annotations."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.records import refused

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor.dataset import ANNOTATORS, EXPERTS, QUESTIONS, votes
from punchline.errors import PunchlineError
from punchline.files import csv_text
from punchline.stats.agreement import consolidate
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


@pytest.mark.parametrize(
    ("votes", "experts", "several", "expected"),
    [
        ([["Yes"], ["No"]], [], False, ("Yes", "No")),  # an unsettled tie keeps both
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
        ("table8: {colums: [a]}", "record table8: unknown key 'colums'. Did you mean 'columns'"),
        ("table8: 3", "record table8: expected a mapping"),
        ("table8: {title: A}\ntable8: {title: B}", "line 2: malformed YAML: the key 'table8' is there twice"),
        ("table8: &a [*a]", "line 1: malformed YAML: the alias 'a' stands within what it names"),
    ):
        (tmp_path / "tables.yaml").write_text(text)
        with pytest.raises(PunchlineError, match=message):
            describe(tmp_path / "tables.yaml", ["table8"])
