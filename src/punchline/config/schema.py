"""JSON schemas of what the readers take, for editors and checkers: made of the records that the readers use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from punchline.config.cards import stems
from punchline.config.recipes import Recipe
from punchline.config.selection import Corpus, Execution, Selection
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.schema import ModelCard

NOT_WRITTEN = ("name", "folder", "options", "run", "subset_sha256")  # of a file: its name, or what is computed
KINDS = {"run": Selection, "model": ModelCard, "judge": ModelCard, "corpus": Corpus, "finetune": Recipe}


def schema(kind: str) -> dict[str, Any]:
    """The schema of config/run.yaml (`run`), or of a file of config/<kind>/."""
    of = KINDS[kind]
    (made,), parts = msgspec.json.schema_components([of], ref_template="#/$defs/{name}")
    body = parts.pop(of.__name__, made)
    kept = {key: value for key, value in body["properties"].items() if key not in NOT_WRITTEN or kind == "corpus"}
    required = [key for key in body.get("required", ()) if key in kept]
    if kind == "run":
        kept["benchmarks"] = {"anyOf": [{"const": "all"}, _some(benchmarks.names())]}
        kept["models"] = _some(stems("config/model"))
        kept["scorers"] = {"anyOf": [_some(stems("config/judge")), {"type": "null"}]}
        kept["conditions"] = {"anyOf": [{"const": "all"}, kept["conditions"]]}
        kept["judge"] = {"enum": [*stems("config/judge"), None]}
        kept["extractor"] = {"enum": [*stems("config/judge"), *stems("config/model"), None]}
        kept |= {"corpus": {"enum": stems("config/corpus")}, "defaults": {}}
        _, execution = msgspec.json.schema_components([Execution])
        kept |= execution["Execution"]["properties"]
        required = [key for key in required if key != "corpus"]
    if "engine" in kept:
        kept["engine"] = {"enum": list(engines.names())}
    closed = of is not ModelCard  # a card holds its engine's options besides; the engine checks them
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"config/{kind}.yaml" if kind == "run" else f"config/{kind}/*.yaml",
        "type": "object",
        "properties": kept,
        "required": required,
        "additionalProperties": not closed,
        "$defs": parts,
    }


def _some(names: Sequence[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"enum": list(names)}}
