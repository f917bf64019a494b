"""The selection and its cards: what is mistyped, means harm or holds a secret is named, with file, line or field."""

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import yaml
from tests.cases import cases
from tests.records import refused

from punchline.artifacts.project import Project
from punchline.cli import listing
from punchline.cli.run import run_command
from punchline.config.cards import read_card
from punchline.config.resources import minutes
from punchline.config.selection import read_selection
from punchline.config.yaml_files import parse_yaml
from punchline.errors import PunchlineError, one_line
from punchline.schema import ModelCard, canonical
from punchline.text import escape_controls, secret_field, without_secret

pytestmark = pytest.mark.usefixtures("in_root")


@pytest.mark.parametrize(("overrides", "expected"), cases(__file__, "overrides"))
def test_overrides_take_the_place_of_lines(overrides: dict[str, Any], expected: dict[str, Any]) -> None:
    selection, execution = read_selection(overrides)
    chosen = SimpleNamespace(**msgspec.structs.asdict(selection), **msgspec.structs.asdict(execution))
    assert {name: attrgetter(name)(chosen) for name in expected} == expected


def test_a_run_says_how_many_ask_of_models_that_are_asked() -> None:
    selection, execution = read_selection({"models": ["random", "gpt-4o"], "shards": 4})
    assert execution.shards == 4 and selection == read_selection({"models": ["random", "gpt-4o"]})[0]
    project = Project(selection, execution.shards)
    assert [project.shard_count(card) for card in project.cards.values()] == [1, 4]
    assert [Project(selection).shard_count(card) for card in project.cards.values()] == [1, 1]


