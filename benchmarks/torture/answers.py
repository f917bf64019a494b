"""Fuzzed answers through all readers (read_fuzz.py)."""

from __future__ import annotations

import contextlib
import io

from benchmarks import read_fuzz
from benchmarks.torture.ground import Ground, Row

FULL = 1_000_000


def run(ground: Ground, n: int, seed: int) -> Row:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = read_fuzz.main(n, seed)
    first, *lines = output.getvalue().splitlines()
    faults = [line for line in lines if line.startswith("FAULT")]
    if status and not faults:
        faults = [f"over 100 ms: {line}" for line in lines if float(line.split("slowest")[1].split("ms")[0]) > 100]
    return Row("fuzzed answers", first, "no reader raises, reads what is not there, or takes 100 ms", seed, faults)
