"""One table of a benchmark, with its lineage."""

from __future__ import annotations

import argparse
import json
import os

import msgspec

from punchline.core.errors import entry_point
from punchline.project.selection import Selection, read_card
from punchline.stages.tabulate import Chain, circumstances, write


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--selection", required=True, type=json.loads)
    args = parser.parse_args()
    selection = msgspec.convert(args.selection, Selection)
    cards = [read_card(name) for name in selection.models]
    mirror = os.environ.get("PUNCHLINE_FETCH_MIRROR") or None
    write(Chain(args.benchmark, selection), args.table, cards, circumstances(mirror))


if __name__ == "__main__":
    main()
