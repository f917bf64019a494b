"""Statements as they come: bare, in a DSSE envelope, in a sigstore bundle; and what is none."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from punchline.audit.attest import PROVENANCE, STATEMENT, read_statement
from punchline.core.errors import PunchlineError

BARE = {"_type": STATEMENT, "predicateType": PROVENANCE, "subject": [], "predicate": {}}
ENVELOPE = {
    "payloadType": "application/vnd.in-toto+json",
    "payload": base64.b64encode(json.dumps(BARE).encode()).decode(),
}


@pytest.mark.parametrize("written", [BARE, ENVELOPE, {"mediaType": "x", "dsseEnvelope": ENVELOPE}])
def test_a_statement_is_opened(tmp_path: Path, written: dict[str, Any]) -> None:
    (tmp_path / "s.json").write_text(json.dumps(written))
    assert read_statement(tmp_path / "s.json") == BARE


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"7", b"\xff", b'{"payload": 7}', b'{"payload": "%"}', b'{"payload": "W10="}', b"[" * 100_000],
)
def test_what_is_no_statement_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(PunchlineError, match=r"s\.json"):
        read_statement(tmp_path / "s.json")
