"""Fine-tuning without a model: recipes, splits, targets that parse back to gold, adapters and their cards."""

import math
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace
from tests.cases import cases
from tests.records import asked_in, images_of, refused, response
from tests.small_models import add_cards

from punchline import train as finetune
from punchline.artifacts.project import Project
from punchline.benchmarks import hummus, stripcipher
from punchline.benchmarks.hummus import answers as hummus_answers
from punchline.benchmarks.hummus import scope as hummus_scope
from punchline.benchmarks.hummus import training as hummus_training
from punchline.benchmarks.stripcipher import holdout
from punchline.benchmarks.stripcipher import training as stripcipher_training
from punchline.config import adapters
from punchline.config.adapters import WHOLE, Base, Part, Trained
from punchline.config.cards import read_card
from punchline.config.recipes import read_recipe
from punchline.config.resources import minutes
from punchline.config.selection import read_selection
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.errors import PunchlineError
from punchline.files import write_bytes
from punchline.metrics import boxes
from punchline.read import highlight
from punchline.respond import image_files
from punchline.schema import Gold, ImageRef, Item, ModelCard, sha256
from punchline.train.examples import examples_of, is_held_out
from punchline.train.training import rate
from punchline.workflow.provenance import Artifact, Status, write_provenance


@pytest.fixture
def project(project: Path) -> Path:
    add_cards(project)
    return project


def corpus_of(benchmark: str, folder: Path) -> tuple[list[Item], list[Gold]]:
    """Items and gold of the demo corpus, with their pictures in `folder`."""
    module: Any = benchmarks.load(benchmark)
    shutil.copytree(Path(__file__).parent.parent / "data/demo" / benchmark, folder, dirs_exist_ok=True)
    files = {name: (folder / name).read_bytes() for name in (*module.ITEM_FILES, *module.GOLD_FILES)}
    images: dict[str, tuple[ImageRef, ...] | str] = {}
    for item_id, _, _ in module.listing(files):
        refs = []
        content = (folder / f"images/{item_id}.png").read_bytes()
        for picture in benchmarks.illustrated(module).pictures(item_id, content, files):
            path = folder / "pictures" / f"{item_id}{picture.name}{picture.suffix}"
            write_bytes(path, picture.content)
            about = {name: getattr(picture, name) for name in ("width", "height", "name")}
            refs.append(ImageRef(path=path.as_posix(), sha256=sha256(picture.content), **about))
        images[item_id] = tuple(refs)
    return module.items(files, images), list(module.golds(files))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[list[Item], list[Gold]]]:
    return {name: corpus_of(name, tmp_path_factory.mktemp(name)) for name in ("hummus", "stripcipher")}


def change(name: str, /, **changes: Any) -> None:
    """Write other values into a recipe; a key with `__` is one of a part."""
    path = Path(f"config/finetune/{name}.yaml")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        outer, _, inner = key.partition("__")
        target = content[outer] if inner else content
        if value is None:
            del target[inner or outer]
        else:
            target[inner or outer] = value
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


RECIPES = ("qwen3-vl-2b-hummus", "qwen2-vl-7b-reordering", "llava-1.6-7b-reordering", "tiny-hummus")


@pytest.mark.parametrize(("changes", "said"), refused("recipes"))
def test_a_bad_key_is_named(project: Path, changes: dict[str, Any], said: str) -> None:
    change("tiny-hummus", **changes)
    with pytest.raises(PunchlineError, match=rf"^config/finetune/tiny-hummus\.yaml.*{re.escape(said)}"):
        read_recipe("tiny-hummus")
    with pytest.raises(PunchlineError, match="unknown recipe 'tiny'"):
        read_recipe("tiny")


def test_a_jobs_minutes_decide_nothing_of_a_training_and_a_rate_may_be_written_as_people_do(project: Path) -> None:
    recipe, file = read_recipe("tiny-hummus"), Path("config/finetune/tiny-hummus.yaml")
    file.write_text(file.read_text().replace("lr: 0.01", "lr: 1e-2") + "runtime: 30\n")
    longer = read_recipe("tiny-hummus")
    assert [minutes(longer, attempt) for attempt in (1, 2)] == [30, 60] and minutes(recipe, 1) is None
    assert longer.trained_by() == recipe.trained_by() and "runtime" not in recipe.trained_by()


