"""A clock that jumps back and forth, by years, while a stage or a run is at work; times of files at random.

The wall clock is that of libfaketime (Debian has it; else $LIBFAKETIME is its .so): monotonic time and what the file
system says stay true, as when somebody sets a clock. Without it only times of files are tortured, and the row says so.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import Counter
from pathlib import Path

from benchmarks.torture.ground import Ground, Row, Stage, differences, fair, lacking, unmake
from tests.e2e.project import Project

FULL = 200
YEARS = 365.25 * 86400
FARTHEST = 40  # years
WHOLE = 0.15  # the share of whole runs


def library() -> str | None:
    """libfaketime for threads."""
    given = os.environ.get("LIBFAKETIME")
    result = [Path(given)] if given else sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return str(result[0]) if result else None


def dated(folder: Path, draw: random.Random) -> None:
    """Files of a project with times from 1970 to forty years hence."""
    for path in itertools.chain(*((folder / top).rglob("*") for top in ("data", "results", "config", "src"))):
        if path.is_file():
            when = draw.uniform(0, time.time() + FARTHEST * YEARS)
            os.utime(path, (when, when))


def jumping(ground: Ground, folder: Project, command: tuple[str, ...], draw: random.Random) -> tuple[int, str, int]:
    """A command under a clock that jumps until it ends: (status, what it said, jumps)."""
    so, clock, jumps = library(), ground.work / "clock", 0
    if so is None:
        return *ground.finish(folder, command), 0

    def jump() -> None:
        clock.with_suffix(".new").write_text(f"{draw.uniform(-20, FARTHEST) * YEARS:+.0f}\n")
        clock.with_suffix(".new").replace(clock)

    jump()
    faked = {"LD_PRELOAD": so, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "NO_FAKE_STAT": "1"}
    faked |= {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    child = ground.start(folder, command, **faked)
    while child.poll() is None:
        time.sleep(draw.uniform(0.02, 0.3))
        jump()
        jumps += 1
    output, _ = child.communicate()
    return child.returncode, output, jumps


def run(ground: Ground, n: int, seed: int) -> Row:
    draw = random.Random(seed)
    row = Row("clock", "", "", seed)
    by_rule: dict[str, list[Stage]] = {}
    for stage in ground.stages:
        by_rule.setdefault(stage.rule, []).append(stage)
    rules, wholes, jumps = sorted(by_rule), 0, 0
    for turn in range(n):
        with ground.copied() as folder:
            dated(folder.path, draw)
            whole = draw.random() < WHOLE
            stage = draw.choice(by_rule[rules[turn % len(rules)]])
            before = ground.asked()
            if whole:
                wholes += 1
                status, output, more = jumping(ground, folder, ground.whole_run(), draw)
                if "Nothing to be done" not in output:
                    row.failures.append(f"times of files made something run again: {output[-300:]}")
            else:
                unmake(folder, stage, delete=draw.random() < 0.5)
                if stage.asks:
                    for name in stage.outputs:
                        (folder.path / name).with_suffix(".jsonl").unlink(missing_ok=True)
                status, output, more = jumping(ground, folder, stage.command, draw)
            what = "whole run" if whole else str(stage)
            jumps += more
            if status:
                row.failures.append(f"{what}: status {status}: {output[-300:]}")
            if over := Counter(ground.asked() - before) - ground.times_asked:
                row.failures.append(f"{what}: {over.total()} asked twice")
            others = differences(ground, folder.path, lambda name, strict=not stage.asks: not strict and not fair(name))
            row.failures += [f"{what}: {name} differs" for name in [*others, *lacking(ground, folder.path)]]
    row.done = f"{n} runs ({wholes} of Snakemake, the others of {len(rules)} stages), {jumps} jumps of the clock"
    row.done += ", files of any date" if library() else "; NO LIBFAKETIME: only files of any date"
    row.checked = "same bytes, nothing asked twice; where all is made, nothing runs again"
    return row
