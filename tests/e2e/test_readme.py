"""Every command of README's code blocks, executed in a copy of the project in the order in which it stands there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from .project import ROOT, Project

pytestmark = [pytest.mark.e2e, pytest.mark.long]

NOT_HERE = {  # how a command begins: why it is not executed
    "make demo": "installs a virtual environment of its own from the network; the next commands are what it runs",
    "make test": "runs this test",
    "snakemake --cores all results/table8.csv --config corpus=": "fetches comics from the network",
    "export OPENAI_API_KEY=": "needs a key",
    "snakemake --cores all --config models=[gpt-4o]": "needs a key, the network and money",
    "punchline view": "serves until Ctrl-C; test_report.py has it",
    "punchline --install-completion": "changes the shell's own start file",
}


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line).strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def why_not(command: str) -> str | None:
    return next((why for start, why in NOT_HERE.items() if command.startswith(start)), None)


@pytest.fixture
def clone(tmp_path: Path) -> Project:
    project = Project.copy(tmp_path / "punchline")
    run = project.path / "config/run.yaml"  # eight comics: reading the text of all takes a minute and shows no more
    run.write_text(re.sub(r"^limit: null", "limit: 8", run.read_text(), flags=re.MULTILINE))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        project.run("git", *words)
    return project


@pytest.mark.timeout(1800)
def test_the_commands_of_the_readme_work(clone: Project) -> None:
    executed = [command for command in commands() if why_not(command) is None]
    assert len(executed) >= 12
    for command in executed:
        done = subprocess.run(
            ["bash", "-c", command], cwd=clone.path, env=clone.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stdout + done.stderr, command


@pytest.mark.parametrize("command", [command for command in commands() if why_not(command)])
def test_a_command_that_needs_more_than_this_machine(command: str) -> None:
    pytest.skip(f"NOT EXECUTED: {why_not(command)}")


def test_what_is_not_executed_stands_in_the_readme() -> None:
    assert [start for start in NOT_HERE if not any(command.startswith(start) for command in commands())] == []
