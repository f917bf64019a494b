"""Names of HumorBench's elements in a report."""

from __future__ import annotations

NAMES = {"explain": "explanation"}
GOLD = {"explain": "element"}
