"""JSON schemas of the files in config/, for editors and checkers, from the structs of their readers."""

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
    (whole,), parts = msgspec.json.schema_components([of], ref_template="#/$defs/{name}")
    body = parts.pop(of.__name__, whole)
    properties = {key: value for key, value in body["properties"].items() if key not in NOT_WRITTEN or kind == "corpus"}
    required = [key for key in body.get("required", ()) if key in properties]
    if kind == "run":
        properties["benchmarks"] = {"anyOf": [{"const": "all"}, _some(benchmarks.names())]}
        properties["models"] = _some(stems("config/model"))
        properties["scorers"] = {"anyOf": [_some(stems("config/judge")), {"type": "null"}]}
        properties["conditions"] = {"anyOf": [{"const": "all"}, properties["conditions"]]}
        properties["judge"] = {"enum": [*stems("config/judge"), None]}
        properties["extractor"] = {"enum": [*stems("config/judge"), *stems("config/model"), None]}
        properties |= {"corpus": {"enum": stems("config/corpus")}, "defaults": {}}
        _, execution = msgspec.json.schema_components([Execution])
        properties |= execution["Execution"]["properties"]
        required = [key for key in required if key != "corpus"]
    if "engine" in properties:
        properties["engine"] = {"enum": list(engines.names())}
    closed = of is not ModelCard  # a card holds its engine's options besides; the engine checks them
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"config/{kind}.yaml" if kind == "run" else f"config/{kind}/*.yaml",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": not closed,
        "$defs": parts,
    }


def _some(names: Sequence[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"enum": list(names)}}
