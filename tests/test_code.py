"""The code that a result rests on: which modules, and what of them counts."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from punchline.core import benchmark as benchmarks
from punchline.workflow import code
from punchline.workflow.code import closure, plain

# A module of what counts: every line of it is changed by one of the cases below.
MODULE = '''\
"""What it does."""

from __future__ import annotations

import functools
from punchline.core import words  # of a joke

LIMIT = 3


class Joke:
    """A joke."""

    teller: str = "nobody"

    def funny(self, times: int = 1) -> bool:
        """Whether it is."""
        return words.count(self.teller) * times > LIMIT


async def tell(joke: Joke) -> str:
    """Tell it."""
    return f"{joke.teller}: {LIMIT!r}"
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `punchline` of its own, to change."""
    folder = tmp_path / "src" / "punchline"
    empty = "__init__ core/__init__ core/unseen project/__init__ artifacts/graph stages/__init__"
    files = dict.fromkeys((f"{name}.py" for name in empty.split()), "") | {
        "core/words.py": "def count(text):\n    return len(text.split())\n",
        "paths.py": "from punchline.core import unseen\nRAW = 'data/raw'\n",
        "stages/tell.py": MODULE,
        "stages/late.py": "from punchline import paths\nfrom punchline.artifacts import graph\n"
        "def tell():\n    import punchline.stages.tell\n    import numpy, json\n",
        "stages/loop.py": "from punchline.stages import pool\n",
        "stages/pool.py": "from punchline.stages import loop\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code, "PACKAGE", folder)
    forget()
    yield folder
    monkeypatch.undo()
    forget()


def forget() -> None:
    """As another process would find it."""
    for left in (code.parts, code._file, code._read):
        left.cache_clear()


def digest(*modules: str) -> str:
    forget()
    return code.digest(*modules)


SILENT: list[tuple[str, str]] = [
    ("  # of a joke", ""),
    ('"""What it does."""\n', ""),
    ('"""A joke."""', '"""An old joke."""'),
    ('    """Whether it is."""\n', "    # whether it is\n"),
    ('    """Tell it."""\n', ""),
    ("(self.teller) * times > LIMIT", "(\n            self.teller\n        ) * times > LIMIT"),
    ("\n", "\r\n"),
]
RUN: list[tuple[str, str]] = [
    *(("LIMIT = 3", new) for new in ("LIMIT = 4", "LIMIT = 3.0", "LIMIT = '3'", "LIMITS = 3")),
    ("LIMIT = 3", 'LIMIT = 3\n"""No docstring."""'),
    ("times: int = 1", "*, times: int = 1"),
    ("> LIMIT", ">= LIMIT"),
    ("async def", "def"),
    ("{LIMIT!r}", "{LIMIT!s}"),
    ('        """Whether it is."""\n', '        """Whether it is."""\n        """Twice."""\n'),
]


@pytest.mark.parametrize(
    ("old", "new", "counts"), [*((*pair, False) for pair in SILENT), *((*pair, True) for pair in RUN)]
)
def test_what_runs_counts_and_nothing_else(package: Path, old: str, new: str, counts: bool) -> None:
    before = digest("punchline.stages.tell")
    assert old in MODULE
    (package / "stages/tell.py").write_bytes(MODULE.replace(old, new).encode())
    assert (digest("punchline.stages.tell") != before) is counts


def test_what_is_imported_counts(package: Path) -> None:
    words = package / "core/words.py"
    before = digest("punchline.stages.tell")
    words.write_text("# Words.\n" + words.read_text())
    assert digest("punchline.stages.tell") == before
    words.write_text(words.read_text().replace("split()", "split(' ')"))
    assert digest("punchline.stages.tell") != before
    between = digest("punchline.stages.tell")
    (package / "core/__init__.py").write_text("X = 1\n")  # importing a module runs its packages
    assert digest("punchline.stages.tell") != between


def test_a_plain_tree_has_no_docstring_and_nothing_empty() -> None:
    """Python's versions differ in what is empty."""
    assert plain(ast.parse('"""a"""\nx = 1')) == ["Module", {"body": plain(ast.parse("x = 1").body)}]


def test_modules_are_followed_into_functions_and_circles(package: Path) -> None:
    for module, others in (("late", ("core", "core.words", "stages.tell")), ("loop", ("stages.pool",))):
        names = ("stages", f"stages.{module}", *others)
        assert set(closure(f"punchline.stages.{module}")) == {"punchline", *(f"punchline.{name}" for name in names)}
    assert closure("numpy", "punchline.stages.none") == {}


@pytest.mark.parametrize(
    ("place", "line", "module"),
    [
        ("stages/new.py", "from .tell import Joke", "punchline.stages.tell"),
        ("stages/new.py", "from ..core import words", "punchline.core.words"),
        ("stages/new.py", "from .. import core", "punchline.core"),
        ("stages/new/__init__.py", "from ..tell import Joke", "punchline.stages.tell"),
        ("stages/new/__init__.py", "from .new import new", "punchline.stages.new.new"),
    ],
)
def test_a_relative_import_is_of_the_modules_own_package(package: Path, place: str, line: str, module: str) -> None:
    for name, text in {"stages/new/new.py": "new = 1\n", place: line + "\n"}.items():
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text)
    result = closure("punchline.stages.new")
    assert module in result
    before = digest("punchline.stages.new")
    result[module].write_text(result[module].read_text() + "more = 1\n")
    assert digest("punchline.stages.new") != before


