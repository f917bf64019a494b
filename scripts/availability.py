"""Which images are there, by source; which are not, and why."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline.core.errors import entry_point
from punchline.core.records import LedgerEntry
from punchline.core.storage import read_records
from punchline.stages.fetch import write_availability


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    write_availability(args.out, read_records(args.ledger, LedgerEntry))


if __name__ == "__main__":
    main()
