"""What the documents list is what there is."""

import re
from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names


def test_docs_tables_lists_every_table(root: Path) -> None:
    parts = re.split(r"^## ", (root / "docs" / "tables.md").read_text(), flags=re.MULTILINE)
    listed = {part.split(" ", 1)[0].lower(): part for part in parts[1:]}
    assert set(listed) == set(benchmark_names())
    for name in benchmark_names():
        first_cells = [line.split("|")[1] for line in listed[name].splitlines() if line.startswith("| ")]
        there = {word for cell in first_cells for word in re.findall(r"[a-z_]+\d*", cell)} - {"table"}
        assert there == set(benchmarks.load(name).TABLES)


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_modules_that_the_architecture_names_are_there(root: Path) -> None:
    text = (root / "docs" / "architecture.md").read_text()
    source = root / "src" / "punchline"
    for name in re.findall(r"`([a-z_]+/[a-z_/]*[a-z_]+\.py)`", text):
        assert (source / name).exists() or (root / name).exists() or (source.parent / name).exists(), name


def test_docs_stay_short(root: Path) -> None:
    pages = [page.read_text() for page in (root / "docs").glob("*.md")]
    assert len(pages) <= 20
    assert sum(len(page.split()) for page in pages) <= 16_000
