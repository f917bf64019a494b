"""Items whose scores should be looked at: all models right, none right, or better models do worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from punchline.artifacts.project import Project

COLUMNS = ("item_id", "task", "condition", "rule", "n_models", "share_right", "discrimination", "flag")
MODELS = 5  # fewer models say nothing about an item


def rows(project: Project, benchmark: str) -> Sequence[dict[str, Any]]:
    """Rows of items.csv; none in a run with fewer than MODELS models."""
    return []
