"""A comparison of two models for reading, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tabulate import tabulate as tabulate_text

from punchline.audit.compare import EFFECT, Comparison
from punchline.stats.estimate import ALPHA
from punchline.stats.paired import POWER


def as_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data; `models` names a and b, `left_out` and `n` are in that order."""
    plain = {
        name: getattr(comparison, name) for name in ("benchmark", "table", "title", "rule", "models", "judges", "notes")
    }
    constants = {"effect": EFFECT, "alpha": ALPHA, "power": POWER, "tests": _tests(comparison)}
    differences = [
        {"row": one.row, "column": one.column, "n": one.n, **asdict(one.paired), "p_holm": one.p_holm}
        for one in comparison.differences
    ]
    return plain | constants | {"shared": [asdict(one) for one in comparison.shared], "differences": differences}


def as_text(comparison: Comparison) -> str:
    """A comparison for reading."""
    a, b = comparison.models
    judges = f", judged by {', '.join(comparison.judges)}" if comparison.judges else ""
    heads, body = lines_of(comparison)
    lines = [
        f"{comparison.benchmark} {comparison.table}: {comparison.title}",
        f"A = {a}, B = {b}; rule {comparison.rule}{judges}",
        *shared_lines(comparison),
        "",
        tabulate_text(body, heads, tablefmt="plain", disable_numparse=True),
        "",
        *(f"- {note}" for note in [*comparison.notes, closing_note(comparison)]),
    ]
    return "\n".join(lines)


def shared_lines(comparison: Comparison) -> list[str]:
    """Numbers of answers scored for both models and left out, tasks with the same numbers together."""
    lines = []
    alike: dict[tuple[int, tuple[int, int], tuple[int, int]], list[str]] = {}
    for one in comparison.shared:
        name = one.task if one.condition == "default" else f"{one.task} ({one.condition})"
        alike.setdefault((one.both, one.left_out, one.unscored), []).append(name)
    for (both, left_out, unscored), names in alike.items():
        shared = f"{', '.join(names)}: {both:,} answers{' each' if len(names) > 1 else ''} scored for both"
        lines.append(
            f"{shared}; left out, as the other has none: {left_out[0]:,} of A,"
            f" {left_out[1]:,} of B; not scored: {unscored[0]:,} of A, {unscored[1]:,} of B"
        )
    return lines


def lines_of(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """(heads, cells) of the differences; columns that are empty are left out."""
    headers = [
        "row",
        "column",
        "n",
        "clusters",
        "A",
        "B",
        "A - B",
        "95 % interval",
        "p",
        "p (Holm)",
        "d_z",
        "detectable",
    ]
    cells = []
    for row in comparison.differences:
        paired = row.paired
        n = f"{row.n[0]:,}" if row.n[0] == row.n[1] else f"{row.n[0]:,} / {row.n[1]:,}"
        interval = "" if paired.low is None or paired.high is None else f"{_short(paired.low)} to {_short(paired.high)}"
        numbers = [_short(value) for value in (paired.a, paired.b, paired.difference)]
        tests = [_p_text(paired.p), _p_text(row.p_holm), _short(paired.effect), _short(paired.detectable)]
        cells.append([row.row, row.column, n, f"{paired.clusters:,}", *numbers, interval, *tests])
    shown = [index for index in range(len(headers)) if any(cell[index] for cell in cells)]
    return [headers[index] for index in shown], [[cell[index] for index in shown] for cell in cells]


def closing_note(comparison: Comparison) -> str:
    """The correction of the tests, and the meaning of the last columns."""
    return (
        f"Holm's correction is over the {_tests(comparison)} tests of this table; {EFFECT}; detectable: the smallest"
        f" difference found with power {POWER} at alpha {ALPHA}, uncorrected."
    )


def _tests(comparison: Comparison) -> int:
    return sum(one.p_holm is not None for one in comparison.differences)


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _p_text(value: float | None) -> str:
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
