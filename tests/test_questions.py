"""Questions of a CSV, their answers as they are compared, and prompts whose lines end otherwise."""

import unicodedata
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from tests.ran import ran

from punchline.benchmarks.pixelhumor.scoring import text_scores
from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.questions import plain, read_questions, unused_columns, warnings
from punchline.errors import PunchlineError
from punchline.read.choice import choice
from punchline.read.normalize import plain as as_read

TABLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("case", TABLES["faults"], ids=lambda case: case["says"][0])
def test_all_faults_are_named(case: dict[str, str]) -> None:
    with pytest.raises(PunchlineError) as error:
        read_questions(case["csv"].encode(), "f.csv")
    assert [text for text in case["says"] if text not in str(error.value)] == []


def test_a_number_of_options_that_letters_cannot_name() -> None:
    options = " | ".join(map(str, range(27)))
    with pytest.raises(PunchlineError, match="record 1, field options: 27 options, and there are 26 letters"):
        read_questions(f"id,question,answer,options\n1,q,A,{options}\n".encode(), "f.csv")


@pytest.mark.parametrize("case", TABLES["read"], ids=lambda case: case["csv"])
def test_questions_are_read(case: dict[str, str]) -> None:
    content = case["csv"].encode()
    rows = read_questions(content, "f.csv")
    assert [row.answer for row in rows] == case["answers"]
    assert [*warnings(rows), *unused_columns(content, "f.csv")] == case.get("warns", [])


@pytest.mark.parametrize(("answer", "letter"), TABLES["letters"].items())
def test_options_that_are_letters(answer: str, letter: str | None) -> None:
    assert choice(answer, "ABCD", dict(zip("ABCD", "BADC", strict=True))).value == letter


@pytest.mark.parametrize("text", ["café olé", "Señor Müller", "한국어", "ガギグ", "Ång\u200bström"])
@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f", "\u2007"])
def test_texts_in_two_forms_are_equal(text: str, blank: str) -> None:
    one, other = f"{text} {text}", unicodedata.normalize("NFD", f"{text}{blank}{text}").replace("\u200b", "")
    assert plain(one) == plain(other)
    options = {"A": "something else", "B": one}
    assert choice(f"I choose {other}.", "AB", options).value == choice(f"I choose {one}.", "AB", options).value == "B"
    assert text_scores([one], [other], "paper") == {"text_acc": 1, "wer": 0, "cer": 0}
    assert text_scores([one], [other], "released")["cer"] > 0 or one == other
    read = as_read(other)
    assert len(read.text) == len(read.at) and unicodedata.is_normalized("NFC", read.text)


def test_a_prompt_with_other_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("carriage")
    folder = tmp_path / "carriage/prompts"
    folder.mkdir(parents=True)
    (tmp_path / "carriage/__init__.py").write_text("")
    (folder / "q.txt").write_bytes(b"One\nTwo\r\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PunchlineError, match=r"q\.txt, line 2: the prompt has \\r .*core\.autocrlf"):
        prompts(package.__name__)


@pytest.mark.parametrize("attributes", [[ROOT / ".gitattributes"], []])
def test_a_clone_with_autocrlf(tmp_path: Path, attributes: list[Path]) -> None:
    """The project's git attributes keep prompts and data as they are; without them, git writes \\r."""
    files = [*(ROOT / "src/punchline/benchmarks").glob("*/prompts/**/*.txt"), *attributes]
    copies = {tmp_path / "source" / file.relative_to(ROOT): file.read_bytes() for file in files}
    for copy, content in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", tmp_path / "source")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "all")):
        ran(*git, *command, check=True)
    ran("git", "clone", "-q", "-c", "core.autocrlf=true", tmp_path / "source", tmp_path / "clone", check=True)
    clones = {tmp_path / "clone" / copy.relative_to(tmp_path / "source"): content for copy, content in copies.items()}
    assert all(file.read_bytes() == content for file, content in clones.items()) == bool(attributes)
    assert len(files) > 40