def test_what_says_where_things_lie_is_not_followed(package: Path) -> None:
    before = digest("punchline.stages.late")
    (package / "paths.py").write_text("RAW = 'elsewhere'\n")
    (package / "artifacts/graph.py").write_text("RULES = []\n")
    assert digest("punchline.stages.late") == before


STAGES = ("requests", "score", "respond", "pictures", "prepare", "tabulate.build", "fetch.log", "overview.build")
OF_PIXELHUMOR = "benchmarks.pixelhumor"
Names = tuple[str, ...]


@pytest.mark.parametrize(
    ("modules", "followed", "left_out"),
    [
        *(((stage,), ("schema",), ("artifacts", "audit")) for stage in STAGES),
        (
            ("requests", f"{OF_PIXELHUMOR}.ask"),
            ("core.storage", "errors", OF_PIXELHUMOR),
            ("fetch", "comics.number", f"{OF_PIXELHUMOR}.scoring", "score"),
        ),
        (("score", f"{OF_PIXELHUMOR}.scoring"), ("metrics.text", f"{OF_PIXELHUMOR}.answers"), ("artifacts",)),
    ],
)
def test_what_a_stage_depends_on(modules: Names, followed: Names, left_out: Names) -> None:
    result = {name.removeprefix("punchline.") for name in closure(*(f"punchline.{module}" for module in modules))}
    assert {*modules, *followed} <= result
    assert [name for name in result if name.startswith(left_out)] == []


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_no_benchmark_hangs_on_another(benchmark: str) -> None:
    for module in ("data", "ask", "scoring", "tables"):
        result = closure(benchmarks.module_of(benchmark, module))
        others = {name.split(".")[2] for name in result if name.startswith("punchline.benchmarks.")}
        assert others & {*benchmarks.names()} == {benchmark}, module


def test_pages_count_where_they_are_written_only() -> None:
    written = {path.name for path in code.data("punchline.report.site")}
    assert {"base.html", "report.css", "compare.js"} <= written
    assert not {"base.html", "report.css"} & {path.name for path in code.data("punchline.report.answers")}


@pytest.mark.parametrize("name", [name for name in benchmarks.names() if not benchmarks.is_one_file(name)])
def test_every_prompt_is_read_by_who_asks_and_by_no_other(name: str) -> None:
    """Baselines and data read none: an engine's key and items depend on no prompt."""
    folder = code.PACKAGE / "benchmarks" / name / "prompts"
    asks = set(code.prompts(benchmarks.module_of(name, "ask")))
    others = {*code.prompts(benchmarks.module_of(name, "judge"), benchmarks.module_of(name, "studies"))}
    assert asks == set(folder.glob("*.txt")) and asks | others == set(folder.rglob("*.txt"))
    assert not any(
        code.prompts(benchmarks.module_of(name, module)) for module in ("data", "baselines", "wording", "tables")
    )
