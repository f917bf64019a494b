"""Statements about a table that somebody can sign: in-toto v1, with a SLSA provenance predicate.

https://github.com/in-toto/attestation/tree/main/spec/v1, https://slsa.dev/spec/v1.0/provenance
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

import punchline
from punchline.core.errors import PunchlineError
from punchline.core.records import canonical
from punchline.project.lineage import File, Lineage

STATEMENT = "https://in-toto.io/Statement/v1"
BEGINS = f'{{\n "_type": "{STATEMENT}"'.encode()  # as `statement` writes one
PROVENANCE = "https://slsa.dev/provenance/v1"
BUILD = "urn:punchline:table:1"  # subject: the table's files; dependencies: all that it rests on
LONGEST = 100_000_000  # bytes


def statement(lineage: Lineage) -> bytes:
    """What a lineage says, as a statement: the same bytes wherever the same table is made of the same bytes."""
    tables = [file for file in lineage.files if file.role == "table"]
    build = {
        "buildType": BUILD,
        "externalParameters": {
            "benchmark": lineage.benchmark,
            "table": lineage.table,
            "selection": msgspec.to_builtins(lineage.selection),
        },
        "internalParameters": {
            "root": lineage.root,
            "code": lineage.code,
            **({"libraries": lineage.libraries} if lineage.libraries else {}),
            "models": {model.card.name: model.key for model in lineage.models},
        },
        "resolvedDependencies": [_resource(file) for file in lineage.files if file.role != "table"],
    }
    said = {
        "_type": STATEMENT,
        "subject": [{"name": file.path, "digest": {"sha256": file.sha256}} for file in tables],
        "predicateType": PROVENANCE,
        "predicate": {
            "buildDefinition": build,
            "runDetails": {"builder": {"id": "urn:punchline", "version": {"punchline": punchline.__version__}}},
        },
    }
    return msgspec.json.format(canonical(said), indent=1) + b"\n"


def _resource(file: File) -> dict[str, Any]:
    """A file; of one whose bytes may differ for the same content, the digest of what counts in it."""
    return {"name": file.path, "digest": {"sha256": file.content or file.sha256}, "annotations": {"role": file.role}}


def read_statement(path: str | Path) -> dict[str, Any]:
    """A statement, or the payload of a DSSE envelope or of a sigstore bundle around one; signatures are not looked at.

    Raises PunchlineError for anything else.
    """
    try:
        content = Path(path).read_bytes()
        found = json.loads(content) if len(content) <= LONGEST else None
        found = found.get("dsseEnvelope", found) if isinstance(found, dict) else found
        if isinstance(found, dict) and "payload" in found:
            found = json.loads(base64.b64decode(found["payload"], validate=True))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise PunchlineError(f"cannot be read: {error}", file=str(path)) from error
    if not isinstance(found, dict) or found.get("_type") != STATEMENT or found.get("predicateType") != PROVENANCE:
        raise PunchlineError("no statement about a table", file=str(path), way_out="punchline attest TABLE writes one")
    return found


def differences(stated: Mapping[str, Any], lineage: Lineage) -> Iterator[str]:
    """What a statement says otherwise than a lineage does."""
    own = json.loads(statement(lineage))
    for name in ("subject", "predicate"):
        yield from _differences(stated.get(name), own[name], name)


def _differences(stated: object, own: object, at: str) -> Iterator[str]:
    if at == "predicate.runDetails":  # who made it
        return
    if isinstance(stated, dict) and isinstance(own, dict):
        for key in sorted(stated.keys() | own.keys()):
            yield from _differences(stated.get(key), own.get(key), f"{at}.{key}")
    elif isinstance(stated, list) and isinstance(own, list) and at.endswith(("subject", "resolvedDependencies")):
        ours, theirs = ({str(f.get("name")): f for f in files if isinstance(f, dict)} for files in (own, stated))
        for path in sorted(ours.keys() | theirs.keys()):
            if ours.get(path) != theirs.get(path):
                yield f"{at} {path}: stated {_digest(theirs.get(path))}, here {_digest(ours.get(path))}"
    elif stated != own:
        yield f"{at}: stated {str(stated)[:80]!r}, here {str(own)[:80]!r}"


def _digest(file: Mapping[str, Any] | None) -> str:
    return "nothing" if file is None else f"{str(file.get('digest'))[:40]}…"
