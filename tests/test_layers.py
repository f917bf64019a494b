"""Architecture rules that a machine can check: imports go one way, and each fact has one place."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from punchline.core import benchmark as benchmarks
from punchline.workflow import code

# From the bottom up; packages between bars do not import each other. `shared`: modules of benchmarks/ that are none.
ORDER = """schema start text paths grouping | errors | files | journal | core | workflow | config
| read metrics comics stats scores | tables | shared | benchmarks | engines | artifacts parsing | jobs
| prepare responses | extraction budget | pictures requests | fetch respond score | tabulate train | validity
| overview | plan | snakemake | audit rating | report | export | api | cli"""


def sources(root: Path) -> list[Path]:
    return sorted((root / "src/punchline").rglob("*.py"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_bytes())))


def imports(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """(line, module, names) of what a file imports of punchline, inside functions too."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "punchline":
            yield node.lineno, node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "punchline":
                    yield node.lineno, alias.name, []


def reached(*files: Path) -> list[Path]:
    """Files, and files of the package that they import."""
    found = list(files)
    for file in found:
        for _, module, names in imports(file):
            places = [module.replace(".", "/"), *(f"{module.replace('.', '/')}/{name}" for name in names)]
            paths = (code.PACKAGE.parent / f"{place}{end}.py" for place in places for end in ("", "/__init__"))
            found += [path for path in dict.fromkeys(paths) if path.is_file() and path not in found]
    return found


def package_of(parts: tuple[str, ...]) -> str:
    """The package, of its path below punchline, that a module belongs to."""
    benchmark = parts[0] != "benchmarks" or parts[1:2] in ((), ("__init__",)) or parts[1] in NAMES
    return parts[0] if benchmark else "shared"


def packages_of(module: str, names: list[str]) -> set[str]:
    parts = tuple(module.split(".")[1:])
    return {package_of((*parts, name)) for name in names or [""] if parts or name}


NAMES = benchmarks.names()
LEVEL = {package: level for level, packages in enumerate(ORDER.split("|")) for package in packages.split()}


