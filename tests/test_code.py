"""The code behind a result: which files count, which of their changes, and which artifacts an edit makes stale."""

import ast
import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cases import cases
from tests.selected import selection_in

from punchline.artifacts.project import RULES, Project
from punchline.workflow import code, digests
from punchline.workflow.code import COMMON, GOLD, ITEMS, QUESTIONS, READING, REPORT, plain

# A module of what counts: every line of it is changed by one of the cases below.
MODULE = cases(__file__, "module")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package, to change by `edited`."""
    folder = tmp_path_factory.mktemp("code") / "punchline"
    shutil.copytree(code.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "stats/joke.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch, digests.afresh():
        patch.setattr(code, "PACKAGE", folder)
        forget()
        yield folder
    forget()


def forget() -> None:
    """Read the package as another process would."""
    code.parts.cache_clear()
    code._files.cache_clear()


@contextlib.contextmanager
def edited(file: Path, old: str, new: str) -> Iterator[None]:
    """Another text in the first place of `old` within the block."""
    content = file.read_bytes()
    assert old.encode() in content
    file.write_bytes(content.replace(old.encode(), new.encode(), -1 if old == "\n" else 1))
    forget()
    yield
    file.write_bytes(content)
    forget()


CHANGES = [(*change, counts) for counts in (False, True) for change in cases(__file__, "run" if counts else "silent")]


@pytest.mark.parametrize(("old", "new", "counts"), CHANGES)
def test_what_runs_counts_and_nothing_else(package: Path, old: str, new: str, counts: bool) -> None:
    before = code.parts(COMMON)
    with edited(package / "stats/joke.py", old, new):
        assert (code.parts(COMMON) != before) is counts


def test_a_plain_tree_has_no_docstring_and_nothing_empty() -> None:
    """Python's versions differ in what is empty."""
    assert plain(ast.parse('"""a"""\nx = 1')) == ["Module", {"body": plain(ast.parse("x = 1").body)}]


EVERY, SCORES = {COMMON, READING, QUESTIONS, GOLD, ITEMS, REPORT}, {COMMON, REPORT}
JUDGES = SCORES | {READING}


@pytest.mark.parametrize(
    ("file", "scopes"),
    [
        ("schema.py", EVERY),
        ("artifacts/lineage.py", EVERY),
        ("config/selection.py", EVERY),
        ("comics/split.py", EVERY),
        ("benchmarks/prompts.py", EVERY),
        ("fetch/log.py", EVERY),
        ("benchmarks/hummus/data.py", EVERY),
        ("benchmarks/hummus/prompts/classification.txt", JUDGES | {QUESTIONS}),
        ("benchmarks/satire/__init__.py", EVERY),
        ("read/words.yaml", JUDGES | {GOLD}),
        ("extraction.yaml", JUDGES | {GOLD}),
        ("benchmarks/humorbench/prompts/judge/element.txt", JUDGES),
        ("benchmarks/hummus/scoring.py", JUDGES),
        ("stats/intervals.py", SCORES),
        ("tables/latex.yaml", SCORES),
        ("benchmarks/hummus/tables.yaml", SCORES),
        ("benchmarks/hummus/baselines.py", SCORES),
        ("report/site/templates/base.html", {REPORT}),
        ("engines/openai/chat.py", set()),
        ("respond.py", set()),
        ("cli/run.py", set()),
        ("benchmarks/yesbut/ask.py", set()),
    ],
)
def test_a_folder_decides_where_a_file_counts(file: str, scopes: set[str]) -> None:
    assert (code.PACKAGE / file).is_file()
    assert {scope for scope in EVERY if file in code.parts(scope, "hummus", "humorbench", "satire")} == scopes
    assert code.parts() == {}


CHOSEN = ("pixelhumor", "hummus", "humorbench")
MODELS = ("random", "label-order", "gpt-4o")
JUDGED = {"respond judge/overlap all", "respond judge/overlap 1-of-2"}
OVERALL = {"overview", "report"}


def chosen(root: Path) -> Project:
    """Three benchmarks, two baselines, a paid model and a judge that counts words."""
    return Project(selection_in(root, benchmarks=[*CHOSEN], models=[*MODELS], judge="overlap", scorers=None))


