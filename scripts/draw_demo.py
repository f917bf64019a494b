"""Make one benchmark's part of the demo corpus: raw files in the released formats, and images."""

from __future__ import annotations

import argparse
from pathlib import Path

from punchline import demo
from punchline.core.errors import entry_point


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    demo.draw(args.benchmark, args.out)


if __name__ == "__main__":
    main()
