"""The selection: what is mistyped is named, with the way out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from punchline.core.errors import PunchlineError
from punchline.core.records import ModelCard, canonical
from punchline.project.needs import Project
from punchline.project.resources import minutes
from punchline.project.selection import read_card, read_selection
from punchline.project.yaml_files import read_yaml


@pytest.fixture(autouse=True)
def in_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)


def test_the_default_is_the_demo_with_all_baselines() -> None:
    selection, mirror, shards = read_selection({})
    assert selection.corpus.name == "demo"
    assert selection.models == ["random", "prior", "label-order", "reading-order", "ocr"]
    assert mirror is None and shards is None


def test_overrides_take_the_place_of_lines() -> None:
    selection, mirror, _ = read_selection({"corpus": "open", "mirror": "a/b", "models": ["ocr"], "limit": 3})
    assert selection.corpus.sources == {"pixelhumor": ["xkcd"]}
    assert (mirror, selection.models, selection.limit) == ("a/b", ["ocr"], 3)


def test_a_run_says_how_many_ask_of_models_that_are_asked() -> None:
    making = read_selection({"models": ["random", "gpt-4o"], "shards": 4})
    assert making.shards == 4 and making.selection == read_selection({"models": ["random", "gpt-4o"]}).selection
    project = Project(making.selection, making.shards)
    assert [project.jobs(card) for card in project.cards.values()] == [1, 4]
    assert [Project(making.selection).jobs(card) for card in project.cards.values()] == [1, 1]


def test_conditions_and_scorers() -> None:
    chosen = read_selection({"benchmarks": ["pixelhumor", "yesbut"], "conditions": "all", "scorers": "null"})[0]
    assert chosen.conditions[0] == "default" and {"oracle", "chained"} <= set(chosen.conditions)
    assert chosen.scorers == []
    some = read_selection({"benchmarks": ["yesbut"], "conditions": "oracle", "scorers": "minilm"})[0]
    assert (some.conditions, some.scorers) == (["default", "oracle"], ["minilm"])
    assert read_selection({})[0].conditions == ["default"]


@pytest.mark.parametrize("value", ["[random,ocr]", "random,ocr", ["random", "ocr"]])
def test_lists_as_people_write_them(value: Any) -> None:
    assert read_selection({"models": value})[0].models == ["random", "ocr"]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"modles": ["ocr"]}, r"unknown key 'modles'. Did you mean 'models'"),
        ({"models": ["ocrr"]}, r"unknown models 'ocrr' .*Did you mean 'ocr'"),
        ({"models": []}, "expected a list of names"),
        ({"models": ["ocr", "ocr"]}, "named twice: ocr"),
        ({"corpus": "opne"}, r"unknown corpus 'opne'. Did you mean 'open'"),
        ({"benchmarks": ["pixelhumour"]}, r"Did you mean 'pixelhumor'"),
        ({"scoring": "relased"}, r"unknown scoring 'relased'. Did you mean 'released'"),
        ({"limit": 0}, "expected at least 1, got 0"),
        ({"limit": "ten"}, r"Expected `int \| null`, got `str`"),
        ({"seed": 1.5}, "seed"),
        ({"samples": 10**12}, "expected less than 10,001, got 1000000000000"),
        ({"shards": 0}, "expected a number of jobs, got 0"),
        ({"shards": "many"}, "expected a number of jobs, got 'many'"),
        ({"subset": "nowhere.csv"}, r"no such file: nowhere.csv. Name a CSV"),
        ({"conditions": ["oracel"], "benchmarks": ["yesbut"]}, r"unknown conditions 'oracel'. Did you mean 'oracle'"),
        ({"conditions": ["oracle"]}, r"unknown conditions 'oracle'. Valid: default"),  # PixelHumor has no other
        ({"scorers": ["labs"]}, r"unknown scorers 'labs' .*Did you mean 'labse'"),
    ],
)
def test_a_mistake_is_named(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(PunchlineError, match=message):
        read_selection(overrides)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("engine: [", r"broken\.yaml, line 1: malformed YAML"),
        ("- a", "expected a mapping"),
        ("path: x", "expected a mapping with at least `engine`"),
        ("engine: replay\npublished_as: 3", "field published_as: expected the paper's row name"),
    ],
)
def test_a_broken_card_is_named(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config" / "model").mkdir(parents=True)
    (tmp_path / "config" / "model" / "broken.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PunchlineError, match=message):
        read_card("broken")


def test_environment_yml_and_pyproject_agree(root: Path) -> None:
    import tomllib

    import yaml

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    text = (root / "environment.yml").read_text()
    environment = yaml.safe_load(text)
    python = next(d for d in environment["dependencies"] if isinstance(d, str) and d.startswith("python"))
    assert python.startswith("python" + project["requires-python"])
    (pip,) = (d["pip"] for d in environment["dependencies"] if isinstance(d, dict))
    assert pip == ["./packaging/opencv-python", *project["dependencies"], "--editable ."]
    locked = (root / "requirements.lock").read_text()

    def name(requirement: str) -> str:
        return re.split(r"[<>=;\[ ]", requirement)[0].lower()

    for requirement in project["dependencies"]:
        assert f"\n{name(requirement)}==" in "\n" + locked, f"{requirement} is not in requirements.lock: run make lock"
    for extra, requirements in project["optional-dependencies"].items():
        if extra != "dev":
            line = next(line for line in text.splitlines() if f"[{extra}]" in line)
            missing = [name(r) for r in requirements if name(r) not in line]
            assert not missing, f"environment.yml does not name {missing} of the extra {extra}"


def test_locks_hold_hashes_no_addresses_and_nothing_twice(root: Path) -> None:
    base = set()
    for lock in (root / "requirements.lock", *sorted(root.glob("requirements-*.lock"))):
        text = lock.read_text()
        assert "://" not in text
        assert "opencv-python==" not in text
        pinned = [line for line in text.splitlines() if "==" in line and not line.startswith(" ")]
        assert all(line.endswith("\\") for line in pinned), "a pin without a hash"
        names = {line.split("==")[0] for line in pinned}
        assert names, lock.name
        if lock.name == "requirements-peers.lock":  # other tools, in an environment of their own
            continue
        assert not names & base, f"{lock.name} repeats what requirements.lock has: run make lock"
        base = base or names


def test_what_a_card_does_not_say_leaves_records_of_earlier_versions_as_they_are() -> None:
    assert b"runtime" not in canonical(ModelCard(name="a", engine="openai"))
    assert [minutes(ModelCard(name="a", engine="openai", runtime=30), attempt) for attempt in (1, 2)] == [30, 60]
    assert minutes(ModelCard(name="a", engine="openai"), 1) == minutes(None, 1) is None


@pytest.mark.parametrize(
    "defaults",
    [
        "demo",
        "null",
        "{corpus: demo}",
        "[corpus: demo]",
        "[_self_]",
        "[corpus: null, _self_]",
        "[corpus: a, b: c, _self_]",
    ],
)
@pytest.mark.parametrize("overrides", [{}, {"corpus": "open"}])
def test_a_list_of_defaults_names_one_corpus(
    defaults: str, overrides: dict[str, Any], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "config", tmp_path / "config")
    file = tmp_path / "config" / "run.yaml"
    lines = re.sub(r"(?m)^defaults:\n(  .*\n)+", f"defaults: {defaults}\n", file.read_text())
    file.write_text(lines)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PunchlineError, match=r"config/run\.yaml, field defaults: expected the name of a corpus"):
        read_selection(overrides)


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan"])
def test_a_card_holds_no_number_that_json_has_not(number: str, tmp_path: Path) -> None:
    card = tmp_path / "card.yaml"
    card.write_text(f"engine: openai\nid: m\nsampling: {{temperature: {number}}}\n")
    with pytest.raises(PunchlineError, match=rf"card\.yaml, line 3: .*{re.escape(number)} is no number"):
        read_yaml(card)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sampling: {temperature: hot}", "sampling.temperature: expected a number, got 'hot'"),
        ("sampling: {max_tokens: true}", "sampling.max_tokens: expected a number, got True"),
        ("papers: {yesbut: {sampling: {top_p: '1'}}}", "papers.yesbut.sampling.top_p: expected a number, got '1'"),
        ("modality: []", "field modality: Expected `array` of length >= 1"),
        ("price: {input: -1, output: 1, date: 2026-01-01, source: x}", "field price.input: Expected `float` >= 0"),
        ("price: {input: 1, output: 1, date: 2026-13-45, source: x}", "line 3: malformed YAML: 2026-13-45 is no date"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused(tmp_path: Path, line: str, message: str) -> None:
    card = tmp_path / "odd.yaml"
    card.write_text(f"engine: baseline\nbaseline: random\n{line}\n")
    with pytest.raises(PunchlineError) as error:
        read_card("odd", tmp_path)
    assert message in str(error.value)


def test_a_number_with_an_exponent_is_one(tmp_path: Path) -> None:
    (tmp_path / "fine.yaml").write_text("engine: baseline\nsampling: {temperature: 1e-2, top_p: 1.e0, stop: 1e-2x}\n")
    assert read_card("fine", tmp_path).sampling == {"temperature": 0.01, "top_p": 1.0, "stop": "1e-2x"}
