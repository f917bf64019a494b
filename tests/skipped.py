"""One line that lists what a JUnit report says was skipped, and why."""

from __future__ import annotations

import sys
from collections import Counter
from xml.etree import ElementTree

reasons: Counter[str] = Counter()
for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    for skipped in case.iter("skipped"):
        reasons[(skipped.get("message") or "no reason given").split("\n")[0]] += 1
listed = "; ".join(f"{reason} ({n} tests)" for reason, n in reasons.items())
print(f"SKIPPED: {listed}" if listed else "SKIPPED: nothing")
