"""Tables of cases that tests are run with: tests/cases/NAME.yaml has those of tests/test_NAME.py."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


@cache
def _tables(name: str) -> dict[str, Any]:
    """All tables of a test's module."""
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def cases(file: str, table: str, inner: type = list) -> list[Any]:
    """Rows of a table for the tests of `file`; sequences in a row become `inner`."""
    rows = _tables(Path(file).stem.removeprefix("test_"))[table]
    if inner is list:
        return list(rows)
    return [[inner(cell) if isinstance(cell, list) else cell for cell in row] for row in rows]
