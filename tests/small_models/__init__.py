"""The two small models for tests: SmolLM2 (text), and a tiny random Qwen2-VL (images) with its cards and a recipe."""

import importlib.util
import shutil
from pathlib import Path

import pytest
from scripts.small_model import NEEDED, build, build_smollm2

from punchline.config import revisions
from punchline.errors import PunchlineError
from punchline.paths import MODELS

from .tiny import ROOT, build_tiny

ABSENT = [package for package in NEEDED if importlib.util.find_spec(package) is None]
needs_hf = pytest.mark.skipif(bool(ABSENT), reason=f"NOT INSTALLED: {', '.join(ABSENT)}; run make hf to run this test")


def smollm2_folder(made: pytest.TempPathFactory) -> Path:
    """SmolLM2's folder: the one in data/models/ if it is whole, else one built for the session."""
    folder = ROOT / MODELS / "smollm2-135m-instruct"
    try:
        revisions.verify_folder(folder)
        revisions.folder_revision(folder)
    except PunchlineError:
        folder = made.mktemp("models") / folder.name
        build(build_smollm2, folder)
    return folder


def tiny_folder(made: pytest.TempPathFactory) -> Path:
    """The tiny Qwen2-VL's folder, built."""
    return build_tiny(made.mktemp("models") / "tiny-qwen2-vl")


def add_cards(project: Path) -> None:
    """Put the tiny model's cards and its recipe into a project's config/."""
    here = Path(__file__).parent
    shutil.copy(here / "tiny-hummus.yaml", project / "config/finetune")
    for card in here.glob("tiny-qwen2-vl-*.yaml"):
        shutil.copy(card, project / "config/model")
