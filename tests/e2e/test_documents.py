"""Every command of the documents' code blocks, executed in one copy of the project; README's reproduced values."""

import re
from pathlib import Path

import pytest
from tests.documents import ALL, LAST, PAGES, ROOT, Command, blocks, commands

from .project import Project

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

EXECUTED = {
    page: [command for command in commands(page) if command.why_not is None]
    for page in sorted(PAGES, key=LAST.__contains__)
}
EDITOR = r"sed -i s/\(^limit:.\).*/\15/"  # who edits config/run.yaml on docs/data.md: to what its experiment has made


def execute(page: str, project: Project) -> str:
    """A page's commands: each ends well and makes the file that its comment begins with."""
    environment, everything = project.environment | {"EDITOR": EDITOR, "COLUMNS": "80"}, ""
    for command in EXECUTED[page]:
        done = project.ran("python" if command.python else "bash", "-c", command.text, env=environment)
        output = done.stdout + done.stderr
        everything += output
        assert done.returncode == 0, f"{command}: status {done.returncode}\n{output}"
        assert "Traceback" not in output, f"{command}\n{output}"
        path = command.claimed_path
        assert path is None or (project.path / path).exists(), f"{command}: no {path}\n{output}"
    return everything


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """As its readers have it when they come to any other page: README's commands were executed."""
    project = Project.copy(tmp_path_factory.mktemp("documents") / "punchline")
    project.edit("config/run.yaml", "limit: null", "limit: 8")  # reading the text of all comics takes a minute
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"]):
        project.run("git", *words)
    assert len(EXECUTED["README.md"]) >= 9
    output = execute("README.md", project)
    page = [line for language, _, lines in blocks("README.md") if language == "text" for line in lines if line != "…"]
    assert page and not [line for line in page if line not in output.splitlines()]
    return project


@pytest.mark.parametrize("page", [page for page, executed in EXECUTED.items() if executed])
def test_the_commands_of_a_page_work(page: str, project: Project) -> None:
    if page != "README.md":
        execute(page, project)


@pytest.mark.parametrize("command", [command for command in ALL if command.why_not], ids=str)
def test_a_command_that_needs_more_than_this_machine(command: Command) -> None:
    pytest.skip(f"NOT EXECUTED: {command.why_not}")


TABLE = re.findall(r"^\| (\w+)[^|]*\| [^|]+ \| ([^|]+) \| `(\w[^`]+)` \|$", (ROOT / "README.md").read_text(), re.M)
ABOUT = {"model", "kind", "engine", "scoring", "subset", "comparable", "note"}  # columns without values
MADE = {  # benchmark: the table that its command builds, the row, column
    "HumorBench": ("results/runs/humorbench-released/humorbench/leaderboard.csv", {}, "accuracy"),
    "Hummus": ("results/hummus/table2.csv", {"model": "random (closed form)"}, "classification_pos"),
    "YesBut": ("results/yesbut/table1.csv", {"kind": "measured"}, "length"),
    "xkcd": ("results/runs/xkcd/table8.csv", {"subset": "multi-panel", "model": "reading-order"}, "panel_acc"),
}


@pytest.mark.real
@pytest.mark.parametrize(("name", "values", "command"), TABLE, ids=[name for name, *_ in TABLE])
def test_a_command_gives_the_values(name: str, values: str, command: str, mirror: Path, fresh: Project) -> None:
    project = fresh
    project.execute(command, *(["--config"] if "--config" not in command else []), f"mirror={mirror}")
    if name in MADE:
        path, wanted, column = MADE[name]
        result = {row[column] for row in project.rows(path, **wanted) if row["kind"] != "published" and row[column]}
        for value in re.findall(r"\d*\.\d+", values):
            digits = len(value.partition(".")[2])
            assert any(round(float(one), digits) == float(value) for one in result), (value, result)
    else:  # PixelHumor's ground truth: equal to the printed values
        rows = [row for row in project.rows("results/pixelhumor/table4.csv") if "ground truth" in row["model"].lower()]
        ours, printed = rows[:2]
        columns = [key for key, value in printed.items() if key not in ABOUT and value]
        assert len(columns) >= 5 and [float(ours[key]) for key in columns] == [float(printed[key]) for key in columns]