def states(root: Path) -> dict[str, Any]:
    """{job: code, parameters and keys of what it builds}."""
    found = {}
    with contextlib.chdir(root):
        project = chosen(root)
        for rule in RULES[:-2]:  # neither figures, which are as pages are, nor adapters, which carry no code
            for names in project.jobs(rule):
                steps = project.built_by(rule, *names)
                found[" ".join([rule, *names])] = [(step.name, step.parts, step.parameters) for step in steps]
        for respondent in ("gpt-4o", "judge/overlap"):
            step = project.shard(respondent, "1-of-2")
            found[f"respond {respondent} 1-of-2"] = [(step.name, step.parts, step.parameters)]
    return found


@pytest.fixture(scope="module")
def before(root: Path, package: Path) -> dict[str, Any]:
    return states(root)


def of(rule: str, *benchmarks: str) -> set[str]:
    return {f"{rule} {benchmark}" for benchmark in benchmarks}


def scored(*benchmarks: str) -> set[str]:
    """Scores and tables of benchmarks, and what shows them."""
    scores = {f"score {benchmark} {model}" for benchmark in benchmarks for model in MODELS}
    return scores | of("tables", *benchmarks) | OVERALL


PREPARED = of("fetch", *CHOSEN) | of("prepare", *CHOSEN)
READ = of("prepare", *CHOSEN) | JUDGED | scored(*CHOSEN)  # gold, and what judges are asked, are read
HUMMUS = of("prepare", "hummus") | scored("hummus")
HUMORBENCH_JUDGED = JUDGED | scored("humorbench")
DRAWN = {"respond random all", "respond label-order all"}


@pytest.mark.parametrize(
    ("file", "old", "new", "stale"),
    [
        ("text.py", "a second, about", "per second, about", PREPARED | READ),
        ("artifacts/lineage.py", '"baseline"', '"base"', PREPARED | READ),
        ("artifacts/passes.py", "import", "import os\nimport", PREPARED | READ),
        ("paths.py", "import", "import os\nimport", PREPARED | READ),
        ("config/selection.py", "import", "import os\nimport", PREPARED | READ),
        ("workflow/digests.py", "2_000", "3_000", PREPARED | READ),
        ("schema.py", "frozen=True", "frozen=False", PREPARED | READ),
        ("requests.py", "import", "import os\nimport", PREPARED | READ),
        ("fetch/resolvers.py", "import", "import os\nimport", PREPARED | READ),
        ("comics/split.py", "import", "import os\nimport", PREPARED | READ | DRAWN),
        ("read/sequence.py", "import", "import os\nimport", READ),
        ("read/words.yaml", "yes", "yess", READ),
        ("metrics/ngrams.py", "import", "import os\nimport", scored(*CHOSEN)),
        ("stats/intervals.py", "import", "import os\nimport", scored(*CHOSEN)),
        ("tables/latex.yaml", ":", ": ", scored(*CHOSEN)),
        ("score.py", "import", "import os\nimport", scored(*CHOSEN)),
        ("benchmarks/hummus/tables.yaml", "Hummus", "HUMMUS", scored("hummus")),
        ("benchmarks/hummus/tables.py", "import", "import os\nimport", scored("hummus")),
        ("benchmarks/hummus/scoring.py", "import", "import os\nimport", scored("hummus")),
        ("benchmarks/hummus/prompts/naming.txt", "e", "ee", HUMMUS),
        ("benchmarks/hummus/ask.py", "import", "import os\nimport", HUMMUS),
        ("benchmarks/hummus/data.py", "import", "import os\nimport", HUMMUS | of("fetch", "hummus")),
        ("benchmarks/hummus/baselines.py", "import", "import os\nimport", scored("hummus") | DRAWN),
        ("benchmarks/humorbench/prompts/judge/element.txt", "e", "ee", HUMORBENCH_JUDGED),
        ("engines/baselines.py", "import", "import os\nimport", DRAWN | JUDGED),
        ("engines/openai/chat.py", "import", "import os\nimport", set()),
        ("respond.py", "import", "import os\nimport", set()),
        ("journal.py", "import", "import os\nimport", set()),
        ("cli/run.py", "import", "import os\nimport", set()),
        ("report/site.py", "import", "import os\nimport", {"report"}),
    ],
)
def test_what_an_edit_makes_stale(
    file: str, old: str, new: str, stale: set[str], root: Path, package: Path, before: dict[str, Any]
) -> None:
    """The table of edits: an answer of a paid model is in no row."""
    with edited(package / file, old, new):
        after = states(root)
    assert {job for job, state in after.items() if state != before[job]} == stale
