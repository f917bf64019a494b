"""What is looked at before the first job: keys, mirror, GPUs and memory, by what cards ask."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cases import cases
from tests.selected import selection_in

from punchline.artifacts.project import Project
from punchline.config import resources
from punchline.config.cards import read_card
from punchline.config.runs import nothing_scored
from punchline.errors import PunchlineError
from punchline.prepare import select
from punchline.schema import ModelCard
from punchline.snakemake import preflight


@pytest.fixture(autouse=True)
def without_key(in_root: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def card(engine: str = "transformers", gpus: int | None = None, **options: Any) -> ModelCard:
    return ModelCard(name="m", engine=engine, options=options, gpus=gpus)


def test_weights_by_name() -> None:
    qwen = "Qwen/Qwen2-VL-7B-Instruct"
    sizes = {qwen: 14.0, "Qwen/Qwen2.5-VL-72B-Instruct-AWQ": 43.2, "Qwen/Qwen2.5-0.5B": 1.0}
    sizes |= {"meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8": 17.0, "THUDM/cogvlm-chat-hf": 0.0}
    assert {name: resources.weights_gb(card(id=name)) for name in sizes} == pytest.approx(sizes)
    assert resources.weights_gb(card(id=qwen, dtype="float32")) == pytest.approx(28.0)


@pytest.mark.parametrize(("of", "gpus", "why"), cases(__file__, "machines"))
def test_a_machine_that_is_too_small(
    of: dict[str, Any], gpus: list[int] | None, why: str | None, monkeypatch: Any
) -> None:
    monkeypatch.setattr(resources, "gpu_memory", lambda: gpus)
    output = resources.too_small(card(**of))
    assert output is None if why is None else why in str(output)


@pytest.mark.parametrize(("name", "expected"), [("ocr", 8), ("random", 1), ("qwen2-vl-7b", 4), ("gpt-4o", 1)])
def test_threads_of_a_job(name: str, expected: int) -> None:
    assert resources.threads(read_card(name)) == expected


@pytest.mark.parametrize(("chosen", "rule", "wildcards", "said"), cases(__file__, "lacks"))
def test_what_a_run_lacks(root: Path, monkeypatch: Any, chosen: Any, rule: str, wildcards: Any, said: Any) -> None:
    jobs = [SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict={"shard": "all"} | wildcards)]
    project, mirror = Project(selection_in(root, **chosen)), chosen.get("mirror")
    for here in (True, False):  # on a cluster too: keys come from this machine
        with nullcontext() if said is None else pytest.raises(PunchlineError, match=said):
            preflight.check(project, mirror, jobs, here=here)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    if rule == "respond":
        preflight.check(project, mirror, jobs, here=True)


@pytest.mark.parametrize(("model", "is_said"), [("gpt-4o", True), ("echo", False), ("gemini-2.5-pro", False)])
def test_an_ignored_address_is_named(model: str, is_said: bool, root: Path, monkeypatch: Any) -> None:
    project = Project(selection_in(root, models=[model], run="never-made"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert preflight.ignores_address(project) is is_said
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert not preflight.ignores_address(project)


def test_a_table_without_a_scored_item(tmp_path: Path) -> None:
    path, scored = tmp_path / "t.csv", ("a,measured,0\nc,baseline,1\n", "b,published,9\n")
    for rows in ("a,measured,0\nb,published,9\n", *scored):
        path.write_text(f"model,kind,n\n{rows}")
        assert nothing_scored(str(path)) is (rows not in scored)


@pytest.mark.parametrize(
    ("limit", "pinned", "expected"), [(2, "415", "14"), (4, "41", "0124"), (3, "", "012"), (None, "4", "012345")]
)
def test_a_limit_takes_what_can_be_had_first(limit: int | None, pinned: str, expected: str) -> None:
    chosen = select([(number, "s", "") for number in "012345"], None, None, limit, pinned)
    assert "".join(comic[0] for comic in chosen) == expected
