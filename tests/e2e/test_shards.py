"""One model asked by several jobs: everything once, whatever their number; tables do not know."""

import fcntl
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.test_engine_openai import KEY, Served

from punchline.core.storage import read_columns

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

    # Answers that are lost after every shard is done: the last job asks nobody.
    (small.path / JOURNAL).unlink()
    (small.path / JOURNAL).with_suffix(".parquet").unlink()
    said = small.snakemake(TABLE, config=f"{FAST} limit=8", fails=True)
    assert "requests have no answer, though every shard is done" in said and asked(small) == Counter()


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


def test_what_hangs_on_answers_is_asked_in_parts_too(
    tmp_path: Path, add_served: Callable[[Project, str], Project], server: Served
) -> None:
    """Chained questions and a judge's, of a run and of a card; nobody is asked twice when one part could not work."""
    table = "results/yesbut/table3.csv"
    server.script(key=KEY)
    config = "benchmarks=[yesbut] models=[served] judge=served scorers=null conditions=[oracle,chained] limit=4"
    project = add_served(Project.copy(tmp_path / "p"), "")
    answers = project.path / "data/responses/yesbut"

    def requests(hop: str = "") -> set[str]:
        return set(read_columns(answers / hop / "served.parquet", ["request_id"])["request_id"])

    for hop, rule in (("chained", "infer_chained"), ("judge", "judge_served")):
        second = answers / hop / "shards/served/2.jsonl"
        second.parent.mkdir(parents=True)
        with second.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            said = project.snakemake(table, "--keep-going", config=f"{config} shards=3", fails=True)
        assert f"{second.relative_to(project.path)}: another run is writing to this journal" in said
        assert {path.name for path in second.parent.glob("?.json")} == {"1.json", "3.json"}
        assert not (answers / hop / "served.parquet").exists() and rule in said
    said = project.snakemake(table, config=f"{config} shards=3")
    assert set(re.findall(r"verdicts of served.*", said)) == {"verdicts of served", "verdicts of served, part 2"}
    asked = [requests(), requests("chained"), requests("judge")]
    assert all(asked) and not list(answers.rglob("shards/**/*.jsonl"))
    counts = server.get("/counts")
    assert sum(counts.values()) == sum(map(len, asked))
    found, values = project.audit(table), (project.path / table).read_bytes()
    assert found["verdict"] == "equal", found["findings"]
    assert project.to_run(table, config=config) == project.to_run(table, config=f"{config} shards=2") == set()

    # Of the judge's card alone; what is in its journal is not asked again, whatever was lost beside it.
    card = project.path / "config/judge/served.yaml"
    card.write_text(card.read_text() + "shards: 2\n")
    lines = (answers / "judge/served.jsonl").read_bytes().splitlines(keepends=True)
    (answers / "judge/served.jsonl").write_bytes(b"".join(lines[::2]))
    (answers / "judge/served.parquet").unlink()
    plan = [line.split() for line in project.punchline("plan", *config.split()).splitlines()]
    header, planned = (next(row for row in plan if word in row) for word in ("to_ask", "judge"))
    assert planned[header.index("jobs")] == "2" and planned[header.index("to_ask")] == str(len(lines) // 2)
    said = project.snakemake(table, config=config)
    assert {f"verdicts of served, part {shard}" for shard in (1, 2)} <= set(re.findall(r"verdicts of served.*", said))
    assert sum(server.get("/counts").values()) - sum(counts.values()) == len(lines) // 2
    assert project.audit(table)["verdict"] == "equal"
    assert (project.path / table).read_bytes() == values  # the server says the same to the same
    more = server.get("/counts")
    project.snakemake(table, "--forcerun", "judge_served", "infer_chained", config=config)
    assert server.get("/counts") == more


def test_minutes_of_a_job(small: Project) -> None:
    """A card's, else those that a profile gives every job; nothing where nobody says any."""
    card = small.path / "config/model/random.yaml"
    card.write_text(card.read_text() + "runtime: 30\n")

    def asked(*options: str) -> set[str]:
        said = small.snakemake("-n", "-p", "--forceall", TABLE, *options, config=SMALL)
        jobs = [job for job in re.split(r"^(?:local)?rule ", said, flags=re.MULTILINE) if job.startswith("infer:")]
        found = {tuple(re.findall(r"model=(\S+)|runtime=(\d+)", job)) for job in jobs}
        return {" ".join(name or minutes for name, minutes in job) for job in found}

    assert asked() == {"random 30", "label-order", "reading-order"}
    default = ("--default-resources", "runtime=11 * attempt")
    assert asked(*default) == {"random 30", "label-order 11", "reading-order 11"}
    assert asked(*default, "--set-resources", "infer:runtime=5") == {"random 5", "label-order 5", "reading-order 5"}
