"""Digests of the code that a build function imports.

Comments, docstrings and layout do not count; prompts and data files of the package do. Modules that choose paths,
inputs and parameters are not followed: provenance files record their choices.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from punchline.errors import PunchlineError
from punchline.schema import digest_of
from punchline.workflow import digests

PACKAGE = Path(__file__).resolve().parent.parent
NO_CODE = ("ctx", "kind", "type_comment")  # fields of the syntax tree that do not change what runs
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOT_FOLLOWED = tuple(f"punchline.{name}" for name in ("artifacts", "config", "jobs", "paths", "snakemake", "workflow"))


@functools.cache
def parts(*modules: str) -> dict[str, str]:
    """{name: sha256} of `modules`, of all punchline modules that they import, and of the files that these read."""
    read = {str(file.relative_to(PACKAGE)): digests.of_file(file) for file in (*data(*modules), *prompts(*modules))}
    return {module: _read(path)[0] for module, path in closure(*modules).items()} | read


def digest(*modules: str) -> str:
    """One digest of `parts`."""
    return digest_of(parts(*modules))


@functools.cache
def prompts(*modules: str) -> list[Path]:
    """Prompt files that `modules` and their imports read by punchline.benchmarks.prompts."""
    read = [(path.parent / "prompts", _read(path)[2]) for path in closure(*modules).values()]
    places = {place / folder for place, folders in read for folder in folders}
    return sorted(file for place in places for file in place.glob("*.txt"))


def closure(*modules: str) -> dict[str, Path]:
    """{name: file} of `modules` and the punchline modules that they import."""
    files: dict[str, Path] = {}
    queue = list(modules)
    while queue:
        module = queue.pop()
        path = _file(module)
        if path is None or module in files:
            continue
        files[module] = path
        queue += [name for name in _read(path)[1] if not name.startswith(NOT_FOLLOWED)]
        queue.append(module.rpartition(".")[0])  # importing a module runs its packages
    return dict(sorted(files.items()))


def data(*modules: str) -> list[Path]:
    """Data files of `modules` and their imports: for x.py, x.yaml or the YAML files of the folder x, and pages."""
    files: list[Path] = []
    for path in closure(*modules).values():
        yaml_file = path.with_suffix(".yaml")
        files += [yaml_file] if yaml_file.is_file() else sorted(path.with_suffix("").glob("*.yaml"))
        pages = (file for folder in ("templates", "static") for file in (path.with_suffix("") / folder).rglob("*"))
        files += sorted(filter(Path.is_file, pages))
    return files


@functools.cache
def _file(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != "punchline":
        return None
    base = PACKAGE.joinpath(*parts[1:])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@functools.cache
def _read(path: Path) -> tuple[str, list[str], list[str]]:
    """(digest of what runs, names of what is imported, folders of prompts that are read) of a file."""
    code, imports, folders = digests.cached("code", path, lambda: _parse(path))
    return code, imports, folders


def _parse(path: Path) -> tuple[str, list[str], list[str]]:
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise PunchlineError(f"not Python: {error.msg}", file=path, line=error.lineno) from error
    names, folders = set[str](), set[str]()
    package = ".".join(path.relative_to(PACKAGE.parent).parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            names |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "prompts":
            folders.add("/".join(str(one.value) for one in node.args[1:] if isinstance(one, ast.Constant)))
    imported = sorted(name for name in names if name.split(".")[0] == "punchline")
    return digest_of(plain(tree)), imported, sorted(folders) if "punchline.benchmarks.prompts.prompts" in names else []


def plain(node: Any) -> Any:
    """A syntax tree as plain data: no positions, no docstrings, nothing empty (there Python's versions differ)."""
    if isinstance(node, ast.Constant):
        return ["Constant", repr(node.value)]
    if isinstance(node, ast.AST):
        body = {name: plain(value) for name, value in ast.iter_fields(node) if name not in NO_CODE}
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            body["body"] = body["body"][1:]
        return [type(node).__name__, {name: value for name, value in body.items() if value not in (None, [])}]
    if isinstance(node, list):
        return [plain(one) for one in node]
    return node if node is None or isinstance(node, str) else repr(node)


def version_of(package: str) -> str:
    """The installed version of a package, or `absent`."""
    return next((found.version for found in importlib.metadata.distributions(name=package)), "absent")
