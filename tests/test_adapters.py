"""Cards of trained adapters: what their answers depend on, and what makes an adapter out of date."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.test_finetune import change, project

from punchline import train as finetune
from punchline.artifacts.project import Project
from punchline.config import adapters
from punchline.config.adapters import WHOLE, Base, Part, Trained
from punchline.config.cards import read_card
from punchline.config.recipes import read_recipe
from punchline.config.selection import read_selection
from punchline.core import engine as engines
from punchline.errors import PunchlineError
from punchline.files import write_bytes
from punchline.schema import ModelCard, sha256
from punchline.workflow.provenance import Artifact, Status, write_provenance

__all__ = ["project"]


def write_manifest(**fields: Any) -> None:
    part = Part(examples={"naming": 2}, steps=1, parameters=8, modules=1, losses=[0.5])
    result: dict[str, Any] = {"name": "an-adapter", "files": {adapters.WEIGHTS: "0" * 64}, "parts": {WHOLE: part}}
    result |= {"base": Base(card="c", id="some/model", revision="r"), "recipe": {}, "corpus": "demo", "versions": {}}
    result |= {"trained": ["1"], "held_out": ["2"], "left_out": {}, "dtype": "float32", "device": "cpu"}
    made = Trained(**result | fields)
    write_bytes(adapters.manifest_of(made.name), msgspec.json.encode(made))


def a_card(**options: Any) -> ModelCard:
    options = {"id": "data/models/tiny-qwen2-vl", "adapter": "an-adapter"} | options
    return ModelCard(name="m", engine="transformers", options=options)


def test_identity_follows_the_weights_and_the_engine_says_what_trains(project: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    engine = engines.load(a_card(), 0)
    said = "the adapter an-adapter is not trained: snakemake data/adapters/an-adapter/punchline.json"
    assert engine.unavailable() == said
    assert adapters.identity("an-adapter") == "untrained"
    write_manifest()
    assert "not trained" not in str(engine.unavailable())
    first = adapters.identity("an-adapter")
    write_manifest(corpus="full", left_out={"x": 1})
    assert adapters.identity("an-adapter") == first
    write_manifest(files={adapters.WEIGHTS: "1" * 64})
    assert adapters.identity("an-adapter") not in (first, "untrained")


def training(**overrides: Any) -> Artifact:
    """The artifact of the adapter tiny-hummus in a selection."""
    selection = {"models": ["random"], "benchmarks": ["hummus"], **overrides}
    return Project(read_selection(selection)[0]).train("tiny-hummus")


def why(**overrides: Any) -> str | None:
    """The reason to train it (again); None: it is current."""
    return Status()(training(**overrides))


def test_an_adapter_out_of_date(root: Path, project: Path) -> None:
    recipe = read_recipe("tiny-hummus")
    weights = adapters.folder_of("tiny-hummus") / adapters.WEIGHTS
    model = Path("data/models/tiny-qwen2-vl/punchline.json")
    write_bytes(model, b"{}")
    Path("data/manifests").symlink_to(root / "data/manifests")
    assert why() == "not built yet"
    write_bytes(weights, b"weights")
    base = Base(card=recipe.base, id=read_card(recipe.base).options["id"], revision="r")
    files = {adapters.WEIGHTS: sha256(b"weights")}
    write_manifest(name="tiny-hummus", recipe=msgspec.to_builtins(recipe), base=base, files=files)
    assert why() == "no provenance record"
    write_provenance(training(), training().input_digests())
    # Of which items it was trained is in its manifest: another selection of the same corpus trains nothing anew.
    others: dict[str, Any] = {"models": ["ocr"], "benchmarks": ["hummus", "yesbut"], "seed": 1, "limit": 3}
    assert [why(**{key: value}) for key, value in others.items()] == [None] * 4 and why(run="other", limit=1) is None
    assert why(corpus="full") == 'corpus: "demo" → "full"'
    for file in (model, weights):
        content = file.read_bytes()
        file.write_bytes(content + b" ")
        assert file.as_posix() in str(why())
        write_bytes(file, content)
        assert why() is None
    change("tiny-hummus", seed=1)
    assert str(why()).startswith("recipe: ")


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"name": 1}'])
def test_a_damaged_manifest(here: Path, content: bytes) -> None:
    write_bytes(adapters.manifest_of("an-adapter"), content)
    with pytest.raises(PunchlineError, match=r"^data/adapters/an-adapter/punchline.json: not an adapter's manifest"):
        adapters.identity("an-adapter")


def test_training_needs_its_packages(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = read_recipe("tiny-hummus")
    monkeypatch.setattr(finetune, "PACKAGES", ("no_such_package",))
    with pytest.raises(PunchlineError, match="not installed: no_such_package; run make hf"):
        finetune.train(recipe, read_card(recipe.base), [], [], corpus="demo")
