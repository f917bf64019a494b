"""One model asked by several jobs: everything once, whatever their number; tables do not know."""

from __future__ import annotations

import fcntl
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import FAST, SMALL, TABLE
from .project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.long]

CARD = "config/model/label-order.yaml"
JOURNAL = "data/responses/pixelhumor/label-order.jsonl"
SHARDS = "data/responses/pixelhumor/shards/label-order"


def asked(project: Project) -> Counter[str]:
    """How often each request of the model was answered, in its journal and those of its shards."""
    files = [project.path / JOURNAL, *(project.path / SHARDS).glob("*.jsonl")]
    lines = [line for path in files if path.is_file() for line in path.read_text().splitlines()]
    return Counter(json.loads(line)["record"]["request_id"] for line in lines)


def jobs(said: str) -> set[str]:
    """What was begun, by its number of all."""
    return set(re.findall(r"\d+/\d+ (answers of label-order.*)$", said, re.MULTILINE))


def test_shards(small: Project) -> None:
    before, root = asked(small), small.audit(TABLE)["root"]
    card = small.path / CARD
    whole = card.read_text()
    card.write_text(f"{whole}shards: 3\n")
    assert small.to_run(TABLE, config=SMALL) == set()  # how many ask is no part of what is asked
    (small.path / JOURNAL).unlink()
    for view in (small.path / JOURNAL).parent.glob("label-order.parquet*"):
        view.unlink()

    # One of three cannot work: the others do, and nobody makes a table of their part.
    second = small.path / SHARDS / "2.jsonl"
    second.parent.mkdir(parents=True)
    with second.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = small.snakemake(TABLE, "--keep-going", config=SMALL, fails=True)
    assert jobs(said) == {f"answers of label-order, part {shard}" for shard in (1, 2, 3)}
    some = asked(small)
    assert 0 < len(some) < len(before) and set(some.values()) == {1}
    assert {path.name for path in second.parent.glob("?.json")} == {"1.json", "3.json"}

    said = small.snakemake(TABLE, config=SMALL)
    assert jobs(said) == {"answers of label-order, part 2", "answers of label-order"}
    assert asked(small) == before and not list(second.parent.glob("*.jsonl"))
    found = small.audit(TABLE)
    assert (found["verdict"], found["root"]) == ("equal", root)

    # Another number of them, more items, and what a shard that was killed has left.
    lines = (small.path / JOURNAL).read_bytes().splitlines(keepends=True)
    (small.path / JOURNAL).write_bytes(b"".join(lines[::2]))
    (small.path / SHARDS / "7.jsonl").write_bytes(b"".join(lines[1::2]) + b'{"torn')
    card.write_text(f"{whole}shards: 2\n")
    small.snakemake(TABLE, config=f"{FAST} limit=8")
    more = asked(small)
    assert more.keys() > before.keys() and set(more.values()) == {1} and not list(second.parent.glob("*.jsonl"))
    assert small.audit(TABLE)["verdict"] == "equal"


def test_a_run_says_how_many_ask(tmp_path: Path, add_served: Callable[[Project, str], Project]) -> None:
    """Of the models that are asked; where nothing is to ask the number changes nothing."""
    project, config = add_served(Project.copy(tmp_path / "p"), "runtime: 30\n"), "models=[random,served] limit=4"
    said = project.snakemake(TABLE, config=f"{config} shards=3")
    assert {line.split()[-1] for line in re.findall(r"answers of served, part \d", said)} == {"1", "2", "3"}
    assert "answers of random, part" not in said
    root = project.audit(TABLE)["root"]
    assert project.to_run(TABLE, config=config) == project.to_run(TABLE, config=f"{config} shards=2") == set()
    lines = (project.path / "data/responses/pixelhumor/served.jsonl").read_text().splitlines()
    assert len({json.loads(line)["record"]["request_id"] for line in lines}) == len(lines)
    (project.path / "data/responses/pixelhumor/served.parquet").unlink()
    project.snakemake(TABLE, config=f"{config} shards=2")
    assert project.audit(TABLE)["root"] == root


def test_compact_and_merge(small: Project, tmp_path: Path) -> None:
    root, honest = small.audit(TABLE)["root"], (small.path / JOURNAL).read_bytes()
    lines = honest.splitlines(keepends=True)
    (small.path / JOURNAL).write_bytes(b"".join(lines[::2] + lines[1::2] + lines[::2]))
    (small.path / SHARDS).mkdir(parents=True)
    (small.path / SHARDS / "1.jsonl").write_bytes(lines[0])
    assert "bytes less" in small.punchline("compact")
    assert sorted((small.path / JOURNAL).read_bytes().splitlines(keepends=True)) == sorted(lines)
    assert small.to_run(TABLE, config=SMALL) == set() and small.audit(TABLE)["root"] == root

    more = f"{FAST} limit=7"
    small.snakemake(TABLE, config=more)
    longer = (small.path / JOURNAL).read_bytes()
    small.snakemake(TABLE, config=SMALL)  # answers to the seventh item are asked for no more
    assert (small.path / JOURNAL).read_bytes() == longer
    small.punchline("compact", "--orphans")
    assert len((small.path / JOURNAL).read_bytes()) == len(honest)
    assert small.audit(TABLE)["root"] == root

    other = tmp_path / "elsewhere/pixelhumor"  # where they were asked for
    other.mkdir(parents=True)
    (other / "label-order.jsonl").write_bytes(longer)
    said = small.punchline("merge", str(other.parent))
    assert f"{JOURNAL}: 8 answers more" in said and small.audit(TABLE)["root"] == root
    assert "0 answers taken over" in small.punchline("merge", str(other.parent))
    assert "no journals in it" in small.punchline("merge", str(tmp_path / "nowhere"), fails=True)
    (small.path / CARD).write_text((small.path / CARD).read_text() + "shards: 3\n")
    (small.path / JOURNAL).unlink()
    rows = [line.split() for line in small.punchline("plan").splitlines()]  # of config/run.yaml
    header, planned = (next(row for row in rows if word in row) for word in ("to_ask", "label-order"))
    assert planned[header.index("jobs")] == "3"
    (small.path / "data/responses/pixelhumor/random.parquet").unlink()
    assert "the run default rests on is not known" in small.punchline("compact", "--orphans", fails=True)


def test_only_a_model_has_shards(small: Project) -> None:
    judge = next((small.path / "config/judge").glob("*.yaml"))
    judge.write_text(judge.read_text() + "\nshards: 2\n")
    said = small.snakemake("-n", TABLE, config=f"{SMALL} judge={judge.stem}", fails=True)
    assert f"{Path('config/judge') / judge.name}, field shards: only a model's items are asked in parts" in said
