"""A folder that is another user's: a sentence that says what to do, whoever meets it first."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from punchline.people.votes import Ask, Sheet, Unit, Votes

OTHER = 12_345  # a user that is not this one
SAID = "Work in a clone of your own; or share this one: one group"


@pytest.fixture
def without_rights() -> list[str]:
    """What runs a command so that file permissions count: root, without the right to pass them over."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("SKIPPED: root passes file permissions over, and there is no setpriv")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("from punchline.project.processes import check_writable as f; f()", "you may not write here"),
        ("from punchline.core.files import write_bytes as f; f('results/cost.csv', b'')", "Permission denied"),
        (
            "from punchline.core.journal import Journal as f; f('results/cost.csv')",
            "results/cost.csv: Permission denied",
        ),
    ],
)
def test_another_users_folder(tmp_path: Path, root: Path, without_rights: list[str], code: str, words: str) -> None:
    file = tmp_path / "p/results/cost.csv"
    file.parent.mkdir(parents=True)
    file.touch()
    for path in (file, file.parent, tmp_path / "p"):  # as umask 022 leaves them
        path.chmod(0o644 if path == file else 0o755)
        if os.geteuid() == 0:
            os.chown(path, OTHER, OTHER)
        elif path != file:
            path.chmod(0o555)
    if os.geteuid() != 0:
        file.chmod(0o444)
    script = f"from punchline.core.errors import entry_point\n@entry_point\ndef main():\n    {code}\nmain()"
    done = subprocess.run(
        [*without_rights, sys.executable, "-c", script],
        cwd=tmp_path / "p",
        env=os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert words in done.stderr and SAID in done.stderr


def test_votes_that_may_only_be_read(tmp_path: Path, root: Path, without_rights: list[str]) -> None:
    """They are read, and a vote says why it is not taken."""
    sheet = Sheet(
        benchmark="b",
        study="s",
        run="default",
        models=(),
        seed=0,
        title="",
        intro=(),
        options=(("1", "one"),),
        questions={"": (Ask(aspect="", ask="?"),)},
        note="",
        units=(Unit(item_id="1", task="", texts=(), context=(), picture="", sha256=""),),
    )
    votes = Votes.make(tmp_path / "b/s.sqlite", sheet, {"1": [0]})
    votes.vote("1", 0, {"": "1"}, "")
    for path, mode in ((votes.path, 0o444), (votes.path.parent, 0o555)):
        path.chmod(mode)
    code = f"from punchline.people.votes import Votes\nvotes = Votes({str(votes.path)!r})\n"
    code += "print(len(votes.given()), votes.raters(), votes.seats('1'), votes.offered('1'))\nvotes.new_secret('1')"
    done = subprocess.run(
        [*without_rights, sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1 ['1'] [0] {}\n"
    assert f"no vote may be written here. It is your own: chmod -R u+rwX {votes.path}" in done.stderr


@pytest.mark.parametrize("barred", [".", "logs", ".punchline"])
def test_a_folder_of_ones_own(tmp_path: Path, root: Path, without_rights: list[str], barred: str) -> None:
    """It says what gives the right back, and that does."""
    folder = tmp_path / "p"
    for name in ("logs", ".punchline"):
        (folder / name).mkdir(parents=True)
    (folder / barred).chmod(0o555)

    def check() -> subprocess.CompletedProcess[str]:
        code = "from punchline.core.errors import entry_point\n"
        code += "from punchline.project.processes import check_writable\nentry_point(check_writable)()"
        return subprocess.run(
            [*without_rights, sys.executable, "-c", code],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    done = check()
    assert done.returncode == 1 and "Traceback" not in done.stderr and "another" not in done.stderr
    way_out = f"chmod -R u+rwX {(folder / barred).resolve()}"
    assert f"you may not write here. It is your own: {way_out}" in done.stderr
    subprocess.run(way_out.split(), check=True)
    assert check().returncode == 0
