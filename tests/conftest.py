"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with real data: $PUNCHLINE_MIRROR, else ../shared/upstream; skips loudly where neither is there."""
    path = Path(os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared" / "upstream")).resolve()
    if not (path / "pixelhumor").is_dir():
        pytest.skip(f"REAL DATA ABSENT: no pixelhumor/ in {path}; set PUNCHLINE_MIRROR to run this test")
    return path