def every_import(root: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """(place, own package, module, names) of what the modules of punchline import of it."""
    for path in sources(root):
        parts = path.relative_to(root / "src/punchline").with_suffix("").parts
        if parts != ("__init__",):
            for line, module, names in imports(path):
                yield f"{'/'.join(parts)}:{line}", package_of(parts), module, names


def test_one_reader_of_yaml(root: Path) -> None:
    """The bounded one; files of the package that no user edits may be decoded into a type."""
    own = re.compile(r"yaml\.\w*(?:load|Loader)")
    assert [path.name for path in sources(root) if own.search(path.read_text())] == ["yaml_files.py"]


def test_imports_point_one_way(root: Path) -> None:
    packages = {path.relative_to(root / "src/punchline").with_suffix("").parts[0] for path in sources(root)}
    assert packages - {"__init__"} <= LEVEL.keys(), "a package has no place in the order"
    wrong = []
    for place, own, module, names in every_import(root):
        others = (LEVEL.get(package, -1) for package in packages_of(module, names) - {own})
        wrong += [f"{place} imports {module}" for level in others if level >= LEVEL[own]]
    assert wrong == []


BUILDS = {"fetch", "prepare", "pictures", "requests", "score", "tabulate", "train", "validity", "overview", "report"}


def test_build_functions_get_a_run_and_not_the_graph(root: Path) -> None:
    """Only lineages name what the graph describes, and the server of a report is no build."""
    named = [place for place, own, _, names in every_import(root) if own in BUILDS and "Project" in names]
    assert {place.split(":")[0] for place in named} == {"tabulate/build", "report/serve"}, named


def test_no_engine_knows_a_benchmark(root: Path) -> None:
    of_engines = (one for one in every_import(root) if one[1] == "engines")
    wrong = [place for place, _, module, names in of_engines if "benchmarks" in packages_of(module, names)]
    for path in (root / "src/punchline/engines").rglob("*.py"):
        wrong += [f"{path.name}:{line} {text}" for line, text in texts(path) if text in NAMES]
    assert wrong == []


def test_no_private_name_crosses_modules(root: Path) -> None:
    wrong = []
    for path in [*sources(root), *(root / "scripts").glob("*.py")]:
        for line, module, names in imports(path):
            private = (name for name in names if name.startswith("_") and name != "__version__")
            wrong += [f"{path.name}:{line} {module}.{name}" for name in private]
    assert wrong == []


SPELT = re.compile(r"^(?:data|results)/")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every string of a file that is no docstring."""
    docstrings = {node.value for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.lineno, node.value


def test_paths_are_spelt_in_one_place(root: Path) -> None:
    wrong = []
    for path in [*sources(root), *(root / "scripts").glob("*.py")]:
        if path.name == "paths.py":
            continue
        spelt = (line for line, text in texts(path) if SPELT.match(text))
        wrong += [f"{path.relative_to(root)}:{line}" for line in spelt]
    for path in [root / "Snakefile", *(root / "rules").glob("*.smk")]:
        for number, line in enumerate(path.read_text().split("\n"), start=1):
            if re.search(r"""["'](?:data|results)/""", line.split("#")[0]):
                wrong.append(f"{path.relative_to(root)}:{number}")
    assert wrong == []


def test_no_file_has_more_than_400_lines(root: Path) -> None:
    files = [*sources(root), *(root / "scripts").iterdir(), *(root / "rules").iterdir(), root / "Snakefile"]
    files += (root / "tests").rglob("*.py")
    lines = {file.as_posix(): len(file.read_text().splitlines()) for file in files if file.is_file()}
    assert [name for name, count in lines.items() if count > 400] == []


CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time", "ru_utime", "ru_stime"}
CLOCKS |= {f"{clock}_ns" for clock in CLOCKS}


def test_only_growth_measures_time(root: Path) -> None:
    """No test compares a time with a constant: another machine is slower. tests/ran.py compares times of one run."""
    measured = []
    for path in (root / "tests").rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
                ends = (end.func if isinstance(end, ast.Call) else end for end in (node.left, node.right))
                names = {getattr(end, "attr", getattr(end, "id", "")) for end in ends}
                measured += [f"{path.relative_to(root)}:{node.lineno}"] * bool(names & CLOCKS)
    assert {place.split(":")[0] for place in measured} == {"tests/ran.py"}, measured


def test_what_counts_imports_nothing_that_does_not(root: Path) -> None:
    """A result depends on no code outside its scopes. The journal tells artifacts which answers count."""
    outside = code.SHOWING | code.ASKING
    wrong = [
        f"{place} imports {module}"
        for place, own, module, names in every_import(root)
        if own not in outside and packages_of(module, names) & outside and (own, module) != ("artifacts", JOURNAL)
    ]
    assert wrong == []


JOURNAL = "punchline.journal"


def test_no_benchmark_hangs_on_another(root: Path) -> None:
    """A result carries the code of its own benchmark."""
    wrong = []
    for place, _, module, names in every_import(root):
        parts = place.split(":")[0].split("/")
        imported = {name.split(".")[2] for name in (module, *(f"{module}.{n}" for n in names)) if name.count(".") >= 2}
        if parts[0] == "benchmarks" and parts[1] in NAMES and "benchmarks" in module:
            wrong += [f"{place} imports {other}" for other in imported & {*NAMES} - {parts[1]}]
    assert wrong == []


def test_readers_import_nothing_else_of_punchline(root: Path) -> None:
    of_readers = (one for one in every_import(root) if one[1] == "read")
    assert [place for place, _, module, names in of_readers if packages_of(module, names) != {"read"}] == []


MAKES = {  # modules that make items and pictures, gold, requests, and requests about answers
    code.ITEMS: ("data", "pictures"),
    code.GOLD: ("data",),
    code.QUESTIONS: ("ask", "options"),
    code.READING: ("ask", "judge", "compared"),
}


@pytest.mark.parametrize("scope", MAKES)
def test_what_a_benchmarks_modules_import_of_it_counts(scope: str) -> None:
    """Constants, too, which no trace of calls shows."""
    wrong = []
    for benchmark in NAMES:
        files = (code.PACKAGE / name for name in benchmarks.files_of(benchmark, *MAKES[scope]))
        names = {path.relative_to(code.PACKAGE).as_posix() for path in reached(*filter(Path.is_file, files))}
        own = {name for name in names if name.startswith(f"benchmarks/{benchmark}/")}
        wrong += sorted(own - code.parts(scope, benchmark).keys())
    assert wrong == []
