"""Builds a small model's folder (see punchline.small_models).

    python scripts/small_model.py NAME [--out FOLDER]

Runs under any Python that has torch and transformers; where this one has not and .venv-vllm/ is there, under that.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

if importlib.util.find_spec("punchline") is None:  # under .venv-vllm
    sys.path.append(str(Path(__file__).resolve().parent.parent / "src"))

from punchline.core.errors import entry_point
from punchline.project.small_models import BUILDERS, absent, build

OTHER = Path(".venv-vllm/bin/python")


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted(BUILDERS))
    parser.add_argument("--out", type=Path, help="default: data/models/NAME")
    args = parser.parse_args()
    if absent(args.name) and OTHER.exists() and Path(sys.prefix).name != OTHER.parts[0]:
        os.execv(OTHER, [str(OTHER), *sys.argv])
    print(f"built {build(args.name, args.out)}", file=sys.stderr)


if __name__ == "__main__":
    main()
