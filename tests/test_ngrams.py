"""ROUGE: both units, empty texts, and what happens without the package."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.metrics import ngrams
from punchline.metrics.ngrams import KINDS, Overlap, rouge, word_tokens

needed = pytest.mark.skipif(ngrams.library() is None, reason="rouge-score is not installed")


@needed
def test_words() -> None:
    found = rouge("The cat sat.", "the cat sits on it")
    assert found is not None
    assert found["rouge1"] == pytest.approx(Overlap(2 / 3, 2 / 5, 1 / 2))
    assert found["rouge2"] == pytest.approx(Overlap(1 / 2, 1 / 4, 1 / 3))
    assert found["rougeL"].recall == pytest.approx(2 / 5)


@needed
def test_the_stemmer_takes_endings_off_long_words() -> None:
    stemmed, plain = rouge("jumping", "jumps", ("rouge1",)), rouge("jumping", "jumps", ("rouge1",), stemmer=False)
    assert stemmed is not None and plain is not None
    assert (stemmed["rouge1"].recall, plain["rouge1"].recall) == (1.0, 0.0)


@needed
def test_characters_are_the_units_of_the_released_code() -> None:
    # " ".join("ab c") is "a b   c": the bigrams are a-b and b-c, across the blank between the words.
    found = rouge("ab d", "ab c", ("rouge2",), characters=True)
    assert found == {"rouge2": Overlap(0.5, 0.5, 0.5)}


@needed
@pytest.mark.parametrize(
    ("candidate", "reference"), [("", "a b"), ("a b", ""), ("", ""), ("...", "a b"), ("猫", "a b")]
)
def test_a_text_without_units_overlaps_with_nothing(candidate: str, reference: str) -> None:
    for characters in (False, True):
        assert rouge(candidate, reference, characters=characters) == dict.fromkeys(KINDS, Overlap(0.0, 0.0, 0.0))


@needed
@given(st.text(max_size=200), st.text(max_size=200), st.booleans())
def test_any_text_has_shares(candidate: str, reference: str, characters: bool) -> None:
    for overlap in (rouge(candidate, reference, characters=characters) or {}).values():
        assert all(0 <= share <= 1 for share in overlap)


@needed
@given(st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){1,5}", fullmatch=True), st.booleans())
def test_a_text_covers_itself(text: str, characters: bool) -> None:
    found = rouge(text, text, ("rouge2",), characters=characters)
    assert found is not None and found["rouge2"] == Overlap(1.0, 1.0, 1.0)


@needed
def test_signature_and_a_very_long_answer_in_linear_time() -> None:
    assert ngrams.signature(("rouge2",), characters=True) == f"rouge2:characters:stem:{ngrams.library()}"
    assert rouge("ab " * 200_000, "a b", ("rouge2",), characters=True) is not None


def test_without_the_package_there_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(ngrams, "import_module", absent)
    ngrams.library.cache_clear()
    try:
        assert rouge("a", "a") is None
        assert ngrams.signature() == "rouge1+rouge2+rougeL:words:stem:absent"
        assert word_tokens("a b") is None
    finally:
        ngrams.library.cache_clear()


@needed
def test_words_and_marks() -> None:
    assert word_tokens("It's here. The cat's mug, too!") == [
        *("It", "'s", "here", "."),
        *("The", "cat", "'s", "mug", ",", "too", "!"),
    ]
