"""Which files a script depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from punchline.project.code import code_of


@pytest.fixture(autouse=True)
def in_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)


def test_a_script_depends_on_itself_and_what_it_imports() -> None:
    files = code_of("scripts/ask.py")
    assert files[0] == "scripts/ask.py"
    assert {"src/punchline/core/records.py", "src/punchline/core/storage.py", "src/punchline/core/errors.py"} <= set(
        files
    )
    assert "src/punchline/audit/audit.py" not in files
    assert files == list(dict.fromkeys(files))


def test_what_is_imported_by_name_is_added_with_its_own_imports() -> None:
    files = set(code_of("scripts/ask.py", "punchline.benchmarks.pixelhumor"))
    assert {"src/punchline/benchmarks/pixelhumor/__init__.py", "src/punchline/metrics/text.py"} <= files


def test_asking_does_not_depend_on_fetching_or_drawing() -> None:
    files = set(code_of("scripts/ask.py", "punchline.benchmarks.pixelhumor"))
    assert (
        not {"src/punchline/stages/fetch/__init__.py", "src/punchline/comics/number.py", "src/punchline/demo/comics.py"}
        & files
    )
