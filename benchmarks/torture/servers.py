"""Slow, lying, huge and hostile servers for every engine and the fetcher: the hostile tests, counted."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter

from benchmarks.torture.ground import Ground, Row
from tests.e2e.project import ROOT

FULL = 1  # times over
FILES = {
    "openai": (
        "tests/test_engine_openai.py",
        "tests/test_engine_faults.py",
        "tests/test_engine_hostile.py",
    ),
    "openai batches": ("tests/engines/test_openai_batch_hostile.py",),
    "streams (vLLM, openai)": ("tests/test_engine_stream.py",),
    "fetcher": ("tests/test_fetch.py", "tests/test_fetch_hosts.py"),
}


def run(ground: Ground, n: int, seed: int) -> Row:
    row = Row("hostile servers", "", "", seed)
    counts, skipped = Counter[str](), Counter[str]()
    for turn in range(n):
        for engine, files in FILES.items():
            report = ground.work / f"servers-{turn}.xml"
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *files]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if not report.is_file():
                row.failures.append(f"{engine}: {done.stdout[-300:]}{done.stderr[-300:]}")
                continue
            for case in ET.parse(report).iter("testcase"):
                counts[engine] += 1
                skipped[engine] += case.find("skipped") is not None
                if case.find("failure") is not None or case.find("error") is not None:
                    row.failures.append(f"{engine}: {case.get('classname')} {case.get('name')}")
            report.unlink()
    row.done = "; ".join(f"{engine} {counts[engine]} cases" for engine in FILES)
    row.checked = f"as each test says; {skipped.total()} skipped for what is not installed here"
    return row
