"""YAML files, read strictly: one mapping, no repeated key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from punchline.errors import PunchlineError
from punchline.files import text_of


class Loader(yaml.SafeLoader):
    """YAML without repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [str(key.value) for key, _ in node.value]
        for place, (key, _) in enumerate(node.value):
            if names[place] in names[:place]:
                raise yaml.MarkedYAMLError(None, None, f"the key {names[place]!r} is there twice", key.start_mark)
        return super().construct_mapping(node, deep)


# YAML 1.1 reads 1e-2 as text; users mean a number. Dates stay texts, which their fields convert.
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")
Loader.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, "-+0123456789")
for _resolvers in Loader.yaml_implicit_resolvers.values():
    _resolvers[:] = [resolver for resolver in _resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]


def read_yaml(file: str | Path) -> dict[str, Any]:
    """A YAML file that holds one mapping of names. Raises PunchlineError with file and line for anything else."""
    try:
        value = yaml.load(text_of(Path(file).read_bytes(), file), Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        raise PunchlineError(f"malformed YAML: {what}", file=file, line=mark.line + 1 if mark else None) from error
    except OSError as error:
        hint = "Run in the project's root; snakemake -d DIR names it" if not Path("config").is_dir() else None
        raise PunchlineError(f"cannot be read: {error.strerror or error}", file=file, hint=hint) from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise PunchlineError("expected a mapping: lines of `key: value`, each key a name", file=file)
    return value
