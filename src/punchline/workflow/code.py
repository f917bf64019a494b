"""Digests of the code behind a result. The folder of a file decides whether it counts, not what imports it.

A result carries the files of its scope, and those of its benchmarks' folders. Scores and tables: all but what shows
results and what asks models (COMMON). Requests about answers: nothing that scores (READING). Other requests: nothing
that reads answers either (QUESTIONS). Items and pictures: no prompts (ITEMS); gold: the same and readers (GOLD). An
edit of a metric or a table thus starts no job that asks a model. Pages carry the report too (REPORT). Comments,
docstrings and layout do not count; prompts and data files of the package do. An answer to a question carries no code:
its request and its key hold everything that was sent.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from punchline.errors import PunchlineError
from punchline.schema import digest_of
from punchline.workflow import digests

PACKAGE = Path(__file__).resolve().parent.parent
NO_CODE = ("ctx", "kind", "type_comment")  # fields of the syntax tree that do not change what runs
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

COMMON, READING, QUESTIONS, GOLD, ITEMS, REPORT = "common", "reading", "questions", "gold", "items", "report"
# Rooms that show results, which shape no score or table.
SHOWING = {"api", "audit", "cli", "export", "parsing", "plan", "rating", "report", "snakemake", "start"}
# Rooms that ask models: their results are in requests, keys and journals.
ASKING = {"budget", "engines", "journal", "respond", "train"}
SCORING = {"metrics", "overview", "score", "scores", "stats", "tables", "tabulate", "validity"}
READERS = {"extraction", "read"}
# Files and folders of a benchmark, by their names without an ending.
LATER = {"tables", "dataset", "shown", "baselines", "replay", "training"}
RATING = {"scoring", "judge"}
PROMPTS = {"ask", "prompts"}
UNASKED = SHOWING | ASKING | SCORING
OUTSIDE = {  # by scope: rooms, and names in a benchmark's folder, that do not count
    COMMON: (SHOWING | ASKING, set[str]()),
    REPORT: ((SHOWING | ASKING) - {"report"}, set[str]()),
    READING: (UNASKED, LATER),
    QUESTIONS: (UNASKED | READERS, LATER | RATING),
    GOLD: (UNASKED, LATER | RATING | PROMPTS),
    ITEMS: (UNASKED | READERS, LATER | RATING | PROMPTS),
}


@functools.cache
def parts(scope: str = "", *benchmarks: str) -> dict[str, str]:
    """{path below the package: sha256 of what runs} of the files of a scope and of benchmarks; nothing of no scope."""
    return {name: _digest(file) for name, file in _files().items() if scope and _counts(name, scope, benchmarks)}


def digest(*places: str) -> str:
    """One digest of files and folders, by their paths below the package."""
    folders = tuple(f"{place}/" for place in places)
    chosen = (name for name in _files() if name in places or name.startswith(folders))
    return digest_of({name: _digest(_files()[name]) for name in chosen})


def _counts(name: str, scope: str, benchmarks: Collection[str]) -> bool:
    """True for a file, by its path below the package, that belongs to a scope."""
    rooms, names = OUTSIDE[scope]
    room, *below = (part.partition(".")[0] for part in name.split("/"))
    if room == "benchmarks" and len(below) > 1:
        return below[0] in benchmarks and not names & {*below[1:]}
    return room not in rooms


@functools.cache
def _files() -> dict[str, Path]:
    """{path below the package: file} of all that can shape a result: no bytecode, no documents."""
    return {path.relative_to(PACKAGE).as_posix(): path for path in _counted(PACKAGE)}


def _counted(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__" or path.suffix in (".md", ".typed"):
            continue
        if path.is_dir():
            yield from _counted(path)
        else:
            yield path


def _digest(file: Path) -> str:
    if file.suffix != ".py":
        return digests.of_file(file)
    return str(digests.cached("code", file, lambda: _parse(file)))


def _parse(file: Path) -> str:
    try:
        return digest_of(plain(ast.parse(file.read_bytes())))
    except SyntaxError as error:
        raise PunchlineError(f"not Python: {error.msg}", file=file, line=error.lineno) from error


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
