"""Metrics against the libraries that the papers used, and against values worked out by hand."""

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer

from punchline.metrics import text
from punchline.stats import labels

CLASSES = ("a", "b", "c", "d", "e")
label_sets = st.lists(st.sampled_from(CLASSES), max_size=4)


@given(st.lists(st.tuples(label_sets, label_sets), min_size=1, max_size=30))
def test_weighted_scores_equal_scikit_learn(pairs: list[tuple[list[str], list[str]]]) -> None:
    gold, predicted = [p[0] for p in pairs], [p[1] for p in pairs]
    binarizer = MultiLabelBinarizer(classes=CLASSES).fit([CLASSES])
    right, given_ = binarizer.transform(gold).astype(bool), binarizer.transform(predicted).astype(bool)
    sums = labels.counts(given_, right).sum(axis=0)
    ours = [float(score(sums)) for score in (labels.precision, labels.recall, labels.f1)]
    if not right.any():
        assert np.isnan(ours).all()  # scikit-learn says 0; no gold label at all is no score
        return
    theirs = precision_recall_fscore_support(right, given_, average="weighted", zero_division=0)[:3]
    assert ours == pytest.approx(list(theirs), abs=1e-12)


@pytest.mark.parametrize(
    ("reference", "candidate", "wer", "cer"),
    [
        ("a b c", "a b c", 0, 0),
        ("a b c", "", 1, 1),
        ("the cat", "the cat sat on it", 1.5, 10 / 7),  # not clipped
        ("abcd", "abxd", 1, 0.25),
        ("é", "e", 1, 1),
    ],
)
def test_error_rates(reference: str, candidate: str, wer: float, cer: float) -> None:
    assert text.error_rates(reference, candidate) == pytest.approx((wer, cer))


def test_error_rates_of_nothing_are_undefined_and_the_library_is_named_with_its_version() -> None:
    for reference in ("", " ", "\n\t"):
        with pytest.raises(ValueError, match="empty reference"):
            text.error_rates(reference, "a")
    assert text.LIBRARY.startswith("jiwer-4.")


words = st.text(alphabet="ab é\n", max_size=30)


@given(words.filter(str.strip), words)
def test_both_ways_of_counting_edits_agree(reference: str, candidate: str) -> None:
    reference, candidate = " ".join(reference.split()), " ".join(candidate.split())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "ALIGNED", -1)
        counted = text.error_rates(reference, candidate)
    assert counted == pytest.approx((jiwer.wer(reference, candidate), jiwer.cer(reference, candidate)))
    assert counted == pytest.approx(text.error_rates(reference, candidate))