@pytest.mark.parametrize(("overrides", "message"), refused("overrides"))
def test_a_mistake_in_an_override_is_named(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(PunchlineError, match=message):
        read_selection(overrides)


@pytest.mark.parametrize(("old", "new", "message"), refused("run"))
def test_a_mistake_in_run_yaml_is_named(project: Path, old: str | None, new: str, message: str) -> None:
    file = project / "config/run.yaml"
    text = file.read_text()
    file.write_text(new if old is None else text.replace(old, new) if old else text + new)
    with pytest.raises(PunchlineError, match=message):
        read_selection({})


@pytest.mark.parametrize(("text", "message"), refused("corpora"))
def test_a_mistake_in_a_corpus_is_named(project: Path, text: str, message: str) -> None:
    (project / "config/corpus/open.yaml").write_text(text)
    with pytest.raises(PunchlineError, match=message):
        read_selection({"corpus": "open"})


def card_of(folder: Path, text: str | bytes) -> ModelCard:
    """The card of a file with this content."""
    (folder / "bad.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_card("bad", folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [*refused("cards"), (b"engine: repl\xe9y", "line 1: byte 12 is not UTF-8")],
)
def test_a_mistake_in_a_card_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(PunchlineError, match=message) as raised:
        card_of(tmp_path, text)
    assert str(raised.value).startswith(str(tmp_path / "bad.yaml"))


# Cards that no reader may spend time or memory on, and what is said of them.
NESTED = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))])
MERGED = "\n".join(["a0: &a0 {x: 1}", *(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))])
HOSTILE = {
    "nested aliases": (NESTED, r"line \d+: malformed YAML: more than 10,000 values"),
    "merged aliases": (MERGED, r"line \d+: malformed YAML: more than 10,000 values"),
    "an alias of itself": ("engine: &a [*a]", "line 1: malformed YAML: the alias 'a' stands within what it names"),
    "a mapping of itself": ("engine: &a\n  b: *a", "line 2: malformed YAML: the alias 'a'"),
    "brackets": ("engine: " + "[" * 3000, "malformed YAML: more than 40 values in one another"),
    "closed brackets": ("engine: " + "[" * 3000 + "]" * 3000, "malformed YAML: more than 40 values in one another"),
    "braces": ("engine: " + "{a: " * 3000, "malformed YAML: more than 40 values in one another"),
    "dashes": ("engine:\n  " + "- " * 3000 + "x", "malformed YAML: more than 40 values in one another"),
    "a large file": ("# " + "x" * 2**17, "larger than 128 KiB: not read"),
    "texts behind aliases": (f"a: &a {'x' * 60_000}\nb: [{'*a, ' * 20}]", "line 2: malformed YAML: more than 10,000"),
    "5,000 digits": ("seed: " + "1" * 5000, "line 1: malformed YAML: a whole number of more than 64 bits"),
    "5,000 letters": ("seed: 0x" + "f" * 5000, "line 1: malformed YAML: a whole number of more than 64 bits"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_card_is_one_message(kind: str, tmp_path: Path) -> None:
    text, message = HOSTILE[kind]
    with pytest.raises(PunchlineError, match=message):
        card_of(tmp_path, text)


@pytest.mark.parametrize(("text", "value"), cases(__file__, "texts"))
def test_texts_stay_texts_and_merges_merge(text: str, value: dict[str, Any]) -> None:
    assert parse_yaml(text, "x.yaml") == value


@pytest.mark.parametrize("entry", ["model: boom", "/model/boom", "corpus@x: boom", "corpus: ../model/boom", "run", "5"])
def test_hydra_reads_what_was_read_within_bounds(project: Path, entry: str) -> None:
    (project / "config/model/boom.yaml").write_text(NESTED)
    run = project / "config/run.yaml"
    run.write_text(run.read_text().replace("corpus: demo", entry))
    with pytest.raises(PunchlineError, match=r"config/run.yaml, field (defaults|corpus): "):
        read_selection({})


def test_a_broken_card_is_listed_with_the_others(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "config/model/boom.yaml").write_text(NESTED)
    with pytest.raises(PunchlineError, match="config/model: cards that cannot be read: boom"):
        listing.models(as_json=True)
    (project / "mine").mkdir()
    shutil.move(project / "config/model/boom.yaml", project / "mine/boom.yaml")
    with pytest.raises(PunchlineError, match=r"mine/boom\.yaml, line 5: malformed YAML"):
        run_command([str(project / "mine/boom.yaml")])
    assert not (project / "config/model/boom.yaml").exists()  # not copied there, either
    rows = {row["model"]: row["can run here"] for row in json.loads(capsys.readouterr().out)}
    assert "boom.yaml, line 5: malformed YAML: more than 10,000" in rows["boom"] and rows["random"].startswith("yes")


def test_a_run_yaml_that_is_not_text_or_not_there(project: Path) -> None:
    (project / "config/run.yaml").write_bytes(b"seed: 0\nx: \xff\n")
    with pytest.raises(PunchlineError, match=r"config/run.yaml, line 2: byte 11 is not UTF-8"):
        read_selection({})
    shutil.rmtree(project / "config")
    with pytest.raises(PunchlineError, match=r"config/run.yaml: cannot be read.*project's root"):
        read_selection({})


@pytest.mark.parametrize("stem", ["a b", "it's", "$(id)", "-x", ".x", "..", "a{b}", "x" * 101])
def test_a_model_is_never_named_as_a_command(project: Path, stem: str) -> None:
    (project / "config/model" / f"{stem}.yaml").write_text("engine: baselines\nbaseline: random\n")
    for read in (lambda: read_selection({"models": [stem]}), lambda: read_card(stem)):
        with pytest.raises(PunchlineError, match=r"is not a valid model name. Rename it"):
            read()


def test_environment_yml_and_pyproject_agree(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    text, locked = ((root / name).read_text() for name in ("environment.yml", "requirements.lock"))
    python, *_ = (d for d in yaml.safe_load(text)["dependencies"] if isinstance(d, str) and d.startswith("python"))
    assert python.startswith("python" + project["requires-python"])
    (pip,) = (d["pip"] for d in yaml.safe_load(text)["dependencies"] if isinstance(d, dict))
    assert pip == ["./packaging/opencv-python", *project["dependencies"], "--editable ."]

    def names(requirements: list[str]) -> list[str]:
        return [re.split(r"[<>=;\[ ]", requirement)[0].lower() for requirement in requirements]

    missing = [name for name in names(project["dependencies"]) if f"\n{name}==" not in "\n" + locked]
    assert not missing, "not in requirements.lock: run make lock"
    for extra, requirements in project["optional-dependencies"].items():
        line = next((line for line in text.splitlines() if f"[{extra}]" in line), "")
        assert extra == "dev" or all(name in line for name in names(requirements)), f"environment.yml: extra {extra}"


def test_locks_hold_hashes_and_no_addresses(root: Path) -> None:
    for lock in root.glob("requirements*.lock"):
        text = lock.read_text()
        assert "://" not in text and "opencv-python==" not in text
        pinned = [line for line in text.splitlines() if "==" in line and not line.startswith(" ")]
        assert pinned and all(line.endswith("\\") for line in pinned), f"{lock.name}: a pin without a hash"


def test_what_a_card_does_not_say_leaves_records_of_earlier_versions_as_they_are() -> None:
    assert b"runtime" not in canonical(ModelCard(name="a", engine="openai"))
    assert [minutes(ModelCard(name="a", engine="openai", runtime=30), attempt) for attempt in (1, 2)] == [30, 60]
    assert minutes(ModelCard(name="a", engine="openai"), 1) == minutes(None, 1) is None


def test_a_number_with_an_exponent_is_one(tmp_path: Path) -> None:
    card = card_of(tmp_path, "engine: baseline\nsampling: {temperature: 1e-2, top_p: 1.e0, stop: 1e-2x}\n")
    assert card.sampling == {"temperature": 0.01, "top_p": 1.0, "stop": "1e-2x"}


SECRET = "pl4nted-p4ssw0rd"
ADDRESSES = f"""
http://user:{SECRET}@mirror.example/m https://{SECRET}@mirror.example http://mirror.example/m?token={SECRET}
http://user:a/{SECRET}@mirror.example http://user:a@{SECRET}@mirror.example ftp://user:{SECRET}@mirror.example
https://u:{SECRET}@[::1
""".split()
KEYS = ("mirror", "subset", "models", "benchmarks", "judge", "scorers", "corpus", "limit", "new")
CARDS = [
    *(f"engine: {engine}\nid: m\nbase_url: '{{}}'\n" for engine in ("openai", "vllm")),
    *(f"engine: vllm\nid: m\n{key}\n" for key in ("extra_args: ['{}']", "chat_template_kwargs: {callback: '{}'}")),
    *(f"engine: openai\nid: m\n{key}\n" for key in ("served_as: [m, '{}']", "extra_body: {a: [{b: 'see {}'}]}")),
    "engine: transformers\nid: '{}'\n",
    "engine: replay\npath: '{}'\n",
    "engine: openai\nid: m\nnote: 'see {}'\n",
    "engine: openai\nid: m\nprice: {input: 1, output: 1, date: 2026-01-01, source: '{}'}\n",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_with_a_secret_is_refused_and_not_repeated(address: str, project: Path) -> None:
    """On a command line, in a card, in run.yaml."""

    def refused_by(read: Callable[[], object], match: str) -> None:
        with pytest.raises(PunchlineError, match=match) as caught:
            read()
        assert SECRET not in str(caught.value)

    for key in KEYS:
        overrides = {key: [address] if key in ("models", "benchmarks") else address}
        refused_by(partial(read_selection, overrides), rf"--config, field {key}[.0]*: .*netrc.*PUNCHLINE_MIRROR_AUTH")
    for text in CARDS:
        refused_by(partial(card_of, project, text.replace("{}", address)), r"bad\.yaml, field \w+")
    file = project / "config" / "run.yaml"
    file.write_text(re.sub(r"(?m)^mirror:.*$", f"mirror: {address}", file.read_text()))
    refused_by(partial(read_selection, {}), r"config/run\.yaml, field mirror: .*netrc")
    assert SECRET not in str(PunchlineError(f"cannot reach {address}", file=address, hint=f"Try '{address}'"))
    assert SECRET not in one_line(ValueError(f"<{address}>"))


def test_what_is_taken_out_of_a_text() -> None:
    plain = "http://h/a a@b.example https://h:8080/@someone, https://h/x http://[::1]:80/@x max_tokens=5"
    plain += " https://social.example/@someone https://h/?author=me&keyword=a"
    assert [without_secret(text) for text in (*plain.split(), plain)] == [*plain.split(), plain]
    assert without_secret("from 'http://u:p@h/a' to \"https://v@w/b\"") == "from 'http://h/a' to \"https://w/b\""
    assert without_secret("https://h/?a=1&api_key=x&b=2#c") == "https://h/?a=1&api_key=[secret]&b=2#c"


def test_where_a_secret_stands() -> None:
    assert secret_field({"a": ["x", {"b": "http://u:p@h"}]}) == "a.1.b"
    assert secret_field({"a": {"http://u:p@h": 1}}) == "a"
    assert secret_field({"a": ["x", 1, None, True]}) is None


def test_what_steers_is_shown() -> None:
    page = "a\\x1b[31mb\\x9b1m\\u202ec\\u2066d\\x00e\\x7f\\u2028f"
    assert escape_controls("a\x1b[31mb\x9b1m\u202ec\u2066d\x00e\x7f\u2028f") == page
    plain = "naïve 日本語 🦤👩‍🚀 e\u0301 a\tb\nc — “d” \u00a0e\ufe0f שלום"
    assert escape_controls(plain) == plain
