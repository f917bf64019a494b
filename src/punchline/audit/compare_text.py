"""A comparison of two models for reading."""

from __future__ import annotations

from typing import Any

from punchline.audit.compare import Comparison, clusters_needed


def head(comparison: Comparison) -> str:
    """The models, and how many answers of each task are compared; tasks with the same numbers share a line."""
    a, b = comparison.models
    judges = f", judged by {', '.join(comparison.judges)}" if comparison.judges else ""
    lines = [
        f"{comparison.benchmark} {comparison.table}: {comparison.title}",
        f"A = {a}, B = {b}; rule {comparison.rule}{judges}",
    ]
    alike: dict[tuple[Any, ...], list[str]] = {}
    for counts in comparison.shared:
        name = counts["task"] if counts["condition"] == "default" else f"{counts['task']} ({counts['condition']})"
        alike.setdefault((counts["both"], *counts["left_out"], *counts["unscored"]), []).append(name)
    for (both, left_a, left_b, unscored_a, unscored_b), names in alike.items():
        lines.append(
            f"{', '.join(names)}: {both:,} answers{' each' if len(names) > 1 else ''} scored for both;"
            f" excluded: {left_a:,} scored only for A, {left_b:,} only for B;"
            f" not scored: {unscored_a:,} of A, {unscored_b:,} of B"
        )
    return "\n".join(lines)


def rows(comparison: Comparison) -> list[dict[str, Any]]:
    """The differences."""
    return [
        {
            "row": one["row"],
            "column": one["column"],
            "n": " / ".join(dict.fromkeys(f"{n:,}" for n in one["n"])),
            "clusters": f"{one['clusters']:,}",
            "A": one["a"],
            "B": one["b"],
            "A - B": one["difference"],
            "95 % interval": None if one["low"] is None else f"{one['low']:.4g} to {one['high']:.4g}",
            "p": _p_text(one["p"]),
            "p (Holm)": _p_text(one["p_holm"]),
            "d_z": one["effect"],
            "detectable": one["detectable"],
        }
        for one in comparison.differences
    ]


def notes(comparison: Comparison) -> str:
    """Notes, the correction of the tests, and the meaning of the last columns."""
    closing = (
        f"Holm's correction is over the {comparison.tests} tests of this table; {comparison.effect}; detectable: the"
        f" smallest difference found with power {comparison.power} at alpha {comparison.alpha}, uncorrected."
    )
    needed = [
        f"{' '.join(filter(None, (one['row'], one['column'])))} about {count:,}"
        for one in comparison.differences
        if (count := clusters_needed(one)) is not None
    ]
    settled = [f"Clusters needed to settle a difference of this size: {'; '.join(needed)}."] if needed else []
    return "\n".join(f"- {note}" for note in [*comparison.notes, *settled, closing])


def _p_text(value: float | None) -> str | None:
    return None if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
