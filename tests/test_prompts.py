"""Prompts are files: what is asked of the demo corpus is as it was, and who reads which file is known."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from punchline.bench.prompts import prompts
from punchline.core.benchmark import drawn, load, module_of, names
from punchline.core.records import ImageRef, digest_of, sha256
from punchline.project import code

NAMES = ("", "page", *(f"frame{number}" for number in range(1, 9)), "masked", "row_shuffled", "row_masked")
PICTURES = tuple(
    ImageRef(path=f"{name}.png", sha256=sha256(name.encode()), width=9_999, height=9_999, name=name) for name in NAMES
)


@pytest.mark.parametrize("name", names())
def test_what_is_asked_of_the_demo_corpus_is_as_it_was(name: str, root: Path, tmp_path: Path) -> None:
    """Digests of all requests by condition and task. One that changes asks every model anew: change it on purpose."""
    drawn(name).draw(tmp_path)
    benchmark = load(name)
    files = {file: (tmp_path / file).read_bytes() for file in {*benchmark.ITEM_FILES, *benchmark.GOLD_FILES}}
    asked = defaultdict(list)
    for item in benchmark.items(files, dict.fromkeys((row[0] for row in benchmark.listing(files)), PICTURES)):
        for request in benchmark.requests(item):
            asked[f"{request.condition} {request.task}"].append(request.request_id)
    path = root / "tests/golden/requests.json"
    golden = json.loads(path.read_bytes())
    digests = {key: digest_of(ids) for key, ids in asked.items()}
    if os.environ.get("PUNCHLINE_GOLDEN") == "write":
        path.write_text(json.dumps(golden | {name: digests}, indent=1, sort_keys=True) + "\n")
    else:
        assert digests == golden[name]


@pytest.mark.parametrize("name", names())
def test_every_prompt_is_read_by_who_asks_and_by_no_other(name: str) -> None:
    """Baselines and data read none: an engine's key and items hang on no prompt."""
    folder = code.PACKAGE / "benchmarks" / name / "prompts"
    asks = set(code.prompts(module_of(name, "ask")))
    others = {*code.prompts(module_of(name, "judge"), module_of(name, "review"))}
    assert asks == set(folder.glob("*.txt")) and asks | others == set(folder.rglob("*.txt"))
    assert not any(
        code.prompts(module_of(name, module)) for module in ("data", "baselines", "wording", "tables", "demo")
    )


def test_the_last_line_break_is_the_files() -> None:
    package = "punchline.benchmarks.humorbench"
    assert list(prompts(package)) == ["explain"]
    assert prompts(package)["explain"].endswith("Caption: {caption}\n")
    assert list(prompts(package, "judge")) == ["element"]
