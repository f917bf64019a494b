"""HumorBench as released: every element is read, labels and released answers join, and what can be recounted is."""

from collections import Counter
from pathlib import Path

import pytest
from tests.records import read_golds, read_items, response
from tests.tabulated import Scored, tabulate

from punchline.benchmarks import humorbench
from punchline.benchmarks.humorbench import judge_requests, score_item
from punchline.benchmarks.humorbench.answers import parse_verdict
from punchline.benchmarks.humorbench.dataset import EXAMPLES
from punchline.benchmarks.humorbench.labels import read_labelled
from punchline.core.benchmark import Verdict
from punchline.engines.baselines import engine as lexical
from punchline.files import parse_csv
from punchline.schema import RULES, ModelCard, Score

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def folder(mirror: Path) -> Path:
    return mirror / "humorbench"


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in humorbench.GOLD_FILES}


def test_what_a_judge_that_counts_words_is_worth(folder: Path, files: dict[str, bytes]) -> None:
    """overlap at its card's threshold against the 100 labels of people: 68 agree; saying PASS always has 73."""
    items, golds = read_items(humorbench, files), read_golds(humorbench, files)
    rubric = (folder / "rubric/gpt_4o_rubric.csv").read_bytes()
    labelled = read_labelled(rubric, "rubric", files[humorbench.ANNOTATIONS])
    assert Counter(one.label for one in labelled) == {"PASS": 73, "FAIL": 27}
    judge = lexical(ModelCard(name="o", engine="lexical", options={"baseline": "overlap", "threshold": 0.3}), 0)
    scores: list[Score] = []
    for one in labelled:
        about, responses = (items[one.item_id], golds[one.item_id]), {"explain": response("r", one.explanation)}
        requests = judge_requests(*about, responses)
        verdicts = {said.request_id: Verdict("overlap", said) for said in judge.answer(requests, {}, "k")}
        assert all(parse_verdict(said.response.text or "") for said in verdicts.values())
        for rule in RULES:
            scores += score_item(responses, *about, "gpt-4o", rule, verdicts)
    model, table = Scored("gpt-4o", "measured", "replay", scores), humorbench.TABLES["table1"]
    result = tabulate(table, [model], golds, items, {**files, "gpt_4o_rubric.csv": rubric})
    assert [(row["model"], row["n"], row["judge"]) for row in result.rows] == [
        ("gpt-4o", 100, "overlap"),
        ("Overall", 100, "overlap"),
    ]
    for matches in result.rows:
        assert [matches[name] for name in ("accuracy", "fpr", "fnr")] == pytest.approx([0.68, 14 / 27, 18 / 73])


def test_the_papers_examples(files: dict[str, bytes]) -> None:
    rows = [cells for _, cells in parse_csv(files[humorbench.ANNOTATIONS], ("idx",), file="annotations")]
    for cartoon, idx in EXAMPLES.items():
        (cells,) = (cells for cells in rows if cells["idx"] == idx)
        number = cells["contest_number"].removesuffix(".0")
        assert cartoon == (f"NYCC #{number}" if number else cells["cartoonstock_id"])
