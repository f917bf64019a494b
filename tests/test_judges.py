"""Judges against people and each other: the measures against other implementations, and the order of models."""

from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats as distributions
from sklearn.metrics import cohen_kappa_score
from typer.testing import CliRunner

from punchline import cli
from punchline.audit.judges import agreement, order, order_rows
from punchline.tabulate.labels import COLUMNS, PEOPLE


def agreed(judge: list[bool], people: list[bool]) -> dict[str, Any]:
    """Agreement of a judge and people on the same explanations, two of a caption."""
    rows = [
        (who, None, f"i{n:03}", f"c{n // 2}", 0, "digest", passed)
        for who, verdicts in (("judge", judge), (PEOPLE, people))
        for n, passed in enumerate(verdicts)
    ]
    result = agreement("judge", PEOPLE, pd.DataFrame(rows, columns=COLUMNS))
    assert result is not None and result["n"] == len(people)
    return {name: of["value"] for name, of in result["measures"].items()} | {"measures": result["measures"]}


def test_measures_are_the_libraries() -> None:
    random = np.random.default_rng(0)
    people = random.random(200) < 0.7
    judge = np.where(random.random(200) < 0.85, people, ~people)
    result = agreed(judge.tolist(), people.tolist())
    assert result["accuracy"] == (judge == people).mean()
    assert result["kappa"] == pytest.approx(cohen_kappa_score(judge, people))
    data = np.array([judge, people], dtype=float)
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert result["alpha"] == pytest.approx(expected)
    assert result["fpr"] == pytest.approx(judge[~people].mean())
    assert result["fnr"] == pytest.approx((~judge[people]).mean())
    for of in result["measures"].values():
        assert of["low"] < of["value"] < of["high"]


@pytest.mark.parametrize(
    ("judge", "people", "expected"),
    [
        # by hand: 2 both PASS, 1 judge only, 1 people only, 2 both FAIL; chance .5
        ("PPPFFF", "PPFPFF", {"accuracy": 4 / 6, "kappa": 1 / 3, "fpr": 1 / 3, "fnr": 1 / 3}),
        ("PPPP", "PPPP", {"accuracy": 1, "kappa": None, "alpha": None, "fpr": None, "fnr": 0}),
        ("PPFF", "PPFF", {"accuracy": 1, "kappa": 1, "alpha": 1, "fpr": 0, "fnr": 0}),
    ],
)
def test_measures_by_hand(judge: str, people: str, expected: dict[str, float | None]) -> None:
    result = agreed([x == "P" for x in judge], [x == "P" for x in people])
    for name, value in expected.items():
        assert result[name] == (None if value is None else pytest.approx(value)), name
    accuracy = result["measures"]["accuracy"]
    assert accuracy["low"] < accuracy["high"]


def boards(second: dict[str, float]) -> pd.DataFrame:
    """Two judges' verdicts on the answers of models to the same 200 items: shares of PASS."""
    random = np.random.default_rng(0)
    first = {"m1": 0.9, "m2": 0.7, "m3": 0.5, "m4": 0.3}
    rows = [
        (judge, model, f"i{n:03}", f"c{n // 2}", 0, model, bool(random.random() < share))
        for judge, shares in (("one", first), ("other", second))
        for model, share in shares.items()
        for n in range(200)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_order_of_models_by_two_judges() -> None:
    def of(*second: float) -> dict[str, Any]:
        result = order(("one", "other"), boards({f"m{n}": share for n, share in enumerate(second, start=1)}), 0)
        assert result is not None
        return result

    same, turned = of(0.8, 0.6, 0.4, 0.2), of(0.2, 0.4, 0.6, 0.8)
    assert (same["tau"]["value"], turned["tau"]["value"]) == (1, -1)
    assert list(same["models"]) == ["m1", "m2", "m3", "m4"] and same["n"] == 800
    ranks = [(row["model"], row["rank by one"], row["rank by other"]) for row in order_rows(turned)]
    assert ranks == [("m1", 1, 4), ("m2", 2, 3), ("m3", 3, 2), ("m4", 4, 1)]
    swapped = of(0.6, 0.61, 0.4, 0.2, 0.1)
    shares = zip(*swapped["models"].values(), strict=True)
    assert swapped["tau"]["value"] == pytest.approx(distributions.kendalltau(*shares).statistic)
    assert swapped["tau"]["low"] < 1 and swapped["tau"]["high"] == 1


def test_nothing_in_common_and_two_models_say_nothing() -> None:
    verdicts = boards({"m1": 0.9, "m2": 0.5})
    assert agreement("one", PEOPLE, verdicts) is None
    assert order(("one", "other"), verdicts, 0) is None and order(("one", "nobody"), verdicts, 0) is None


def test_a_run_without_a_judge_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    done = CliRunner().invoke(cli.app, ["judges", "--benchmark", "humorbench"])
    assert done.exit_code == 1 and "Make it first" in str(done.exception)
