"""Draw the demo corpus: comics, annotations in the released formats, and a ledger of its images."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline.comics import demo
from punchline.errors import entry_point
from punchline.prepare import drawn_ledger
from punchline.storage import write_records


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", required=True, type=Path)
    args = parser.parse_args()
    demo.draw(args.ledger.parent)
    write_records(args.ledger, drawn_ledger(args.ledger.parent))


if __name__ == "__main__":
    main()
