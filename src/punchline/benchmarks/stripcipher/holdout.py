"""Strips that fine-tuning must not see."""

from __future__ import annotations

from punchline.schema import sha256


def held_out(item_id: str) -> bool:
    """True if fine-tuning must not see the strip (table 5): 100 of 890 (section 6) on average, whatever else is
    selected."""
    return int(sha256(f"stripcipher:held-out:{item_id}".encode()), 16) % 10_000 < round(10_000 * 100 / 890)
