"""Build a small model's folder (punchline.project.small_models).

    python scripts/small_model.py NAME [--out FOLDER]

Runs under any Python that has torch and transformers; where this one has not and .venv-vllm/ is there, under that.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("punchline") is None:  # under .venv-vllm
    sys.path.append(str(Path(__file__).resolve().parent.parent / "src"))

from punchline.core.errors import entry_point
from punchline.project.small_models import BUILDERS, absent, build

OTHER = Path(".venv-vllm/bin/python")


def built(name: str, out: Path | None) -> None:
    """Build here, or where the packages are."""
    if absent(name) and OTHER.exists() and Path(sys.prefix).name != OTHER.parts[0]:
        where = ["--out", str(out)] if out is not None else []
        done = subprocess.run([str(OTHER), __file__, name, *where], check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
    else:
        print(f"built {build(name, out)}", file=sys.stderr)


@entry_point
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted(BUILDERS))
    parser.add_argument("--out", type=Path, help="default: data/models/NAME")
    parser.add_argument("--record", action="store_true", help="of a run: record what made it")
    args = parser.parse_args()
    if not args.record:
        built(args.name, args.out)
    else:
        from punchline.project.needs import Project
        from punchline.project.processes import SELECTION, end_with_owner
        from punchline.stages.job import make, read_selection

        end_with_owner()
        make(Project(read_selection(os.environ[SELECTION])).small_model(args.name), lambda: built(args.name, None))


if __name__ == "__main__":
    main()
