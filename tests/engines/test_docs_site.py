"""The documents as a site: every page is built and every link between them leads somewhere (-W: a warning fails)."""

import subprocess
from pathlib import Path

import pytest


def test_the_site_is_built_without_a_warning(root: Path, tmp_path: Path) -> None:
    python = root / ".venv-peers/bin/python"
    if (
        not python.exists()
        or subprocess.run([python, "-c", "import sphinx, myst_parser, furo"], check=False).returncode
    ):
        pytest.skip("NO SPHINX in .venv-peers: sphinx, myst-parser and furo are needed to run this test")
    command = [python, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html", "-c", "docs", ".", tmp_path]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).with_suffix(".md").as_posix() for path in tmp_path.rglob("*.html")}
    documents = {path.relative_to(root).as_posix() for path in (root / "docs").glob("*.md")}
    assert pages >= documents | {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
    menu = (tmp_path / "README.html").read_text()
    assert all(f'href="{Path(name).with_suffix(".html").as_posix()}"' in menu for name in documents)
