"""Reports that may be shared: `--config public=true` leaves out annotations under licences that forbid it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.run import Run
from punchline.core.benchmark import optional_module
from punchline.files import parse_csv
from punchline.workflow.processes import is_public

OPEN = re.compile(r"CC[ -]?0|CC[ -]BY|public domain|MIT|Apache|BSD|of the project", re.IGNORECASE)


def why_private(run: Run, benchmark: str) -> str:
    """Reason why a public report does not hold a benchmark's annotations; "" in other reports, and if it does."""
    file = Path(paths.manifest(benchmark))
    if not is_public() or run.selection.corpus.drawn or not file.is_file():
        return ""
    licences = {row["licence"] for _, row in parse_csv(file.read_bytes(), ("path", "licence"), file=file)}
    closed = sorted(licence or "none stated" for licence in licences if not OPEN.match(licence))
    return f"left out of a public report: made of files under this licence: {', '.join(closed)}" if closed else ""


def leave_out_private(run: Run, benchmark: str, parts: Mapping[str, Any]) -> None:
    """Take what annotations say out of parts of a public report: the index of items, items, answers to them.

    What a picture is blurred for stays, so that it stays blurred.
    """
    if not (why := why_private(run, benchmark)):
        return
    blurred = getattr(optional_module(benchmark, "shown"), "BLURRED", {})
    if "facets" in (index := parts.get("index", {})):
        index["facets"] = {name: of for name, of in index["facets"].items() if name in ("source", *blurred)}
        index |= {"titles": ["" for _ in index["ids"]], "texts": index["ids"]}
    for row in (one for name, part in parts.items() if name != "index" for one in part.values()):
        if "gold" in row:
            row["gold"] = {name: value for name, value in row["gold"].items() if name in blurred}
            row |= {"fields": {"annotation": why}, "boxes": [[] for _ in row["boxes"]]}
            row["asked"] = [[*place, why] for *place, _ in row["asked"]]
        for heard in row.get("heard", ()):
            heard["question"] = why
