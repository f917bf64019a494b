"""A folder that is another user's: a sentence that says what to do, whoever meets it first."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cases import cases
from tests.ran import ran

from punchline.benchmarks.study import Question
from punchline.files import write_text
from punchline.rating.votes import Sheet, Unit, Votes

OTHER = 12_345  # a user that is not this one
SAID = "Work in a clone of your own; or share this one: one group"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def without_rights(root: Path) -> Run:
    """Runs Python so that file permissions count: root, without the right to pass them over."""
    without: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("SKIPPED: root passes file permissions over, and there is no setpriv")
        without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all"]
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return lambda code, folder: ran(*without, sys.executable, "-c", code, cwd=folder, env=environment)


@pytest.mark.parametrize(("code", "words"), cases(__file__, "folders"))
def test_another_users_folder(tmp_path: Path, without_rights: Run, code: str, words: str) -> None:
    file, root = tmp_path / "p/results/cost.csv", os.geteuid() == 0
    write_text(file, "")
    for path, owned, mine in ((file, 0o644, 0o444), (file.parent, 0o755, 0o555), (tmp_path / "p", 0o755, 0o555)):
        path.chmod(owned if root else mine)  # root's are another's, as umask 022 leaves them
        if root:
            os.chown(path, OTHER, OTHER)
    script = f"from punchline.errors import entry_point\n@entry_point\ndef main():\n    {code}\nmain()"
    done = without_rights(script, tmp_path / "p")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert words in done.stderr and SAID in done.stderr


def test_votes_that_may_only_be_read(tmp_path: Path, without_rights: Run) -> None:
    """They are read, and a vote says why it is not taken."""
    unit = Unit(item_id="1", task="", texts=(), context=(), picture="", sha256="")
    names = dict.fromkeys(("benchmark", "study", "run", "title", "note"), "x")
    options, questions = (("1", "one"),), {"": (Question("", "?"),)}
    sheet = Sheet(**names, seed=0, models=(), intro=(), options=options, questions=questions, units=(unit,))
    votes = Votes.make(tmp_path / "b/s.sqlite", sheet, {"1": [0]})
    votes.vote("1", 0, {"": "1"}, "")
    for path, mode in ((votes.path, 0o444), (votes.path.parent, 0o555)):
        path.chmod(mode)
    code = f"from punchline.rating.votes import Votes\nvotes = Votes({str(votes.path)!r})\n"
    code += "print(len(votes.given()), votes.raters(), votes.seats('1'))\nvotes.new_secret('1')"
    done = without_rights(code, None)
    assert done.stdout == "1 ['1'] [0]\n"
    assert f"votes cannot be written here. It is your own: chmod -R u+rwX {votes.path}" in done.stderr


@pytest.mark.parametrize("barred", [".", "logs", ".punchline"])
def test_a_folder_of_ones_own(tmp_path: Path, without_rights: Run, barred: str) -> None:
    """It says what gives the right back, and that does."""
    folder = tmp_path / "p"
    for name in ("logs", ".punchline"):
        (folder / name).mkdir(parents=True)
    (folder / barred).chmod(0o555)
    code = "from punchline.errors import entry_point\n"
    code += "from punchline.workflow.processes import check_writable\nentry_point(check_writable)()"
    done = without_rights(code, folder)
    assert done.returncode == 1 and "Traceback" not in done.stderr and "another" not in done.stderr
    hint = f"chmod -R u+rwX {(folder / barred).resolve()}"
    assert f"you may not write here. It is your own: {hint}" in done.stderr
    subprocess.run(hint.split(), check=True)
    assert without_rights(code, folder).returncode == 0
