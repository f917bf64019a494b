"""The rules of the readers stand in one ordered list, each with an example that is read otherwise without it."""

import doctest
import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.read_fuzz import READERS

import punchline.read
from punchline.read import result

FOLDER = Path(punchline.read.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
RULES: dict[str, tuple[str, str, Any]] = yaml.safe_load((FOLDER / "rules.yaml").read_text(encoding="utf-8"))
MODULES = {path.stem: importlib.import_module(f"punchline.read.{path.stem}") for path in FOLDER.glob("*.py")}
LISTS = ("KINDS", "CONTRASTS", "WEIGHTS", "JOINS", "LISTS", "RUNS")  # of functions, in the order in which they apply


def read(reader: str, answer: str) -> Any:
    value = READERS[reader][0](answer).value
    return list(value) if isinstance(value, tuple) else value


def first_line(rule: str) -> str:
    """Statement of a rule: the first line of its function's docstring."""
    module, *_, function = rule.split(".")
    return str(getattr(MODULES[module], function).__doc__).split("\n")[0].strip()


def test_readme_lists_the_rules() -> None:
    rows = []
    for rule, (reader, answer, value) in RULES.items():
        name = rule.split(".")[-1]
        rows.append(
            f"| {name} | {first_line(rule)} | {reader} | `{answer!r}` | {value or 'nothing'} |".replace("\\|", "|")
        )
    print(*rows, sep="\n")
    assert [line for line in README.split("\n") if line.startswith("| ")][2:] == rows


@pytest.mark.parametrize("key", LISTS)
def test_every_rule_of_a_list_has_an_example_in_its_order(key: str) -> None:
    [rules] = {tuple(vars(module)[key]) for module in MODULES.values() if key in vars(module)}
    listed = [rule.split(".")[-1] for rule in RULES if rule.split(".")[1] == key]
    assert listed == [rule.__name__ for rule in rules]


@pytest.mark.parametrize("rule", RULES)
def test_an_answer_is_read_otherwise_without_the_rule(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, answer, value = RULES[rule]
    monkeypatch.setattr(result, "SHORT", -1)  # nothing is remembered
    assert read(reader, answer) == value
    _, key, *function = rule.split(".")
    if function:
        for module in MODULES.values():
            others = [one for one in vars(module).get(key, ()) if one.__name__ != function[0]]
            monkeypatch.setattr(module, key, others, raising=False)
        assert read(reader, answer) != value


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    assert not doctest.testmod(MODULES[name]).failed
    if any(name == reader for reader in READERS):
        text = str(getattr(MODULES[name], name).__doc__)
        assert all(part in text for part in ("Args:\n", "Returns:\n", ">>> "))


def test_examples_of_the_readme() -> None:
    found = doctest.DocTestParser().get_doctest(README, {}, "README", None, None)
    assert len(found.examples) >= 6 and not doctest.DocTestRunner().run(found).failed
