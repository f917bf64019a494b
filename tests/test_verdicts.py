"""Accuracy corrected by people's labels: by hand, and against the published formula of the weight."""

import numpy as np
import pytest

from punchline.stats.estimate import Array
from punchline.stats.verdicts import SUMS, corrected, power_tuned, prediction_powered, rogan_gladen


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
def test_by_hand(
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
