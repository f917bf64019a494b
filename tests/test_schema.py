"""The JSON schemas say what the readers take: every file of config/ is valid, and mistakes are not."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from punchline.config.schema import KINDS, schema


def files(root: Path, kind: str) -> list[Path]:
    return [root / "config/run.yaml"] if kind == "run" else sorted((root / "config" / kind).glob("*.yaml"))


def read(file: Path) -> Any:
    """YAML as JSON has it: dates are texts."""
    return json.loads(json.dumps(yaml.safe_load(file.read_text()), default=str))


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_is_valid(root: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    checker = jsonschema.Draft202012Validator(schema(kind))
    found = {str(file): [e.message for e in checker.iter_errors(read(file))] for file in files(root, kind)}
    assert found and not {file: errors for file, errors in found.items() if errors}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("run", {"modles": ["random"]}),
        ("run", {"models": ["no-such-model"]}),
        ("run", {"limit": "three"}),
        ("run", {"scoring": "fair"}),
        ("model", {"engine": "abacus"}),
        ("model", {"modality": ["smell"]}),
    ],
)
def test_a_mistake_is_not(root: Path, kind: str, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    value = read(files(root, kind)[0]) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema(kind))
