"""Texts of HumorBench's files and of answers, as they are joined."""

from __future__ import annotations


def normal(text: str) -> str:
    """Text with plain line ends, as texts are joined."""
    return text.replace("\r\n", "\n").strip()
