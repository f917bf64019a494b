"""A wheel brings the workflow along: installed without a checkout, `punchline init` makes a project that works."""

import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from tests.ran import ran

from .project import Project

pytestmark = pytest.mark.long


def run(*command: str, folder: Path, fails: bool = False) -> str:
    """What a command said, without this checkout on its way."""
    done = ran(*command, cwd=folder, env={"PATH": "/usr/bin:/bin"})
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of an environment with a wheel of the project, and the packages of this one."""
    source = Project.copy(tmp_path_factory.mktemp("source")).path
    wheels = tmp_path_factory.mktemp("wheels")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), ".", folder=source)
    (wheel,) = wheels.glob("*.whl")
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False)
    python = ("--python", str(environment / "bin/python"))
    run(*pip, *python, "install", "--no-deps", "--no-index", str(wheel), folder=wheels)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment / "bin"


def test_init_makes_a_project_in_which_a_table_is_made_and_audited(installed: Path, tmp_path: Path) -> None:
    output = run(str(installed / "punchline"), "init", "project", folder=tmp_path)
    project = tmp_path / "project"
    assert str(project) in output
    python = str(installed / "python")
    where = run(python, "-c", "import punchline; print(punchline.__file__)", folder=project)
    assert Path(where.strip()).is_relative_to(installed.parent)
    chosen = ("--config", "models=[random,label-order]", "limit=3")
    run(python, "-m", "snakemake", "--cores", "2", "results/table8.csv", *chosen, folder=project)
    assert "verdict  equal" in run(str(installed / "punchline"), "audit", "table8", folder=project)
    listed = {line.strip(" []") for line in (project / "dvc.yaml").read_text().split(",")}
    assert "src" not in listed and (project / "requirements.txt").read_text().startswith("punchline==")
    assert "not an empty folder" in run(str(installed / "punchline"), "init", "project", folder=tmp_path, fails=True)


def test_a_checkout_says_that_it_is_a_project_itself(tmp_path: Path) -> None:
    done = ran(sys.executable, "-m", "punchline.cli", "init", "project", cwd=tmp_path)
    assert done.returncode == 2 and "git clone" in done.stderr and not (tmp_path / "project").exists()
