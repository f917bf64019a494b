"""The engine transformers through the real graph: a small model that reads images, every benchmark and condition."""

from pathlib import Path

import pytest
from tests.e2e.project import Project
from tests.small_models import add_cards, build_tiny, needs_hf

CONFIG = "benchmarks=all conditions=all judge=overlap scorers=null limit=1 models=[tiny-qwen2-vl-transformers]"


@needs_hf
@pytest.mark.timeout(1200)
def test_a_model_that_reads_images_answers_every_benchmark(tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "p")
    add_cards(project.path)
    output = project.snakemake("all_tables", config=CONFIG, fails=True)
    assert "no such folder: data/models/tiny-qwen2-vl; python scripts/small_model.py builds SmolLM2" in output
    build_tiny(project.path / "data/models/tiny-qwen2-vl")
    project.snakemake("all_tables", config=CONFIG)
    assert project.audit("results/table8.csv")["verdict"] == "equal"
    assert project.wanted("all_tables", config=CONFIG) == set()
