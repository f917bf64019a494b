"""How HumorBench's elements are called in a report."""

from __future__ import annotations

NAMES = {"explain": "explanation"}
GOLD = {"explain": "element"}
