"""Satire: what its manifest lists, and how answers are scored."""

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.cases import cases
from tests.records import response
from tests.tabulated import score_responses

from punchline.benchmarks import satire
from punchline.schema import Gold, Item, State


def test_labels_stages_and_clusters_are_those_of_the_paper(root: Path) -> None:
    files = {"images.csv": (root / "data/manifests/satire/images.csv").read_bytes()}
    golds = satire.golds(files)
    items = satire.items(files, {gold.item_id: "not fetched" for gold in golds})
    counts = Counter((item.fields["stage"], gold.values["satirical"]) for item, gold in zip(items, golds, strict=True))
    assert counts == {("2", "Yes"): 283, ("3", "Yes"): 302, ("3", "No"): 547, ("4", "Yes"): 499, ("4", "No"): 916}
    assert set(Counter(item.cluster for item in items).values()) == {9}


@pytest.mark.parametrize(("text", "gold", "state", "metrics"), cases(__file__, "scores"))
def test_scores(text: str | None, gold: str, state: State, metrics: dict[str, float]) -> None:
    item = Item(benchmark="satire", item_id="a", source="stage_2", cluster="c", fields={"stage": "2"})
    (requests,) = satire.requests(item)
    answers = {} if text is None else {"satirical": response(requests, text)}
    right = Gold(benchmark="satire", item_id="a", values={"satirical": gold})
    (score,) = score_responses(satire, answers, item, right, rules=["paper"])
    assert (score.state, score.metrics) == (state, metrics)


def test_baselines() -> None:
    (requests,) = satire.requests(Item(benchmark="satire", item_id="a", source="stage_2", cluster="c", fields={}))
    assert {satire.baseline("random", requests, random.Random(n)) for n in range(9)} == {"Yes", "No"}
    assert satire.baseline("ocr", requests, random.Random(0)) is None
