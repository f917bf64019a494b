"""Captions that HumorBench and Hummus share, and the odds ratio of naming and explaining."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.records import read_items

from punchline.benchmarks import hummus, humorbench
from punchline.validity.links import caption_of, link, links


def pairs(clusters: int, both: int, only_hummus: int, only_humorbench: int, neither: int) -> pd.DataFrame:
    cells = [(1, 1)] * both + [(1, 0)] * only_hummus + [(0, 1)] * only_humorbench + [(0, 0)] * neither
    joined = pd.DataFrame(cells, columns=["named", "explained"])
    return joined.assign(cluster=[f"c{n % clusters}" for n in joined.index], caption=[f"t{n}" for n in joined.index])


@pytest.mark.parametrize(
    ("clusters", "cells", "odds_ratio", "lo", "hi"),
    [
        (10, (4, 1, 1, 4), 9, 0.188, 430),
        (40, (40, 10, 10, 40), 40.5**2 / 10.5**2, 5.52, 40.06),  # by Woolf: log +- 2.02 sqrt(2 / 40.5 + 2 / 10.5)
        (4, (4, 1, 1, 4), 9, None, None),  # no interval under 5 contests
        (10, (5, 5, 0, 0), None, None, None),  # every metaphor is named: not testable
    ],
)
def test_odds_ratio(clusters: int, cells: tuple[int, ...], odds_ratio: float | None, lo: Any, hi: Any) -> None:
    row = link(pairs(clusters, *cells))
    assert (row["contests"], row["n"], row["both"], row["neither"]) == (clusters, sum(cells), cells[0], cells[3])
    result = (row.get("odds_ratio"), row.get("lo"), row.get("hi"))
    assert result == tuple(value and pytest.approx(value, rel=0.01) for value in (odds_ratio, lo, hi))


def test_answers_are_joined_by_caption() -> None:
    of = {"sample": 0, "condition": "default"}
    elements = pd.DataFrame([{"caption": c, "passed": p, **of} for c, p in [("a", 1), ("a", 0), ("b", 1), ("z", 1)]])
    tasks = {"classification": {"tp": 1, "tn": 0}, "naming": {"cosine": 0.59, "cosine_minilm": 0.6}}
    answers = [
        {"caption": c, "cluster": "1", "task": task, **of, **values} for c in "abc" for task, values in tasks.items()
    ]
    rows = {
        row["task"]: (row["both"], row["only_hummus"], row["only_humorbench"])
        for row in links(pd.DataFrame(answers), elements)
    }
    assert rows == {"classification": (2, 1, 0), "naming": (0, 0, 2), "naming_minilm": (2, 1, 0)}


@pytest.mark.real
def test_shared_captions(mirror: Path) -> None:
    own = {}
    for module in (hummus, humorbench):
        names = {*module.ITEM_FILES, *module.GOLD_FILES}
        own[module.NAME] = read_items(module, {name: (mirror / module.NAME / name).read_bytes() for name in names})
    ours, theirs = ({caption_of(item): item for item in items.values()} for items in own.values())
    shared = ours.keys() & theirs.keys()
    assert len(shared) == 145 and len({ours[caption].cluster for caption in shared}) == 62
    assert sum(caption_of(item) in shared for item in own["humorbench"].values()) == 239  # elements
    assert sum(ours[caption].fields["asked"] == "all" for caption in shared) == 79  # metaphors to name
