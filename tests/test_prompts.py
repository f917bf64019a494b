"""Prompts are files, and who reads which file is known."""

import pytest

from punchline.benchmarks.prompts import prompts
from punchline.core.benchmark import is_one_file, module_of, names
from punchline.workflow import code


@pytest.mark.parametrize("name", [name for name in names() if not is_one_file(name)])
def test_every_prompt_is_read_by_who_asks_and_by_no_other(name: str) -> None:
    """Baselines and data read none: an engine's key and items hang on no prompt."""
    folder = code.PACKAGE / "benchmarks" / name / "prompts"
    asks = set(code.prompts(module_of(name, "ask")))
    others = {*code.prompts(module_of(name, "judge"), module_of(name, "studies"))}
    assert asks == set(folder.glob("*.txt")) and asks | others == set(folder.rglob("*.txt"))
    assert not any(code.prompts(module_of(name, module)) for module in ("data", "baselines", "wording", "tables"))


def test_the_last_line_break_is_the_files() -> None:
    package = "punchline.benchmarks.humorbench"
    assert list(prompts(package)) == ["explain"]
    assert prompts(package)["explain"].endswith("Caption: {caption}\n")
    assert list(prompts(package, "judge")) == ["element"]
