"""The graph on a real SLURM, through profiles/slurm as shipped; only the pause between status queries is shorter."""

import re
import secrets
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.asked import lines_of
from tests.cases import cases
from tests.e2e.project import Project
from tests.e2e.test_reruns import choose
from tests.e2e.test_versioning import jobs, start
from tests.ran import ran
from tests.small_models import build_tiny

from punchline.core.storage import digests_in

from .conftest import needs

pytestmark = pytest.mark.timeout(1500)

TABLE = "results/table8.csv"
JOURNAL = "data/responses/pixelhumor/slow.jsonl"
KEY = f"sk-{secrets.token_hex(12)}"  # no key: nothing asks with it, and nothing may write it down
# A model on the engine transformers; two prompts a batch, so that there is time to cancel it; SLURM gives it a GPU.
SLOW = cases(__file__, "slow")


def asked_of_slurm(said: str) -> dict[str, str]:
    """{rule/wildcards: what SLURM knows of the job}, of every job that a run submitted; the last of restarted ones."""
    submitted = re.findall(r"SLURM jobid (\d+) \(log: .*?/slurm_logs/rule_(\S+)/\d+\.log\)", said)
    show = ["scontrol", "show", "job", "-o"]
    return {what: ran(*show, job).stdout for job, what in submitted}


def working_in(folder: Path) -> list[list[str]]:
    """Processes whose working directory is in the folder."""
    found = [process.info for process in psutil.process_iter(["cwd", "cmdline"])]
    return [one["cmdline"] for one in found if one["cwd"] and Path(one["cwd"]).is_relative_to(folder)]


@pytest.fixture(scope="module")
def project(slurm: None, tmp_path_factory: pytest.TempPathFactory) -> Project:
    for package in ("torch", "transformers", "accelerate"):
        needs(package)
    project = start(tmp_path_factory.mktemp("slurm") / "p")
    build_tiny(project.path / "data/models/tiny-qwen2-vl")
    (project.path / "config/model/slow.yaml").write_text(SLOW)
    choose(project, models="[reading-order, slow]", limit="8")
    profile = project.path / "profiles/slurm/config.yaml"
    text = profile.read_text().replace("runtime: 240 * attempt", "runtime: 230 * attempt")  # what no card says
    profile.write_text(text + "slurm-init-seconds-before-status-checks: 5\n")
    project.run("git", "add", "-A")
    project.run("git", "commit", "-qm", "cluster")
    return project


def cancelled_run(project: Project, name: str, least: int, job: str) -> tuple[bytes, str]:
    """Cancel a job when its journal has that many lines: the journal after that, and all that the run said."""
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", TABLE]
    environment, journal = project.environment | {"OPENAI_API_KEY": KEY}, project.path / name
    said_by = project.path.parent / "said"
    with said_by.open("w") as out:
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT}
        run = subprocess.Popen(command, cwd=project.path, env=environment, **pipes)
        try:
            while not journal.exists() or journal.read_bytes().count(b"\n") < least:
                assert run.poll() is None, said_by.read_text()
                time.sleep(0.1)
            queue = ran("squeue", "-h", "-o", "%i %T %k", check=True)
            running = re.findall(job, queue.stdout, re.MULTILINE)
            assert len(running) == 1, queue.stdout
            ran("scancel", *running, check=True)
            while ran("squeue", "-h", "-t", "R,CG", "-j", *running).stdout.strip():
                time.sleep(0.1)
            left = journal.read_bytes()
            assert run.wait(timeout=1200) == 0, said_by.read_text()
        finally:
            run.terminate()
            run.wait(timeout=60)
    return left, said_by.read_text()


@pytest.fixture(scope="module")
def cancelled(project: Project) -> tuple[bytes, str]:
    """A run whose model is cancelled while it answers."""
    return cancelled_run(project, JOURNAL, 4, r"^(\d+) RUNNING \S*slow_all$")


def requests_of(project: Project) -> list[str]:
    return list(digests_in(project.path / "data/requests/pixelhumor.parquet"))


