"""Tables and texts that tests are run with: tests/cases/NAME.yaml has those of tests/test_NAME.py."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


@cache
def _tables(name: str) -> dict[str, Any]:
    """All tables of a test's module."""
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def cases(file: str, name: str, inner: type = list) -> Any:
    """A table for the tests of `file`, or a text; sequences in a table's rows become `inner`."""
    value = _tables(Path(file).stem.removeprefix("test_"))[name]
    if inner is list:
        return value
    return [[inner(cell) if isinstance(cell, list) else cell for cell in row] for row in value]