def test_whole_clusters_are_held_out_by_seed_and_name_alone(project: Path) -> None:
    about = {"benchmark": "hummus", "source": "s"}
    items = [Item(item_id=f"{c}-{n}", cluster=str(c), **about) for c in range(400) for n in range(3)]

    def held(seed: int, items: list[Item]) -> list[str]:
        change("tiny-hummus", split__held_out=0.3, split__seed=seed)
        recipe = read_recipe("tiny-hummus")
        return [item.cluster for item in items if is_held_out(item, recipe)]

    first = held(5, items)
    assert set(Counter(first).values()) == {3} and 0.24 < len(set(first)) / 400 < 0.36
    assert held(5, items[::-1])[::-1] == first != held(2, items)


@pytest.mark.parametrize("name", RECIPES)
def test_what_the_tables_test_on_is_not_trained_on(project: Path, demo: Any, tmp_path: Path, name: str) -> None:
    recipe = read_recipe(name)
    items, golds = demo[recipe.benchmark]
    examples, _, _ = examples_of(recipe, items, golds, tmp_path / "made")
    used = {example.request.item_id.partition("#")[0] for example in examples}
    if recipe.benchmark == "hummus":
        tested = [item.item_id for item in items if hummus_scope.held_out(item.cluster)]
    else:
        tested = [item.item_id for item in items if holdout.held_out(item.item_id)]
    assert used and used.isdisjoint(tested)
    assert {e.request.task for e in examples} <= set(recipe.tasks)
    assert {e.request.condition for e in examples} == set(recipe.conditions)
    bare = [replace(item, images=(), missing="x") for item in items]
    examples, _, left_out = examples_of(recipe, bare, golds, tmp_path / "bare")
    assert examples == [] and left_out["image missing"] > 0


def check_hummus(items: list[Item], golds: list[Gold]) -> dict[str, int]:
    """Every target parses back to gold; how many there are, by task. Those that are scored all have one."""
    gold_of = {gold.item_id: gold for gold in golds}
    count: Counter[str] = Counter()
    for item in items:
        gold = gold_of[item.item_id]
        for request in hummus.requests(item):
            task = request.task
            target = hummus_training.target(request, item, gold)
            if task == hummus.JOINT or not hummus_scope.in_scope(task, gold, "paper"):
                assert target is None
                continue
            assert target is not None, (item.item_id, task)
            result = hummus_answers.readings(task, target, gold, item)[task]
            assert result is not None, (item.item_id, task, target)
            if task == "image_bbox":
                shared = boxes.overlap(result, [(b[0], b[1], b[2], b[3]) for b in gold.values["boxes"]])
                assert shared["iou"] > 0.95
            elif task == "image_label":
                assert target in gold.values["objects"]
            else:
                expected = {
                    "naming": [one.upper() for one in gold.values.get("metaphors", ())],
                    "caption_hl": gold.values.get("highlight"),
                    "explanation": [str(gold.values.get("explanation")).strip()],
                }
                yes = "Yes" if gold.values["labels"]["paper"] in hummus.POSITIVE else "No"
                assert list(result) == expected.get(task, [yes]), (item.item_id, task)
            count[f"{request.condition} {task}"] += 1
    return count


def test_hummus_targets_parse_back_to_gold(demo: Any) -> None:
    count = check_hummus(*demo["hummus"])
    assert all(count[f"default {task}"] > 2 for task in ("classification", *hummus.METAPHOR_TASKS))


@pytest.mark.real
def test_hummus_targets_of_the_released_pairs(mirror: Path) -> None:
    if not (mirror / "hummus").is_dir():
        pytest.skip(f"REAL DATA ABSENT: no hummus/ in {mirror}")
    files = {name: (mirror / "hummus" / name).read_bytes() for name in hummus.ITEM_FILES}
    golds = list(hummus.golds(files))
    count = check_hummus(hummus.items(files, {gold.item_id: "not fetched" for gold in golds}), golds)
    assert count["default classification"] == 940
    assert {count[f"default {task}"] for task in hummus.METAPHOR_TASKS} == {568, 567}


@pytest.mark.parametrize(("caption", "words", "expected"), cases(__file__, "captions"))
def test_marked_captions(caption: str, words: list[str], expected: str | None) -> None:
    assert hummus_training.marked(caption, words) == expected
    if expected is not None:
        assert highlight.highlighted(expected) == tuple(words)


