"""Punchline: evaluate large multimodal models on humour and comics, and show where every number comes from."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "1.0.0"


_NAMES = {"Stale": "punchline.api", "Run": "punchline.api", "PunchlineError": "punchline.errors"}
_NAMES["parse"] = "punchline.parsing"


def __getattr__(name: str) -> Any:
    if name == "api":
        return importlib.import_module("punchline.api")
    if name not in _NAMES:
        raise AttributeError(f"module 'punchline' has no attribute {name!r}")
    return getattr(importlib.import_module(_NAMES[name]), name)


def open(root: Any = ".", run: str = "default") -> Any:
    """A run of the project in the folder `root`, as pandas frames: a `punchline.api.Run`. Raises PunchlineError."""
    # By name, so that no code digest includes it (workflow/code.py).
    return importlib.import_module("punchline.api").Run(root, run)
