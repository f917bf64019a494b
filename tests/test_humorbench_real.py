"""HumorBench as released: every element is read, labels and released answers join, and what can be recounted is."""

from collections import Counter
from pathlib import Path

import pytest
from tests.records import read_golds, read_items, response
from tests.tabulated import Scored, tabulate

from punchline.benchmarks import humorbench
from punchline.benchmarks.humorbench import CATEGORIES, judge_requests, score_item
from punchline.benchmarks.humorbench.answers import parse_verdict
from punchline.benchmarks.humorbench.dataset import EXAMPLES
from punchline.core.benchmark import Verdict
from punchline.engines.lexical import engine as lexical
from punchline.files import parse_csv
from punchline.schema import RULES, Gold, Item, ModelCard, Score

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def folder(mirror: Path) -> Path:
    path = mirror / "humorbench"
    if not path.is_dir():
        pytest.skip(f"REAL DATA ABSENT: no humorbench/ in {mirror}; set PUNCHLINE_MIRROR to run this test")
    return path


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in humorbench.GOLD_FILES}


@pytest.fixture(scope="module")
def items(files: dict[str, bytes]) -> dict[str, Item]:
    return read_items(humorbench, files)


@pytest.fixture(scope="module")
def golds(files: dict[str, bytes]) -> dict[str, Gold]:
    return read_golds(humorbench, files)


def test_categories(golds: dict[str, Gold]) -> None:
    """The released category files give .238, .363 and .156; the paper's Table 3 prints .244, .190 and .257."""
    count = {category: sum(gold.values[category] for gold in golds.values()) for category in CATEGORIES}
    assert count == {"wordplay": 119, "cultural_reference": 181, "toxic_or_shocking": 78}


def test_two_ids_of_annotations_occur_twice(items: dict[str, Item]) -> None:
    twice = Counter(item.fields["idx"] for item in items.values())
    assert {idx for idx, n in twice.items() if n > 1} == {"292", "403"}


def test_what_a_judge_that_counts_words_is_worth(
    folder: Path, files: dict[str, bytes], items: dict[str, Item], golds: dict[str, Gold]
) -> None:
    """overlap at its card's threshold against the 100 labels of people: 68 agree; saying PASS always has 73."""
    rubric = (folder / "rubric/gpt_4o_rubric.csv").read_bytes()
    labelled = [cells for _, cells in parse_csv(rubric, ("caption", "element", "explanation", "label"), file="rubric")]
    assert Counter(cells["label"] for cells in labelled) == {"PASS": 73, "FAIL": 27}

    def plain(text: object) -> str:
        return str(text).replace("\r\n", "\n").strip()

    row_of = {(item.cluster, plain(golds[row].values["element"])): row for row, item in items.items()}
    judge = lexical(ModelCard(name="o", engine="lexical", options={"baseline": "overlap", "threshold": 0.3}), 0)
    scores: list[Score] = []
    for cells in labelled:
        row = row_of[plain(cells["caption"]), plain(cells["element"])]
        responses = {"explain": response("r", cells["explanation"])}
        asked = judge_requests(items[row], golds[row], responses)
        verdicts = {said.request_id: Verdict("overlap", said) for said in judge.answer(asked, {}, "k")}
        assert all(parse_verdict(said.response.text or "") for said in verdicts.values())
        for rule in RULES:
            scores += score_item(responses, items[row], golds[row], "gpt-4o", rule, verdicts)
    made = tabulate(
        humorbench.TABLES["table1"],
        [Scored("gpt-4o", "measured", "replay", scores)],
        golds,
        items,
        {**files, "gpt_4o_rubric.csv": rubric},
    )
    one, overall = made.rows
    assert (one["model"], one["n"], one["judge"], overall["model"]) == ("gpt-4o", 100, "overlap", "Overall")
    for found in (one, overall):
        assert found["accuracy"] == pytest.approx(0.68)
        assert found["fpr"] == pytest.approx(14 / 27)
        assert found["fnr"] == pytest.approx(18 / 73)


def test_the_dataset_and_the_papers_examples(folder: Path, files: dict[str, bytes], items: dict[str, Item]) -> None:
    rubric = {"gpt_4o_rubric.csv": (folder / "rubric/gpt_4o_rubric.csv").read_bytes()}
    (row,) = humorbench.TABLES["dataset"].data(files | rubric)
    assert row.model == "released annotations"
    assert {column: found.point() for column, found in row.estimates.items()} == {
        "elements": 499,
        "pairs": 309,
        "judged_explanations": 100,
    }
    rows = {cells["idx"]: cells for _, cells in parse_csv(files[humorbench.ANNOTATIONS], ("idx",), file="annotations")}
    for cartoon, idx in EXAMPLES.items():
        cells = rows[idx]
        number = cells["contest_number"].removesuffix(".0")
        assert cartoon == (f"NYCC #{number}" if number else cells["cartoonstock_id"])
        assert sum(item.fields["idx"] == idx for item in items.values()) == 1


def test_none_of_the_six_runs_explains_what_people_labelled(folder: Path) -> None:
    """So Table 1 cannot come from their verdicts; it comes from verdicts of their own (test_humorbench_runs.py)."""
    rubric = parse_csv((folder / "rubric/gpt_4o_rubric.csv").read_bytes(), ("explanation",), file="rubric")
    released = parse_csv((folder / "released_responses.csv").read_bytes(), ("explanation",), file="released")
    texts = [{cells["explanation"].replace("\r\n", "\n").strip() for _, cells in rows} for rows in (rubric, released)]
    assert len(texts[0]) == 100 and not texts[0] & texts[1]
