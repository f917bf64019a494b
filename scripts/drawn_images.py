"""The ledger of images that were drawn rather than fetched."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline.core.errors import entry_point
from punchline.core.storage import write_records
from punchline.stages.pictures import drawn_ledger


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", required=True, type=Path)
    args = parser.parse_args()
    write_records(args.ledger, drawn_ledger(args.ledger.parent))


if __name__ == "__main__":
    main()
