"""HumorBench's prompts as baselines read them that count words or repeat them."""

from __future__ import annotations


def _field(prompt: str, name: str, until: str | None) -> str | None:
    """Text of a prompt after the last line that begins with `name:`, up to the line that begins with `until:`."""
    _, separator, rest = prompt.rpartition(f"\n{name}:")
    return (rest.partition(f"\n{until}:")[0] if until else rest).strip() if separator else None


def echo(prompt: str) -> str | None:
    """The description, if any, and the caption as an explanation; None for a judge's prompt."""
    element = _field(prompt, "Anticipated answer point", None)
    description, caption = _field(prompt, "Cartoon description", "Caption"), _field(prompt, "Caption", None)
    if caption is None or element is not None:
        return None
    return f"<explanation>{' '.join(filter(None, (description, caption)))}</explanation>"


def compared(prompt: str) -> tuple[str, str] | None:
    """(element, explanation) of a judge's prompt; None for another."""
    element = _field(prompt, "Anticipated answer point", None)
    explanation = _field(prompt, "Student's answer", "Anticipated answer point")
    return None if explanation is None or element is None else (element, explanation)


def verdict(share: float, threshold: float) -> str:
    """PASS for at least `threshold` of the element's words."""
    judgement = "PASS" if share >= threshold else "FAIL"
    return f"<reasoning>{share:.3f} of the content words</reasoning>\n<judgement>{judgement}</judgement>"
