"""Fine-tuning for real, the tiny Qwen2-VL on a CPU: learnt by heart, the loss, stopped and gone on with, refused."""

import importlib.util
import math
import shutil
import signal
import sys
from collections import Counter
from contextlib import chdir
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cases import cases
from tests.ran import ran
from tests.records import answers_of
from tests.small_models import ABSENT, add_cards
from tests.test_finetune import change, corpus_of

from punchline.benchmarks import hummus
from punchline.config import adapters, recipes
from punchline.config.adapters import WHOLE, Trained
from punchline.config.cards import read_card
from punchline.config.recipes import Recipe, read_recipe
from punchline.core import engine as engines
from punchline.engines.transformers import Transformers
from punchline.engines.transformers.loaded import Loaded
from punchline.errors import PunchlineError
from punchline.files import exclusive_lock, parse_csv, write_records
from punchline.paths import ADAPTERS
from punchline.respond import image_files
from punchline.schema import Gold, Item, Request, sha256
from punchline.train import train
from punchline.train.examples import Encoded, Example, examples_of, is_held_out
from punchline.train.examples import encoded as tokenised
from punchline.train.training import IGNORED, answers_loss, with_answers

LACKING = [*ABSENT, *(["peft"] if importlib.util.find_spec("peft") is None else [])]
ABSENT_HERE = f"NOT INSTALLED: {', '.join(LACKING)}; run make hf to run this"
pytestmark = [pytest.mark.skipif(bool(LACKING), reason=ABSENT_HERE), pytest.mark.usefixtures("one_thread")]

Corpus = tuple[list[Item], list[Gold]]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Hummus's demo corpus, pictures under absolute paths."""
    return corpus_of("hummus", tmp_path_factory.mktemp("hummus"))


def small_project(root: Path, tiny: Path, folder: Path) -> Path:
    """Make `folder` a project: config/ and the small model."""
    shutil.copytree(root / "config", folder / "config")
    add_cards(folder)
    shutil.copytree(tiny, folder / "data" / "models" / "tiny-qwen2-vl")
    return folder


