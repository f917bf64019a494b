"""ROUGE: both units, empty texts."""

from importlib.metadata import version

import pytest

from punchline.metrics.ngrams import rouge, signature, word_tokens

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


@pytest.mark.parametrize(
    ("candidate", "reference"), [("", "a b"), ("a b", ""), ("", ""), ("...", "a b"), ("猫", "a b")]
)
def test_a_text_without_units_overlaps_with_nothing(candidate: str, reference: str) -> None:
    for characters in (False, True):
        assert rouge(candidate, reference, BOTH, characters) == dict.fromkeys(BOTH, (0.0, 0.0, 0.0))


def test_signature_and_a_very_long_answer_in_linear_time() -> None:
    named = signature(("rouge2",), characters=True)
    assert named == f"rouge2:characters:stem:rouge-score-{version('rouge-score')}"
    assert rouge("ab " * 200_000, "a b", ("rouge2",), characters=True)["rouge2"].precision < 1
