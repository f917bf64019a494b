"""StripCipher's texts, from a model's drafts to reviewed items: through the real graph, against a real server."""

import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.test_engine_openai import KEY, Served

from .project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.long]

CONFIG = "benchmarks=[stripcipher] models=[served] limit=8"


def test_drafts_are_reviewed_and_then_asked_about(
    tmp_path: Path, server: Served, add_served: Callable[[Project], Project]
) -> None:
    project = add_served(Project.copy(tmp_path / "p"))
    server.script(key=KEY)
    assert "no strip is prepared" in project.punchline("drafts", "served", fails=True)
    project.snakemake("prepare", config=CONFIG)
    strips = project.path / "data/raw/demo/stripcipher/strips.json"
    bare = next(strip for strip in json.loads(strips.read_bytes()) if strip["texts"] is None)["item_id"]

    said = project.punchline("drafts", "served")
    assert "review.csv" in said
    counts = server.get("/counts")
    project.punchline("drafts", "served")
    assert server.get("/counts") == counts  # journalled: not asked again

    sheet = project.path / "review.csv"
    rows = [row for row in project.rows("review.csv") if row["item_id"] == bare and row["task"] == "prediction"]
    answer, *others = [row for row in rows if row["kind"] == "answer"] + [r for r in rows if r["kind"] == "distractor"]
    options = [answer, *others]
    while len(options) < 4:  # the server answers samples alike: people add rows of their own
        options.append({**others[0], "text": f"something else {len(options)}", "drafted_by": "ann"})
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(answer))
        writer.writeheader()
        writer.writerows({**row, "use": "x", "reviewer": "ann"} for row in options[:4])
    project.punchline("reviewed", "review.csv", "--strips", str(strips.relative_to(project.path)))
    texts = next(strip for strip in json.loads(strips.read_bytes()) if strip["item_id"] == bare)["texts"]
    assert texts["prediction"]["answer"] == answer["text"]

    # The project's own manifest gets the digest of what was written.
    (project.path / "review.csv").write_text(sheet.read_text().replace(bare, "mimi_eunice_270"))
    project.punchline("reviewed", "review.csv")
    folder = project.path / "data/manifests/stripcipher"
    digest = hashlib.sha256((folder / "strips.json").read_bytes()).hexdigest()
    assert digest in (folder / "annotations.csv").read_text()