@pytest.fixture
def project(root: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(small_project(root, tiny, tmp_path))
    return tmp_path


def a_recipe(**changes: Any) -> Recipe:
    return msgspec.structs.replace(read_recipe("tiny-hummus"), **changes)


def learn(recipe: Recipe, corpus: Corpus, **settings: Any) -> Trained:
    return train(recipe, read_card(recipe.base), *corpus, corpus="demo", **settings)


def asked_of(recipe: Recipe, corpus: Corpus, folder: Path) -> tuple[list[Example], dict[str, Path]]:
    examples, page, _ = examples_of(recipe, *corpus, folder)
    return examples, image_files(page)


def answers(card: str, requests: list[Request], images: dict[str, Path], **options: Any) -> list[str | None]:
    result = read_card(card)
    engine = engines.load(msgspec.structs.replace(result, options=result.options | options), 0)
    assert engine.unavailable() is None
    given = answers_of(engine, requests, images)
    engine.close()
    return [one.text for one in given]


def digests(name: str) -> dict[str, str]:
    folder = adapters.folder_of(name)
    return {p.relative_to(folder).as_posix(): sha256(p.read_bytes()) for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def learnt(root: Path, tiny: Path, pairs: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which the recipe tiny-hummus is trained."""
    folder = small_project(root, tiny, tmp_path_factory.mktemp("learnt"))
    with chdir(folder):
        learn(read_recipe("tiny-hummus"), pairs)
    return folder


@pytest.fixture
def in_learnt(learnt: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(learnt)
    return learnt


def test_the_adapter_has_learnt_its_items_and_the_base_has_not(in_learnt: Path, pairs: Corpus) -> None:
    examples, images = asked_of(read_recipe("tiny-hummus"), pairs, in_learnt / "made")
    requests, targets = [one.request for one in examples], [one.target for one in examples]
    assert len({request.item_id for request in requests}) == 6 and len(requests) > 8
    assert answers("tiny-qwen2-vl-hummus", requests, images) == targets
    base = answers("tiny-qwen2-vl-transformers", requests, images)
    assert not [said for said, right in zip(base, targets, strict=True) if said == right]


def test_the_manifest_says_what_was_trained_on(in_learnt: Path, pairs: Corpus) -> None:
    result = adapters.trained("tiny-hummus")
    assert result is not None
    folder = adapters.folder_of("tiny-hummus")
    assert result.files == {name: sha256((folder / name).read_bytes()) for name in (adapters.WEIGHTS, adapters.CONFIG)}
    held = [item.item_id for item in pairs[0] if is_held_out(item, read_recipe("tiny-hummus"))]
    assert result.held_out == held and len(result.trained) == 6 and not {*result.trained} & {*held}
    listed = parse_csv((folder / adapters.HELD_OUT).read_bytes(), ["item_id"], file="heldout.csv")
    assert [cells["item_id"] for _, cells in listed] == held
    part = result.parts[WHOLE]
    examples, _ = asked_of(read_recipe("tiny-hummus"), pairs, in_learnt / "made")
    assert part.examples == Counter(one.request.task for one in examples)
    assert part.steps == 40 * math.ceil(len(examples) / 4) and len(part.losses) == 40
    assert part.losses[0] > 5 and part.losses[-1] < 0.05
    assert {"peft", "torch", "transformers"} <= set(result.versions)
    parts = {"lora": recipes.Lora(**result.recipe["lora"]), "split": recipes.Split(**result.recipe["split"])}
    assert Recipe(**result.recipe | parts) == read_recipe("tiny-hummus")


def test_the_key_follows_the_adapter_which_is_trained_once(in_learnt: Path, pairs: Corpus, capfd: Any) -> None:
    def key_of(name: str) -> str:
        card = read_card(name)
        return engines.model_key(engines.load(card, 0), card, "hummus")

    before, keys = digests("tiny-hummus"), {key_of("tiny-qwen2-vl-hummus"), key_of("tiny-qwen2-vl-transformers")}
    adapters.manifest_of("tiny-hummus").unlink()  # as Snakemake does before a job
    assert len({*keys, key_of("tiny-qwen2-vl-hummus")}) == 3
    learn(read_recipe("tiny-hummus"), pairs)
    assert "was trained before" in capfd.readouterr().err and digests("tiny-hummus") == before


def test_changed_files_and_another_base_are_refused(in_learnt: Path, pairs: Corpus, tiny: Path) -> None:
    examples, images = asked_of(read_recipe("tiny-hummus"), pairs, in_learnt / "made")
    requests = [examples[0].request]
    shutil.copytree(tiny, in_learnt / "data" / "models" / "another")
    with pytest.raises(PunchlineError, match="field id: the adapter tiny-hummus was trained on data/models/tiny-qwen2"):
        answers("tiny-qwen2-vl-hummus", requests, images, id="data/models/another")
    weights = adapters.folder_of("tiny-hummus") / adapters.WEIGHTS
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(PunchlineError, match=r"adapter_model.safetensors: not as punchline.json lists it"):
        answers("tiny-qwen2-vl-hummus", requests, images)
    weights.write_bytes(content)


@pytest.fixture(scope="module")
def encoded(root: Path, tiny: Path, pairs: Corpus, tmp_path_factory: Any) -> tuple[Loaded, list[Encoded]]:
    with chdir(small_project(root, tiny, tmp_path_factory.mktemp("encoded"))):
        recipe = read_recipe("tiny-hummus")
        engine = Transformers(read_card(recipe.base), 0)
        loaded = Loaded(engine.card, engine.id, engine.revision, engine.dtype)
        examples, images = asked_of(recipe, pairs, Path("made").resolve())
        return loaded, list(tokenised(recipe, engine, loaded, examples, images, Counter()))


def test_loss_is_on_the_answers_tokens_only(encoded: tuple[Loaded, list[Encoded]]) -> None:
    loaded, examples = encoded
    chosen = [examples[0], examples[4], examples[2]]  # answers of different lengths
    tensors, labels = with_answers(loaded, chosen)
    width = labels.shape[1]
    for row, one in enumerate(chosen):
        assert [int(label) for label in labels[row] if label != IGNORED] == one.answer
        assert one.answer[-1] in loaded.ends and loaded.decode(one.answer) == one.example.target
        page = tensors["input_ids"][row][tensors["attention_mask"][row].bool()].tolist()
        prompt = loaded.read([one.prompt]).tensors["input_ids"][0].tolist()
        assert page == [*prompt, *one.answer]  # what the engine asks with, then the answer
        there = tensors["attention_mask"][row][-width:].tolist()
        assert there == [1] * len(one.answer) + [0] * (width - len(one.answer))


def test_the_loss_is_the_models_own_and_that_of_a_batch_the_sum(encoded: tuple[Loaded, list[Encoded]]) -> None:
    import torch

    loaded, examples = encoded
    with torch.no_grad():
        alone = [float(answers_loss(loaded, [one])) for one in examples[:5]]
        assert float(answers_loss(loaded, examples[:5])) == pytest.approx(sum(alone), rel=1e-5)
        tensors, labels = with_answers(loaded, [examples[2]])
        whole = torch.full_like(tensors["input_ids"], IGNORED)
        whole[:, -labels.shape[1] :] = labels
        expected = float(loaded.model(**tensors, labels=whole).loss) * len(examples[2].answer)
    assert alone[2] == pytest.approx(expected, rel=1e-5)


SCRIPT = cases(__file__, "killed")


def test_killed_and_started_again_it_is_the_same(root: Path, project: Path, pairs: Corpus) -> None:
    # Dropout and accumulation, so that what is drawn and summed on the way counts.
    change("tiny-hummus", epochs=2, items=3, batch=2, accumulate=2, adapter_for="task", lora__dropout=0.1)
    items = []
    for item in pairs[0]:  # records name files of the project only
        images = [msgspec.structs.replace(image, path=Path(image.path).name) for image in item.images]
        for image in item.images:
            shutil.copy(image.path, project)
        items.append(msgspec.structs.replace(item, images=tuple(images)))
    write_records("items.jsonl", items)
    write_records("gold.jsonl", pairs[1])

    command = [sys.executable, "-c", SCRIPT]
    done = ran(*command, 0, root / "src")
    assert done.returncode == 0, done.stderr
    whole = digests("tiny-hummus")
    shutil.rmtree(ADAPTERS)

    assert ran(*command, 1, root / "src").returncode == -signal.SIGKILL
    assert adapters.trained("tiny-hummus") is None
    done = ran(*command, 0, root / "src")
    assert done.returncode == 0, done.stderr
    assert "goes on at step 1 of" in done.stderr
    assert digests("tiny-hummus") == whole


def test_a_damaged_or_foreign_checkpoint_is_not_gone_on_from(project: Path, pairs: Corpus, capfd: Any) -> None:
    first = learn(a_recipe(epochs=1, items=2, seed=1), pairs)
    second = learn(a_recipe(epochs=1, items=2), pairs)
    assert "damaged or of another training" in capfd.readouterr().err
    checkpoint = Path(f"{adapters.folder_of('tiny-hummus')}.work/{WHOLE}.pt")
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    third = learn(a_recipe(epochs=1, items=2), pairs)
    assert "damaged or of another training" in capfd.readouterr().err
    assert second.files == third.files != first.files
    with exclusive_lock(checkpoint.parent, ""), pytest.raises(PunchlineError, match="another process is training this"):
        learn(a_recipe(epochs=1), pairs)


def test_one_adapter_for_each_task(project: Path, pairs: Corpus) -> None:
    recipe = a_recipe(adapter_for="task", tasks=["naming", "image_label"], epochs=60, items=2)
    result = learn(recipe, pairs)
    assert set(result.parts) == {"naming", "image_label"}
    assert set(result.files) == {f"{task}/{n}" for task in result.parts for n in (adapters.WEIGHTS, adapters.CONFIG)}
    examples, images = asked_of(recipe, pairs, project / "made")
    engine = engines.load(read_card("tiny-qwen2-vl-hummus"), 0)
    requests = [one.request for one in examples]
    other = next(r for r in hummus.requests(pairs[0][0]) if (r.condition, r.task) == ("default", "classification"))
    *given, last = answers_of(engine, [*requests, other], images)
    assert [one.text for one in given] == [one.target for one in examples]
    assert (last.state, last.reason) == ("missing", "the adapter was not trained on the task classification")


def test_long_examples_are_left_out(project: Path, pairs: Corpus, encoded: tuple[Loaded, list[Encoded]]) -> None:
    loaded, examples = encoded
    lengths = [loaded.read([one.prompt]).lengths[0] + len(one.answer) for one in examples]
    limit = sorted(lengths)[len(lengths) // 2]
    result = learn(a_recipe(epochs=1, max_length=limit), pairs)
    longer = sum(length > limit for length in lengths)
    assert result.left_out[f"longer than {limit} tokens"] == longer > 0
    assert sum(result.parts[WHOLE].examples.values()) == len(lengths) - longer > 0
    with pytest.raises(PunchlineError, match=r"nothing to train on: [0-9]+ items selected.*longer than 20 tokens"):
        learn(a_recipe(max_length=20), pairs)


def test_layers_of_the_language_model_are_trained_and_no_others(project: Path, pairs: Corpus) -> None:
    """The vision tower has layers of the names fc1, fc2, qkv and proj; none of them gets an adapter."""
    lora = recipes.Lora(targets=["q_proj", "fc1", "qkv"], r=1, alpha=1, dropout=0.0)
    result = learn(a_recipe(lora=lora, epochs=1, items=1), pairs)
    assert result.parts[WHOLE].modules == 2  # q_proj of two layers
    with pytest.raises(PunchlineError, match=r"tiny-hummus.yaml, field lora.targets"):
        learn(a_recipe(lora=msgspec.structs.replace(lora, targets=["query"])), pairs)


def test_recomputed_activations_change_memory_only(project: Path, pairs: Corpus) -> None:
    result = [learn(a_recipe(epochs=1, items=2, recompute=again), pairs) for again in (False, True)]
    assert result[0].parts[WHOLE].losses == pytest.approx(result[1].parts[WHOLE].losses, rel=1e-4)
