"""Several answers to one question: agreement and standard errors by hand; what a judge with `samples` is asked."""

from typing import Any

import pandas as pd
import pytest

from punchline.schema import ModelCard
from punchline.validity.repeats import statistics


@pytest.mark.parametrize(
    ("answers", "expected"),
    [  # a word an item, in a cluster of its own; A is right
        ("AABA BBBB", {"n_items": 2, "samples": 4, "agreement": (0.5 + 1) / 2, "value": 0.375, "se_sampling": 0.125}),
        ("AB AA BB AA BC", {"agreement": 3 / 5, "value": 0.5, "se_sampling": 0.1, "se_items": 0.2}),
        ("AB AA BB AA", {"n_items": 4, "se_items": None}),  # four clusters
        ("AB AB AB AB AB", {"agreement": 0, "se_items": 0, "se_sampling": 0.05**0.5}),
        ("A AA BB", {"n_items": 2, "samples": 2, "se_sampling": 0}),  # one answer says nothing of repeats
        ("A B", {}),
    ],
)
def test_by_hand(answers: str, expected: dict[str, Any]) -> None:
    cells = [
        (f"i{n}", f"c{n}", answer, float(answer == "A")) for n, word in enumerate(answers.split()) for answer in word
    ]
    result = statistics(pd.DataFrame(cells, columns=["item_id", "cluster", "answer", "right"]).assign(sample=0))
    assert {name: result[name] for name in expected} == pytest.approx(expected) and bool(result) == bool(expected)


def test_samples_of_a_judge_are_in_its_card_only() -> None:
    card = ModelCard(name="j", engine="openai", folder="config/judge", samples=10)
    plain = ModelCard(name="j", engine="openai", folder="config/judge")
    assert (card.repeats, plain.repeats, card.asked()["samples"], "samples" in plain.asked()) == (10, 1, 10, False)
    with pytest.raises(ValueError, match="a judge's only"):
        ModelCard(name="m", engine="openai", samples=10)