def test_stripcipher_targets_parse_back_to_gold(demo: Any) -> None:
    items, golds = demo["stripcipher"]
    correct = []
    for item, gold in zip(items, golds, strict=True):
        for condition in stripcipher.CONDITIONS:
            asked = asked_in(condition, stripcipher.requests(item))
            targets = {task: stripcipher_training.target(request, item, gold) for task, request in asked.items()}
            assert None not in targets.values()
            responses = {task: response(request, targets[task]) for task, request in asked.items()}
            scores = stripcipher.score_item(responses, item, gold, "m", "paper", condition=condition)
            correct += [score.metrics["correct"] for score in scores]
    assert len(correct) > 20 and set(correct) == {1.0}


@pytest.mark.parametrize("name", ["qwen2-vl-7b-reordering", "llava-1.6-7b-reordering"])
def test_shuffles_show_other_pictures(project: Path, demo: Any, tmp_path: Path, name: str) -> None:
    recipe = read_recipe(name)
    items, golds = demo["stripcipher"]
    examples, page, left_out = examples_of(recipe, items, golds, tmp_path / "made")
    train = [item for item in items if not holdout.held_out(item.item_id)]
    assert not left_out and len(examples) == 4 * len(train)
    files = image_files(page)
    in_order = {item.item_id: [ref.sha256 for ref in item.images if ref.name[:5] == "frame"] for item in train}
    shown: dict[str, set[tuple[str | None, ...]]] = defaultdict(set)
    targets: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        seen = tuple(images_of(example.request))
        assert files.keys() >= {*seen}
        item_id = example.request.item_id.partition("#")[0]
        shown[item_id].add(seen)
        targets[item_id].add(example.target)
        if name == "qwen2-vl-7b-reordering":  # frames as shown, put in the answer's order, are in reading order
            places = [int(place) - 1 for place in example.target.split(", ")]
            assert [seen[place] for place in places] == in_order[item_id]
    for item in train:
        assert len(shown[item.item_id]) == len(targets[item.item_id]) == 4


def test_choices_are_shuffled_with_their_letters(project: Path, demo: Any, tmp_path: Path) -> None:
    change("qwen2-vl-7b-reordering", tasks=["reordering_choice", "comprehension"])
    items, golds = demo["stripcipher"]
    examples, _, _ = examples_of(read_recipe("qwen2-vl-7b-reordering"), items, golds, tmp_path / "made")
    count = Counter(example.request.task for example in examples)
    train = [item for item in items if not holdout.held_out(item.item_id)]
    assert count["reordering_choice"] == 4 * len(train)
    assert count["comprehension"] == sum("comprehension_A" in item.fields for item in train)  # once: nothing shuffled
    assert {example.target for example in examples} <= set("ABCD")


def test_rate_rises_and_falls() -> None:
    rates = [rate(step, 100, "cosine", 0.05) for step in range(100)]
    assert rates[0] == 0.0 and rates[5] == 1.0
    assert all(a < b for a, b in pairwise(rates[:6])) and all(a > b for a, b in pairwise(rates[5:]))
    assert rates[52] == pytest.approx(0.5 * (1 + math.cos(math.pi * 47 / 95)))
    assert {rate(step, 100, "constant", 0.0) for step in range(100)} == {1.0}
    assert rate(0, 1, "cosine", 0.0) == 1.0


def write_manifest(**fields: Any) -> None:
    part = Part(examples={"naming": 2}, steps=1, parameters=8, modules=1, losses=[0.5])
    result: dict[str, Any] = {"name": "an-adapter", "files": {adapters.WEIGHTS: "0" * 64}, "parts": {WHOLE: part}}
    result |= {"base": Base(card="c", id="some/model", revision="r"), "recipe": {}, "corpus": "demo", "versions": {}}
    result |= {"trained": ["1"], "held_out": ["2"], "left_out": {}, "dtype": "float32", "device": "cpu"}
    made = Trained(**result | fields)
    write_bytes(adapters.manifest_of(made.name), msgspec.json.encode(made))


def test_identity_follows_the_weights_and_the_engine_says_what_trains(project: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    options = {"id": "data/models/tiny-qwen2-vl", "adapter": "an-adapter"}
    engine = engines.load(ModelCard(name="m", engine="transformers", options=options), 0)
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
