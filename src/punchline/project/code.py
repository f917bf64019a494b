"""Which source files a script depends on, so that a changed file reruns exactly the rules that use it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def code_of(script: str | Path, *modules: str) -> list[str]:
    """The script and every module of punchline that it imports, directly or not, and those of `modules`.

    `modules` names what is imported by name at run time (a benchmark, an engine). Paths are relative to the project
    root where they lie below it, sorted, script first.
    """
    found: dict[str, Path] = {}
    queue = [*_imported(Path(script)), *modules]
    while queue:
        module = queue.pop()
        path = _file(module)
        if path is not None and module not in found:
            found[module] = path
            queue += _imported(path)
            queue += [module.rpartition(".")[0]]  # importing a module runs its packages
    root = Path.cwd()
    files = sorted(path.relative_to(root) if path.is_relative_to(root) else path for path in found.values())
    return [str(script), *(file.as_posix() for file in files)]


@cache
def _file(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != "punchline":
        return None
    base = PACKAGE.joinpath(*parts[1:])
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _imported(path: Path) -> tuple[str, ...]:
    """Names of what a file imports at its top or inside functions; `from a import b` may mean module a.b."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.split(".")[0] == "punchline")
