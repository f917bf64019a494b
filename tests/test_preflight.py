"""What is looked at before the first job: keys, mirror, GPUs and memory, by what cards ask."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.selected import selection_in

from punchline.artifacts.project import Project
from punchline.config import resources
from punchline.config.cards import read_card
from punchline.config.runs import nothing_scored
from punchline.errors import PunchlineError
from punchline.prepare import select
from punchline.schema import ModelCard
from punchline.snakemake import preflight


def card(engine: str = "transformers", **options: Any) -> ModelCard:
    gpus = options.pop("gpus", None)
    return ModelCard(name="m", engine=engine, options=options, gpus=gpus)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A machine with GPUs of these sizes in MiB; None: nvidia-smi is not there."""

    def has(gpus: list[int] | None) -> None:
        monkeypatch.setattr(resources, "gpu_memory", lambda: gpus)

    return has


@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("Qwen/Qwen2-VL-7B-Instruct", None, 14.0),
        ("Qwen/Qwen2-VL-7B-Instruct", "float32", 28.0),
        ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ", None, 43.2),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", None, 17.0),
        ("Qwen/Qwen2.5-0.5B", None, 1.0),
        ("THUDM/cogvlm-chat-hf", None, 0.0),
    ],
)
def test_weights_by_name(name: str, dtype: str | None, expected: float) -> None:
    options = {"id": name} | ({"dtype": dtype} if dtype else {})
    assert resources.weights_gb(card(**options)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("of", "gpus", "why"),
    [
        (card(id="THUDM/cogvlm-chat-hf"), None, "asks for 1 GPU, there are 0"),
        (card(id="THUDM/cogvlm-chat-hf"), [80_000], None),
        (card(id="a/b-34B"), [40_000], "68 GB"),
        (card("vllm", id="a/b-34B", tensor_parallel=2), [80_000], "asks for 2 GPU, there are 1"),
        (card("vllm", id="a/b-34B", tensor_parallel=2), [80_000, 80_000], None),
        (card(id="a/b-0.5B", gpus=0), None, None),
        (card(id="a/b-90000B", gpus=0), None, "this machine has"),
        (card("openai", id="gpt-70B"), None, None),
        (card("vllm", id="a/b-34B", base_url="http://h/v1"), None, None),
    ],
)
def test_a_machine_that_is_too_small(machine: Any, of: ModelCard, gpus: list[int] | None, why: str | None) -> None:
    machine(gpus)
    output = resources.too_small(of)
    assert output is None if why is None else why in str(output)


@pytest.mark.parametrize(("name", "expected"), [("ocr", 8), ("random", 1), ("qwen2-vl-7b", 4), ("gpt-4o", 1)])
def test_threads_of_a_job(root: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: int) -> None:
    monkeypatch.chdir(root)
    assert resources.threads(read_card(name)) == expected


def job(rule: str, **wildcards: str) -> Any:
    """What preflight looks at of a job of Snakemake."""
    return SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict=wildcards)


def test_a_key_that_a_missing_answer_needs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    project = Project(selection_in(root, models=["gpt-4o"], run="never-made"))
    for here in (True, False):  # on a cluster too: keys come from this machine
        with pytest.raises(PunchlineError, match="OPENAI_API_KEY holds no API key"):
            preflight.check(project, None, [job("respond", respondent="gpt-4o", shard="all")], here=here)
    preflight.check(project, None, [job("score", benchmark="pixelhumor", model="gpt-4o")], here=True)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    preflight.check(project, None, [job("respond", respondent="gpt-4o", shard="all")], here=True)


def test_a_judges_key_and_a_scorer_that_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chosen = {"models": ["echo"], "benchmarks": ["humorbench"], "judge": "gpt-4o", "run": "never-made"}
    project = Project(selection_in(root, **chosen))
    for shard in ("all", "2-of-3"):
        with pytest.raises(PunchlineError, match="it cannot run: "):
            preflight.check(project, None, [job("respond", respondent="judge/gpt-4o", shard=shard)], here=True)
    preflight.check(project, None, [job("respond", respondent="judge/labse", shard="all")], here=True)


def test_a_mirror_that_is_not_there(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    project = Project(selection_in(root, corpus="open", models=["random"]))
    fetching = [job("fetch", benchmark="pixelhumor")]
    with pytest.raises(PunchlineError, match="/nowhere is neither a folder nor"):
        preflight.check(project, "/nowhere", fetching, here=True)
    preflight.check(project, "/nowhere", [job("score")], here=True)
    for mirror in (str(tmp_path), "https://example.org/m", None):
        preflight.check(project, mirror, fetching, here=True)


def test_a_table_without_a_scored_item(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for rows, expected in (
        ("a,measured,0\nb,published,9\n", True),
        ("a,measured,0\nc,baseline,1\n", False),
        ("b,published,9\n", False),
        ("a,measured,0\nb,mea", False),  # cut off
    ):
        path.write_text(f"model,kind,n\n{rows}")
        assert nothing_scored(str(path)) is expected


def test_a_limit_takes_what_can_be_had_first() -> None:
    comics = [(str(n), "s", "") for n in range(6)]

    def chosen(limit: int | None, pinned: list[str]) -> str:
        return "".join(c[0] for c in select(comics, None, None, limit, pinned))

    assert chosen(2, ["4", "1", "5"]) == "14"
    assert chosen(4, ["4", "1"]) == "0124"
    assert chosen(3, []) == "012"
    assert chosen(None, ["4"]) == "012345"
