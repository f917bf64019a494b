"""One line that lists what JUnit reports say was skipped, and why."""

import sys
from collections import Counter
from xml.etree import ElementTree

reasons: Counter[str] = Counter()
for report in sys.argv[1:]:
    for skipped in ElementTree.parse(report).iter("skipped"):
        reasons[(skipped.get("message") or "no reason given").split("\n")[0]] += 1
listed = "; ".join(f"{reason} ({n} tests)" for reason, n in reasons.items())
print(f"SKIPPED: {listed}" if listed else "SKIPPED: nothing")
