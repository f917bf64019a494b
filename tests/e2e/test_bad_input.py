"""Bad input to a whole run: status 1, one message that names file and record, no traceback, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import SMALL, TABLE
from .project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("bad")]

RAW = "data/raw/demo/pixelhumor"


def refused(project: Project, config: str = SMALL) -> str:
    """What a run says that has to fail, as quiet as people set it."""
    said = project.snakemake(TABLE, "-q", "rules", "host", config=config, fails=True)
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            f"{RAW}/subjective_label.csv",
            "['",
            "[x'",
            f"error: {RAW}/subjective_label.csv, line 2, record borderless_1, field Q1: ",
        ),
        (f"{RAW}/ledger.jsonl", "{", "{bad", f"error: {RAW}/ledger.jsonl, line 1: not a LedgerEntry record"),
    ],
)
def test_a_broken_file(small: Project, file: str, old: str, new: str, message: str) -> None:
    path, table = small.path / file, (small.path / TABLE).read_bytes()
    path.write_text(path.read_text().replace(old, new, 1))
    assert message in refused(small)
    assert (small.path / TABLE).read_bytes() == table
    assert list(small.path.rglob("*.part")) == []


def test_an_image_that_is_gone(small: Project) -> None:
    (small.path / RAW / "images/borderless_1.png").unlink()
    assert f"error: {RAW}/images/borderless_1.png, record borderless_1: the image in the ledger is gone" in refused(
        small
    )


def test_an_image_that_is_a_page(small: Project) -> None:
    (small.path / RAW / "images/borderless_1.png").write_bytes(b"<html>not found</html>")
    assert f"error: {RAW}/images/borderless_1.png: not a readable image" in refused(small)


def test_names_are_never_commands(small: Project) -> None:
    """A model whose name is a command is refused; a subset whose name is one is read, not run."""
    (small.path / "config/model/a;touch${IFS}RAN.yaml").write_text("engine: baselines\nbaseline: random\n")
    assert "can be no model's name. Rename the file" in refused(small, 'models=["a;touch${IFS}RAN"]')
    subset = "it's;touch$IFS$9RAN;.csv"
    (small.path / subset).write_text("comic_id\nborderless_1\n")
    small.snakemake(TABLE, config=f"{SMALL} subset={subset}")
    assert not [path for path in small.path.iterdir() if path.name == "RAN"]


def test_released_answers_that_are_not_there_or_broken(small: Project) -> None:
    (small.path / "config/model/mine.yaml").write_text("engine: replay\nformat: pixelhumor\npath: data/replay/a.json\n")
    said = refused(small, "models=[mine]")
    assert "config/model/mine.yaml, field path: no such file: 'data/replay/a.json'. Put the file there" in said
    answers = small.path / "data/replay/a.json"
    answers.parent.mkdir(parents=True)
    answers.write_text('{\n"borderless_1": {"panel_sequence": "1, 2')
    assert "error: data/replay/a.json, line 2: malformed JSON" in refused(small, "models=[mine] limit=6")
    assert not Path(small.path / "data/responses/pixelhumor/mine.parquet").exists()
