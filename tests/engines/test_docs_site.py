"""The documents as a site: every page is built and every link between them leads somewhere (-W: a warning fails)."""

from pathlib import Path

import pytest
from tests.ran import ran


def test_the_site_is_built_without_a_warning(root: Path, tmp_path: Path) -> None:
    python = root / ".venv-peers/bin/python"
    if not python.exists() or ran(python, "-c", "import sphinx, myst_parser, furo").returncode:
        pytest.skip("NO SPHINX in .venv-peers: sphinx, myst-parser and furo are needed to run this test")
    options = ("-q", "-n", "-W", "--keep-going", "-b", "html", "-c", "docs")
    done = ran(python, "-m", "sphinx", *options, ".", tmp_path, cwd=root)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).with_suffix(".md").as_posix() for path in tmp_path.rglob("*.html")}
    documents = {path.relative_to(root).as_posix() for path in (root / "docs").glob("*.md")}
    assert pages >= documents | {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
    menu = (tmp_path / "README.html").read_text()
    assert all(f'href="{Path(name).with_suffix(".html").as_posix()}"' in menu for name in documents)
