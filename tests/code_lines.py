"""Print code lines by package: no blank lines, comments, docstrings or imports. `python tests/code_lines.py`."""

import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path, PurePath

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """Lines of a Python file that hold code."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, SCOPES) and ast.get_docstring(node) is not None:
            node = node.body[0]
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            used |= set(range(token.start[0], token.end[0] + 1))
    return len(used - left_out)


def plain_lines(text: str) -> int:
    """Lines of another file that are neither blank nor a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


def main() -> None:
    """Print one line a package, and the totals of code and of tests."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    counts: Counter[str] = Counter()
    tests = 0
    for name in listed:
        path, parts = Path(name), PurePath(name).parts
        if parts[0] == "tests" and path.suffix == ".py":
            tests += path.read_text(encoding="utf-8").count("\n")
        if parts[0] not in ("src", "scripts", "rules", "Snakefile") or path.suffix not in (".py", ".smk", ".sh", ""):
            continue
        package = "/".join(parts[2:-1]) or parts[-1] if parts[0] == "src" else parts[0]
        counts[package] += (code_lines if path.suffix == ".py" else plain_lines)(path.read_text(encoding="utf-8"))
    for package, count in counts.most_common():
        print(f"{count:6,} {package}")
    print(f"{counts.total():6,} code lines in src, scripts and rules; {tests:,} lines of tests")


if __name__ == "__main__":
    main()
