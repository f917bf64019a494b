"""Which of Hummus's contests are held out of fine-tuning."""

from __future__ import annotations

from punchline.schema import sha256


def held_out(contest: int | str) -> bool:
    """Whether a contest's pairs are held out of fine-tuning: about 30 %, by the contest's number alone.

    Not the paper's split: its test set, the pairs that both people annotated, is not released.
    """
    return int(sha256(f"hummus|split|{contest}".encode())[:8], 16) / 16**8 < 0.3
