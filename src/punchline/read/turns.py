"""The turn of an answer: small and old models go on behind it, with end tokens and with a conversation of their own."""

from __future__ import annotations

import re

from punchline.read.words import blanked, pattern

_TOKEN = pattern("{end_token}", re.IGNORECASE)
_LEAD = pattern("{lead_token}", re.IGNORECASE)
_WORD = re.compile(r"\w")
_NEW = pattern("{new_turn}")
_FIRST = pattern("{first_turn}")
_STRUCK = re.compile(r"<s>(?=\S)[^<>\n]{1,200}</s>(?=[^<\n]{0,200}\w)")  # crossed out, no tokens
_ANSWERS = pattern("{answer_turn}")


def first_turn(text: str) -> str:
    """Cut the text after an end token or a new turn: it is no answer.

    A text that begins with a turn of the prompt ("USER: … ASSISTANT: B") is cut behind its first answer.

    Args:
        text: An answer without its reasoning.

    Returns:
        The text up to the first end token or new turn behind a word.

    >>> first_turn("B</s>\\nUSER: And the next comic? ASSISTANT: C")
    'B'
    """
    marks = blanked(_STRUCK, text)
    lead = None if _FIRST.match(text) else _LEAD.match(marks)
    start = lead.end() if lead else 0
    if _FIRST.match(marks, start):
        answers = _ANSWERS.search(marks, start)
        if answers is None:
            return text
        start = answers.end()
    word = _WORD.search(text, start)
    if word is None:
        return text
    ends = [match.start() for pattern in (_TOKEN, _NEW) if (match := pattern.search(marks, word.start()))]
    return text[: min(ends, default=len(text))].rstrip()
