"""One flipped bit in any byte of any kind of file: the audit says that it differs, and names the file.

The audit is called in this process, in the folder of the project: a thousand starts of Python would add nothing.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml
from benchmarks.torture.ground import Ground, Row

from punchline.artifacts.project import Project
from punchline.audit import audit as audits
from punchline.audit.audit import Audit
from punchline.config.selection import read_selection
from punchline.errors import PunchlineError

FULL = 1000
OVERVIEWS = ("results/cost.csv", "results/discrepancies.csv", "results/pixelhumor/unread.csv")
LEDGER = ("item_id", "state", "reason", "path", "sha256")  # what counts in it
SHOWN = ("price", "licence", "note")  # in a card: what can change no answer


def audit_of(ground: Ground) -> dict[str, Callable[[], Audit]]:
    """{table or overview: its audit in this folder}."""
    config = dict(word.split("=", 1) for word in ground.config.split())
    project = Project(read_selection({key: yaml.safe_load(value) for key, value in config.items()})[0])
    result: dict[str, Callable[[], Audit]] = {
        table: lambda table=table: audits.audit(table) for table in ground.tables if Path(table).is_file()
    }
    there = [path for path in OVERVIEWS if Path(path).is_file()]
    return result | {path: lambda path=path: audits.audit_overview(path, project) for path in there}


def _records(content: bytes, path: str, table: str) -> Any:
    """What counts in a file; its bytes where all of them do."""
    if path.endswith(".parquet"):
        return pq.read_table(io.BytesIO(content)).to_pylist()
    text = content.decode()
    if path.endswith("ledger.jsonl"):
        return [{key: json.loads(line).get(key) for key in LEDGER} for line in text.splitlines()]
    if path.startswith("config/published"):
        return [row for row in csv.DictReader(io.StringIO(text)) if row["table"] == Path(table).stem]
    if path.startswith(("config/model", "config/judge")):
        return {key: value for key, value in yaml.safe_load(text).items() if key not in SHOWN}
    return content


def same(before: bytes, after: bytes, path: str, table: str) -> bool:
    """Whether two contents mean the same, found without the code that is tortured."""
    try:
        return bool(_records(before, path, table) == _records(after, path, table))
    except Exception:  # whatever a reader of broken bytes raises: it does not mean the same
        return False


@contextlib.contextmanager
def flipped(path: Path, draw: random.Random) -> Iterator[tuple[int, bytes, bytes]]:
    """One bit of a file flipped: (byte, what was there, what is there)."""
    good = path.read_bytes()
    place = draw.randrange(len(good))
    bad = bytearray(good)
    bad[place] ^= 1 << draw.randrange(8)
    path.write_bytes(bad)
    try:
        yield place, good, bytes(bad)
    finally:
        path.write_bytes(good)


def run(ground: Ground, n: int, seed: int) -> Row:
    draw = random.Random(seed)
    caught, nothing = Counter[str](), Counter[str]()
    row = Row("flipped bits", "", "", seed)
    refused = 0
    with ground.copied() as folder, contextlib.chdir(folder.path):
        places: list[tuple[str, str, list[str]]] = []  # (audited, role, files)
        audited = audit_of(ground)
        for table, audit in audited.items():
            whole = audit()
            if whole.findings:
                row.failures.append(f"{table} differs before anything is flipped: {whole.findings[0]}")
            by_role: dict[str, list[str]] = {}
            for file in whole.files:
                if Path(file.path).stat().st_size:
                    role = f"{file.role} {Path(file.path).suffix}" if file.role == "table" else file.role
                    by_role.setdefault(role, []).append(file.path)
            places += [(table, role, files) for role, files in by_role.items()]
        for turn in range(n):
            table, role, files = places[turn % len(places)]
            name = draw.choice(files)
            with flipped(Path(name), draw) as (place, good, bad):
                try:
                    report = audited[table]()
                    output = " ".join(map(str, report.findings))
                except PunchlineError as error:  # no audit is possible, status 2
                    refused, output = refused + 1, str(error)
                except Exception as error:
                    row.failures.append(
                        f"byte {place} of {role} {name}: {table} raises {type(error).__name__}: {error}"
                    )
                    continue
                if not output:
                    meant = same(good, bad, name, table)
                    nothing[role] += meant
                    row.failures += [] if meant else [f"byte {place} of {role} {name}: unnoticed by {table}"]
                elif name not in output:
                    row.failures.append(f"byte {place} of {role} {name}: not named by {table}")
                else:
                    caught[role] += 1
    roles = caught.keys() | nothing.keys()
    row.done = f"{n} flips over {len(roles)} kinds of file, of {len(audited)} tables and overviews"
    row.checked = f"caught and named {caught.total()}, {refused} of them by an audit that cannot be made; "
    row.checked += f"in bytes that mean nothing {nothing.total()} ({_listed(nothing)})"
    return row


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {role}" for role, count in counts.most_common()) or "none"
