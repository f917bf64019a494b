"""One model asked by several jobs: everything once, whatever their number; tables do not know."""

import re
import subprocess
import sys
from collections import Counter

import pytest
from tests.asked import lines_of

from punchline.journal import Shard, locked

from .conftest import SMALL, TABLE
from .project import Project

pytestmark = pytest.mark.long

JOURNAL = "data/responses/pixelhumor/reading-order.jsonl"
SHARDS = "data/responses/pixelhumor/shards/reading-order"


def asked(project: Project) -> Counter[str]:
    """How often each request of the model was answered, in its journal and those of its shards."""
    files = [project.path / JOURNAL, *(project.path / SHARDS).glob("*.jsonl")]
    return Counter(one.request_id for path in files for one in lines_of(path))


def jobs(said: str) -> set[str]:
    """The shards whose jobs were begun, and "" for the model's own."""
    return set(re.findall(r"^Job \d+: answers of reading-order(?:, shard (\d-of-\d))?: (?!unchanged)", said, re.M))


def forget(project: Project) -> None:
    """Delete the model's answers."""
    for path in (project.path / JOURNAL).parent.glob("reading-order.*"):
        path.unlink()


def test_shards(small: Project) -> None:
    before, root = asked(small), small.audit(TABLE)["root"]
    card = small.path / "config/model/reading-order.yaml"
    card.write_text(f"{card.read_text()}shards: 3\n")
    assert small.wanted(TABLE, config=SMALL) == set()  # how many ask is no part of what is asked
    forget(small)

    # One of three cannot work: the others do, and nobody makes a table of their part.
    second = small.path / SHARDS / "2-of-3.jsonl"
    second.parent.mkdir(parents=True)
    second.symlink_to("not mounted/2.jsonl")
    output = small.snakemake(TABLE, "--keep-going", config=SMALL, fails=True)
    assert jobs(output) == {"1-of-3", "2-of-3", "3-of-3"}
    second.unlink()
    some = asked(small)
    assert 0 < len(some) < len(before) and set(some.values()) == {1}
    assert jobs(small.snakemake(TABLE, config=SMALL)) == {"2-of-3", ""}
    assert asked(small) == before
    report = small.audit(TABLE)
    assert (report["verdict"], report["root"]) == ("equal", root)


def test_a_run_waits_for_another_that_asks_the_same(small: Project) -> None:
    before = asked(small)
    forget(small)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", TABLE, "--config", *SMALL.split()]
    with locked(str(small.path / JOURNAL), Shard(2, 3)):
        run = subprocess.Popen(command, cwd=small.path, env=small.environment, stderr=subprocess.PIPE, text=True)
        assert run.stderr is not None
        assert any("waiting for another run that asks" in line for line in run.stderr)
        assert asked(small) == Counter() and run.poll() is None
    run.communicate()
    assert run.returncode == 0 and asked(small) == before


def test_minutes_of_a_job(small: Project) -> None:
    """A card's, else those that a profile gives every job; nothing where nobody says any."""
    card = small.path / "config/model/random.yaml"
    card.write_text(card.read_text() + "runtime: 30\n")
    rule = small.path / "rules/respond.smk"  # without a message Snakemake prints the resources of a job
    rule.write_text(re.sub(r" +message:\n.*\n", "", rule.read_text()))
    for options, expected in (((), ""), (("--default-resources", "runtime=11 * attempt"), " 11")):
        output = small.snakemake("-n", "-p", "--forceall", TABLE, *options, config=SMALL)
        jobs = [job for job in re.split(r"^(?:local)?rule ", output, flags=re.MULTILINE) if job.startswith("respond:")]
        result = {" ".join(re.findall(r"(?<=respondent=)[\w-]+|(?<=runtime=)\d+", job)) for job in jobs}
        assert result == {"random 30", f"reading-order{expected}"}
