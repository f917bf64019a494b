"""Output that nobody takes."""

import os
import sys
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.ran import ran

from punchline.files import write_text


@pytest.mark.parametrize(
    ("output", "said"),
    [("| true", ""), (">&-", ""), (">/dev/full", "error: No space left on device\n")],
)
def test_a_command_whose_output_nobody_takes(tmp_path: Path, output: str, said: str) -> None:
    write_text(tmp_path / "Snakefile", "")
    (tmp_path / "data").mkdir()
    for name in ("config", "data/demo", "data/manifests"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "punchline.cli", "tables"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = ran("bash", "-c", f'"$@" {output}', "bash", *command, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (bool(said), said)
