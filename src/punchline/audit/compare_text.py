"""A comparison of two models for reading."""

from __future__ import annotations

from typing import Any

from punchline.audit.compare import Comparison, clusters_needed


def head(comparison: Comparison) -> str:
    """The table, the models, and the judges."""
    judges = f", judged by {', '.join(comparison.judges)}" if comparison.judges else ""
    a, b = comparison.models
    title = f"{comparison.benchmark} {comparison.table}: {comparison.title}"
    return f"{title}\nA = {a}, B = {b}; rule {comparison.rule}{judges}"


def shared(comparison: Comparison) -> list[dict[str, Any]]:
    """Numbers of answers that are compared and that are not, by task and condition."""
    names = ("scored for both", "only for A", "only for B", "not scored of A", "of B")
    return [
        {"task": of["task"], "condition": of["condition"]}
        | dict(zip(names, (of["both"], *of["left_out"], *of["unscored"]), strict=True))
        for of in comparison.shared
    ]


def differences(comparison: Comparison) -> list[dict[str, Any]]:
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


def notes(comparison: Comparison) -> list[str]:
    """Notes, the correction of the tests, and the meaning of the last columns."""
    needed = [
        f"{' '.join(filter(None, (one['row'], one['column'])))} about {count:,}"
        for one in comparison.differences
        if (count := clusters_needed(one)) is not None
    ]
    settled = [f"Clusters needed to settle a difference of this size: {'; '.join(needed)}."] if needed else []
    closing = (
        f"Holm's correction is over the {comparison.tests} tests of this table; {comparison.effect}; detectable: the"
        f" smallest difference found with power {comparison.power} at alpha {comparison.alpha}, uncorrected."
    )
    return [*comparison.notes, *settled, closing]


def _p_text(value: float | None) -> str | None:
    return None if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
