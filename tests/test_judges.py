"""Judges against people and each other; accuracies corrected by people's labels."""

from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats as distributions
from sklearn.metrics import cohen_kappa_score
from tests.cases import cases

from punchline.audit.judges import agreement, order, order_rows
from punchline.stats.estimate import Array
from punchline.stats.verdicts import SUMS, corrected, power_tuned, prediction_powered, rogan_gladen
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
    assert result["alpha"] == pytest.approx(krippendorff.alpha(data, level_of_measurement="nominal"))
    assert result["fpr"] == pytest.approx(judge[~people].mean())
    assert result["fnr"] == pytest.approx((~judge[people]).mean())
    for of in result["measures"].values():
        assert of["low"] < of["value"] < of["high"]


@pytest.mark.parametrize(("judge", "people", "expected"), cases(__file__, "agreeing"))
def test_measures_of_judges_that_agree(judge: str, people: str, expected: dict[str, float | None]) -> None:
    result = agreed([x == "P" for x in judge], [x == "P" for x in people])
    for name, value in expected.items():
        assert result[name] == (None if value is None else pytest.approx(value)), name
    accuracy = result["measures"]["accuracy"]
    assert accuracy["low"] < accuracy["high"]


def boards(*second: float) -> pd.DataFrame:
    """Two judges' verdicts on the answers of models m0, m1, … to the same 200 items: shares of PASS."""
    random = np.random.default_rng(0)
    rows = [
        (judge, f"m{model}", f"i{n:03}", f"c{n // 2}", 0, model, bool(random.random() < share))
        for judge, shares in (("one", (0.9, 0.7, 0.5, 0.3)), ("other", second))
        for model, share in enumerate(shares)
        for n in range(200)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_order_of_models_by_two_judges() -> None:
    def of(*second: float) -> dict[str, Any]:
        result = order(("one", "other"), boards(*second), 0)
        assert result is not None
        return result

    same, turned = of(0.8, 0.6, 0.4, 0.2), of(0.2, 0.4, 0.6, 0.8)
    assert (same["tau"]["value"], turned["tau"]["value"]) == (1, -1)
    assert list(same["models"]) == ["m0", "m1", "m2", "m3"] and same["n"] == 800
    ranks = [(row["model"], row["rank by one"], row["rank by other"]) for row in order_rows(turned)]
    assert ranks == [("m0", 1, 4), ("m1", 2, 3), ("m2", 3, 2), ("m3", 4, 1)]
    swapped = of(0.6, 0.61, 0.4, 0.2, 0.1)
    shares = zip(*swapped["models"].values(), strict=True)
    assert swapped["tau"]["value"] == pytest.approx(distributions.kendalltau(*shares).statistic)
    assert swapped["tau"]["low"] < 1 and swapped["tau"]["high"] == 1


def test_nothing_in_common_and_two_models_say_nothing() -> None:
    verdicts = boards(0.9, 0.5)
    assert agreement("one", PEOPLE, verdicts) is None
    assert order(("one", "other"), verdicts, 0) is None and order(("one", "nobody"), verdicts, 0) is None


def sums(labels: str, verdicts: str, rest: str, unjudged: int = 0) -> Array:
    """Sums of labeled texts and of the run's answers, none of which is labeled: `1` for PASS, `0` for FAIL."""
    label, verdict, other = (np.array([*text], dtype=float) for text in (labels, verdicts, rest))
    result = np.zeros((len(label) + len(other) + unjudged, len(SUMS)))
    result[: len(label), :4] = np.stack([np.ones(len(label)), label, verdict, label * verdict], axis=1)
    answers = result[len(label) : len(label) + len(other)]
    answers[:, [4, 6]], answers[:, [5, 7]] = 1, other[:, None]
    result[len(label) + len(other) :, 8] = 1
    return result


@pytest.mark.parametrize(
    ("labels", "verdicts", "rest", "unjudged", "weight", "powered", "rogan"),
    [
        # judge: PASS .5 of the labeled, .75 of the rest; sensitivity 1, false positive rate 1/3
        ("1000", "1100", "1110", 0, 1, 0.25 + 0.25, (3 / 4 - 1 / 3) / (2 / 3)),
        ("1000", "1100", "1110", 0, 0.4, 0.25 + 0.4 * 0.25, (3 / 4 - 1 / 3) / (2 / 3)),
        ("1000", "1100", "1110", 0, 0, 0.25, (3 / 4 - 1 / 3) / (2 / 3)),
        ("1000", "1100", "1110", 4, 1, 0.5 / 2, (3 / 4 - 1 / 3) / (2 / 3) / 2),  # refusals are wrong
        ("1100", "1001", "10", 0, 1, 0.5, None),  # no better than chance
        ("1111", "1110", "10", 0, 1, 0.75, None),  # no FAIL by people
    ],
)
def test_corrections_by_hand(
    labels: str, verdicts: str, rest: str, unjudged: int, weight: float, powered: float, rogan: float | None
) -> None:
    whole = sums(labels, verdicts, rest, unjudged).sum(axis=0)
    assert float(prediction_powered(weight)(whole)) == pytest.approx(powered)
    assert float(rogan_gladen(whole)) == pytest.approx(np.nan if rogan is None else rogan, nan_ok=True)


def test_the_weight_is_that_of_ppi_for_independent_texts() -> None:
    random = np.random.default_rng(0)
    label = random.random(400) < 0.6
    verdict = np.where(random.random(400) < 0.8, label, ~label)
    rest = random.random(1600) < 0.56
    first, second, third = ("".join(map(str, of.astype(int))) for of in (label, verdict, rest))
    table = sums(first, second, third)
    covariance = np.cov(label, verdict, ddof=1)[0, 1]
    formula = covariance / ((1 + 400 / 1600) * np.var(np.concatenate([verdict, rest]), ddof=1))
    assert power_tuned(table, range(len(table))) == pytest.approx(formula, rel=0.02)


@pytest.mark.parametrize(("labeled", "limits"), [(4, False), (5, True)])
def test_no_limits_under_five_labeled_clusters(labeled: int, limits: bool) -> None:
    table = sums("10110"[:labeled], "10010"[:labeled], "10" * 20)
    for point, low, high in corrected(table, range(len(table))).values():
        assert point is not None and (low is not None, high is not None) == (limits, limits)
        assert low is None or high is None or 0 <= low <= point <= high <= 1
