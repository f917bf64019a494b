"""YesBut's released annotations: items, options, table 1."""

import itertools
from pathlib import Path

import pytest
from tests.records import read_golds, read_items
from tests.tabulated import tabulate

from punchline.benchmarks import yesbut
from punchline.benchmarks.yesbut import ANNOTATIONS, TABLES
from punchline.benchmarks.yesbut.answers import read_paper
from punchline.benchmarks.yesbut.options import options
from punchline.tables.render import read_published


@pytest.fixture(scope="module")
def released(mirror: Path) -> dict[str, bytes]:
    path = mirror / "yesbut" / ANNOTATIONS
    if not path.is_file():
        pytest.skip(f"REAL DATA ABSENT: no yesbut/{ANNOTATIONS} in {mirror}; set PUNCHLINE_MIRROR to run this test")
    return {ANNOTATIONS: path.read_bytes()}


@pytest.mark.real
def test_released_annotations(released: dict[str, bytes]) -> None:
    made, golds = read_items(yesbut, released), read_golds(yesbut, released)
    listed = yesbut.listing(released)
    assert len(listed) == 348 and {url.split("/media/")[0] for _, _, url in listed} == {"https://pbs.twimg.com"}
    assert list(made) == list(golds) == [item_id for item_id, _, _ in listed]
    forms = ["{l}", "({l})", "{l}. {t}", "The answer is {l}.", "**{l}**", "{t}", "I choose {l}: {t}", "{l}\n\nA man."]
    for (item_id, gold), kind in itertools.product(golds.items(), yesbut.CHOSEN):
        choices, letter = options(str(made[item_id].fields[kind])), gold.values[kind]
        assert {read_paper(form.format(l=letter, t=choices[letter]), choices) for form in forms} == {letter}


@pytest.mark.real
def test_table1_on_the_released_annotations(released: dict[str, bytes], root: Path) -> None:
    published = read_published(root / "config" / "published" / "yesbut.csv")
    made = tabulate(TABLES["table1"], [], {}, {}, released, published)
    printed = {row["model"]: row for row in made.rows if row["kind"] == "published"}
    for row in (row for row in made.rows if row["kind"] != "published"):
        for column in ("number", "length"):
            value = row.get(column)
            assert printed[row["model"]].get(column) == (None if value is None else f"{value:.0f}")
