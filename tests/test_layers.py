"""Imports point one way, and every fact has one place: the rules of the house that a machine can hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

# From the bottom up; packages of one line know nothing of each other but what is said in BESIDE.
ORDER = (
    ("core",),
    ("project",),
    ("read", "score", "comics"),
    ("bench",),
    ("demo",),
    ("benchmarks",),
    ("engines",),
    ("stages",),
    ("audit", "people"),
    ("report",),
    ("export",),
    ("api",),
    ("cli",),
)
BESIDE = {"comics": {"comics"}}


def sources(root: Path) -> list[Path]:
    return sorted((root / "src/punchline").rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """(line, module, names) of what a file imports of punchline, inside functions too."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "punchline":
            yield node.lineno, node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "punchline":
                    yield node.lineno, alias.name, []


def package_of(module: str, names: list[str]) -> list[str]:
    parts = module.split(".")
    return [parts[1]] if len(parts) > 1 else names


LEVEL = {package: level for level, packages in enumerate(ORDER) for package in packages}


def test_imports_point_one_way(root: Path) -> None:
    wrong = []
    for path in sources(root):
        parts = path.relative_to(root / "src/punchline").parts
        if parts == ("__init__.py",):
            continue
        own = parts[0].removesuffix(".py")
        assert own in LEVEL, f"{path}: a package that has no place in the order"
        for line, module, names in imports(path):
            for package in package_of(module, names):
                if package not in LEVEL or package == own:
                    continue
                if LEVEL[package] >= LEVEL[own]:
                    wrong.append(f"{'/'.join(parts)}:{line} imports {package}")
    assert wrong == []


def test_no_engine_knows_a_benchmark(root: Path) -> None:
    names = [path.name for path in (root / "src/punchline/benchmarks").iterdir() if (path / "__init__.py").is_file()]
    wrong = []
    for path in (root / "src/punchline/engines").rglob("*.py"):
        wrong += [f"{path.name}:{line} {module}" for line, module, _ in imports(path) if "benchmarks" in module]
        tree = ast.parse(path.read_bytes())
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in names]
        wrong += [f"{path.name}:{node.lineno} {node.value}" for node in texts]
    assert wrong == []


def test_nothing_below_tables_imports_a_table(root: Path) -> None:
    below = (
        "data",
        "ask",
        "answers",
        "judge",
        "grade",
        "pictures",
        "demo",
        "baselines",
        "training",
        "replay",
        "wording",
        "compared",
    )
    wrong = []
    for path in (root / "src/punchline/benchmarks").rglob("*.py"):
        if path.stem not in below:
            continue
        for line, module, names in imports(path):
            if module.endswith(".tables") or "tables" in names or module == "punchline.bench.table":
                wrong.append(f"{path.parent.name}/{path.name}:{line}")
    for path in (root / "src/punchline/stages").rglob("*.py"):
        if path.stem in ("cells", "tabulate", "ranks", "metrics"):
            continue
        wrong += [f"{path.name}:{line}" for line, module, _ in imports(path) if module == "punchline.bench.table"]
    assert wrong == []


def test_no_private_name_crosses_modules(root: Path) -> None:
    wrong = []
    for path in [*sources(root), *(root / "scripts").glob("*.py")]:
        for line, module, names in imports(path):
            wrong += [
                f"{path.name}:{line} {module}.{name}"
                for name in names
                if name.startswith("_") and name != "__version__"
            ]
    assert wrong == []


SPELT = re.compile(r"^(?:data|results)/")


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of every string of a file that is no docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_paths_are_spelt_in_one_place(root: Path) -> None:
    wrong = []
    for path in [*sources(root), *(root / "scripts").glob("*.py")]:
        if path.name == "paths.py":
            continue
        spelt = (line for line, text in texts(ast.parse(path.read_bytes())) if SPELT.match(text))
        wrong += [f"{path.relative_to(root)}:{line}" for line in spelt]
    for path in [root / "Snakefile", *(root / "rules").glob("*.smk")]:
        for number, line in enumerate(path.read_text().split("\n"), start=1):
            if re.search(r"""["'](?:data|results)/""", line.split("#")[0]):
                wrong.append(f"{path.relative_to(root)}:{number}")
    assert wrong == []


def test_no_file_has_more_than_500_lines(root: Path) -> None:
    files = [*sources(root), *(root / "scripts").iterdir(), *(root / "rules").iterdir(), root / "Snakefile"]
    lines = {file.as_posix(): len(file.read_text().splitlines()) for file in files if file.is_file()}
    assert [name for name, count in lines.items() if count > 500] == []


@pytest.mark.parametrize(
    "module", ["ask", "data", "grade", "pictures", "demo", "tables"], ids=lambda module: f"of_{module}"
)
def test_a_facet_brings_no_other_that_has_no_part_in_it(root: Path, module: str) -> None:
    """What asking rests on is no reader and no table; what grading rests on is no table and no question to models."""
    from punchline.core.benchmark import module_of, names
    from punchline.project import code

    kept_out = {
        "ask": ("grade", "tables", "answers", "judge", "demo", "baselines"),
        "data": ("ask", "grade", "tables", "answers", "judge", "demo", "baselines"),
        "grade": ("ask", "tables", "demo", "baselines", "pictures"),
        "pictures": ("ask", "grade", "tables", "answers", "judge", "demo"),
        "demo": ("ask", "grade", "tables", "judge", "baselines"),
        "tables": ("demo", "baselines", "pictures"),
    }
    for benchmark in names():
        closure = code.closure(module_of(benchmark, module))
        assert [other for other in kept_out[module] if module_of(benchmark, other) in closure] == [], benchmark
