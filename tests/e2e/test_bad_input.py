"""Bad input to a whole run: status 1, one message that names file and record, no traceback, nothing lost."""

from .conftest import SMALL, TABLE
from .project import Project

RAW = "data/raw/demo/pixelhumor"
ITEMS = "data/items/pixelhumor"


def refused(project: Project, config: str = SMALL) -> str:
    """What a run says that has to fail, as quiet as people set it."""
    output = project.snakemake(TABLE, "-q", "rules", "host", config=config, fails=True)
    assert "Traceback" not in output
    return output


def test_what_is_damaged_and_what_changed_are_both_seen_to_in_one_run(small: Project) -> None:
    """Between the two lies what is current: Snakemake must find the way over it."""
    (small.path / ITEMS / "pictures.jsonl").write_text("damaged")
    published = small.path / "config/published/pixelhumor.csv"
    published.write_text(published.read_text().replace("0.614", "0.615", 1))
    assert small.to_run(TABLE, config=SMALL) == {"prepare", "respond", "score", "tables_pixelhumor"}
    small.snakemake(TABLE, config=SMALL)
    assert small.to_run(TABLE, config=SMALL) == set()
    assert "0.615" in (small.path / TABLE).read_text()


def test_an_image_that_is_a_page(small: Project) -> None:
    small.rewrite_raw(f"{RAW}/images/borderless_1.png", b"<html>not found</html>")
    (small.path / ITEMS / "ledger.jsonl.made.json").unlink()  # else the image counts as damaged, not as another
    assert f"error: {RAW}/images/borderless_1.png: not a readable image" in refused(small)


def test_a_subsets_name_is_no_command(small: Project) -> None:
    """A model's name that is one is refused: tests/test_config.py."""
    subset = "it's;touch$IFS$9RAN;.csv"
    (small.path / subset).write_text("comic_id\nborderless_1\n")
    small.snakemake(TABLE, config=f"{SMALL} subset={subset}")
    assert not [path for path in small.path.iterdir() if path.name == "RAN"]