def test_a_cancelled_job_is_retried_and_asks_only_the_rest(project: Project, cancelled: tuple[bytes, str]) -> None:
    left, output = cancelled
    assert "SLURM status is: 'CANCELLED'" in output and output.count("Trying to restart job") == 1
    assert (project.path / TABLE).is_file()
    journal = (project.path / JOURNAL).read_bytes()
    requests, before = requests_of(project), left.count(b"\n")
    assert 4 <= before < len(requests) == 8 * 8
    assert journal.startswith(left[: left.rfind(b"\n") + 1])
    answers = lines_of(project.path / JOURNAL)
    assert Counter(answer.request_id for answer in answers) == dict.fromkeys(requests, 1), "each was asked once"
    assert {(answer.engine, answer.state) for answer in answers} == {("transformers", "ok")}
    log = (project.path / "logs/respond/slow/all.log").read_text()
    assert f"{len(requests)} requests, {before} answered before, {len(requests) - before} to ask" in log


def test_only_what_takes_time_is_submitted_and_only_the_model_gets_a_gpu(cancelled: tuple[bytes, str]) -> None:
    known = asked_of_slurm(cancelled[1])
    assert known.keys() == {"respond/reading-order_all", "respond/slow_all"}
    assert {name for name, about in known.items() if "gres:gpu:1" in about} == {"respond/slow_all"}
    for about in known.values():
        assert "JobState=COMPLETED" in about and "NumCPUs=4" in about
    assert "TimeLimit=03:50:00" in known["respond/reading-order_all"]
    slow = known["respond/slow_all"]
    assert "TimeLimit=07:40:00" in slow and re.search(r"mem=8(G|19\dM)", slow), "its second attempt"


def test_keys_are_written_nowhere_and_no_process_is_left(project: Project, cancelled: tuple[bytes, str]) -> None:
    assert KEY not in cancelled[1]
    files = [path for path in project.path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 100
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert working_in(project.path) == []


@pytest.mark.usefixtures("cancelled")
def test_dvc_repro_is_the_same_graph(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (project.path / JOURNAL).read_bytes()
    output = project.run(sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", TABLE)
    assert "Nothing to be done" in output.stdout + output.stderr
    choose(project, models="[random, slow]")
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "profiles/slurm")
    said = project.dvc("repro")
    assert asked_of_slurm(said).keys() == {"respond/random_all"}, "all else was there, or takes seconds"
    assert {"respond random all", "score pixelhumor random", "tables pixelhumor"} <= set(jobs(said))
    assert (project.path / JOURNAL).read_bytes() == before
    monkeypatch.delenv("SNAKEMAKE_PROFILE")
    assert project.wanted("all") == set(), "a machine without SLURM has nothing to do after it"
    assert "Data and pipelines are up to date" in project.dvc("repro")


SHARDS = "data/responses/pixelhumor/shards/slow"


def test_four_shards_one_of_them_cancelled(project: Project) -> None:
    (project.path / JOURNAL).unlink(missing_ok=True)
    for view in (project.path / JOURNAL).parent.glob("slow.parquet*"):
        view.unlink()
    (project.path / "config/model/slow.yaml").write_text(f"{SLOW}shards: 4\n")
    choose(project, models="[slow]")
    project.run("git", "commit", "-qam", "shards")
    second = r"^(\d+) RUNNING \S*respond\S*slow\S*2-of-4$"
    _, output = cancelled_run(project, f"{SHARDS}/2-of-4.jsonl", 2, second)
    assert output.count("Trying to restart job") == 1
    known = asked_of_slurm(output)
    names = {name for name in known if "slow" in name}
    assert names == {"respond/slow_all", *(f"respond/slow_{shard}-of-4" for shard in (1, 2, 3, 4))}
    models = {name: "gres:gpu:1" in about for name, about in known.items() if name in names and about}  # SLURM forgets
    wrong = {name: gpu for name, gpu in models.items() if gpu != name.endswith("-of-4")}
    assert wrong == {}, "those that ask have a GPU, who gathers has none"
    answers = [answer for path in (project.path / SHARDS).glob("*.jsonl") for answer in lines_of(path)]
    assert Counter(answer.request_id for answer in answers) == dict.fromkeys(requests_of(project), 1), "asked once"
    assert project.audit(TABLE)["verdict"] == "equal"
