"""Run some kinds of torture, or all, and print a row for each. Status 1 where anything failed."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.torture.ground import Ground, Row

KINDS = ("kills", "flips", "forgeries", "disk", "clock", "pairs", "servers", "answers", "files")
HEAD = "| torture | done | checked | failures | seed | seconds |\n| --- | --- | --- | ---: | ---: | ---: |"
SHOWN = 20  # failures a kind


def main(kinds: dict[str, int | None], seed: int, work: Path) -> int:
    ground = Ground(work)
    failed = 0
    try:
        print(HEAD, flush=True)
        for kind, n in kinds.items():
            module = importlib.import_module(f"benchmarks.torture.{kind}")
            began = time.monotonic()
            row: Row = module.run(ground, n or module.FULL, seed)
            row.seconds = time.monotonic() - began
            failed += len(row.failures)
            print(row, *(f"FAILURE {kind}: {failure}" for failure in row.failures[:SHOWN]), sep="\n", flush=True)
    finally:
        ground.close()
    return int(bool(failed))


def kind_of(word: str) -> tuple[str, int | None]:
    """KIND or KIND=N."""
    kind, _, count = word.partition("=")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(f"unknown {kind}: {', '.join(KINDS)}")
    return kind, int(count) if count else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", type=kind_of, metavar="KIND[=N]", help=", ".join(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, help="a folder to keep the small project in; else one that goes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(dict(given.kinds) or dict.fromkeys(KINDS), given.seed, (given.work or Path(folder)).resolve()))
