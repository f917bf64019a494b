"""Items to look at first, and how many items separate two models."""

from typing import Any

import pandas as pd
import pytest

from punchline.audit.compare import clusters_needed
from punchline.validity.items import item_statistics


@pytest.mark.parametrize(
    ("answers", "share", "discrimination", "flag"),
    [
        ("1 1 1 1 1 1", 1, None, "all_right"),
        ("0 0 0 0 0 0", 0, None, "none_right"),
        ("1 1 0 0 0 1", 1 / 2, 0.7809, ""),  # right for the better models
        ("0 0 0 1 1 0", 1 / 3, -0.8835, "negative"),
        ("1 1 0 0 0 -", 2 / 5, 0.7206, ""),  # `-`: not scored
    ],
)
def test_flags(answers: str, share: float, discrimination: float | None, flag: str) -> None:
    rest = {"e": "1 1 1 1 0 1", "m": "1 1 1 0 0 1", "h": "1 0 0 0 0 1", "x": answers}
    right = pd.DataFrame(
        (f"m{model}", item, "Q1", "default", "paper", float(value))
        for item, line in rest.items()
        for model, value in enumerate(line.split())
        if value != "-"
    )
    right.columns = pd.Index(["model", "item_id", "task", "condition", "rule", "right"])
    (row,) = (row for row in item_statistics(right) if row["item_id"] == "x")
    assert row["share_right"] == pytest.approx(share) and row["flag"] == flag
    assert row["discrimination"] == (None if discrimination is None else pytest.approx(discrimination, abs=1e-3))
    assert [*item_statistics(right[right.model < "m4"])] == []  # four models


@pytest.mark.parametrize(
    ("difference", "low", "high", "detectable", "needed"),
    [
        (0.03, -0.01, 0.07, 0.06, 400),
        (-0.03, -0.07, 0.01, 0.06, 400),
        (0.03, 0.01, 0.05, 0.03, None),  # settled
        (-0.03, -0.05, -0.01, 0.03, None),
        (0.0, -0.01, 0.01, 0.02, None),
        (0.5, None, None, None, None),
    ],
)
def test_clusters_needed(difference: float, low: Any, high: Any, detectable: Any, needed: int | None) -> None:
    one = {"clusters": 100, "difference": difference, "low": low, "high": high, "detectable": detectable}
    assert clusters_needed(one) == needed
