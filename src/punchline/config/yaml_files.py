"""YAML files, read strictly: one mapping, no repeated key, no alias, finite numbers."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from punchline.errors import PunchlineError
from punchline.files import read_regular, text_of

YAML_BYTES = 1_000_000


class Loader(yaml.SafeLoader):
    """YAML without repeated keys, infinities, and aliases, a few lines of which can expand beyond all memory."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise _refusal(f"the alias *{event.anchor} is not followed; write out what it stands for", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [str(key.value) for key, _ in node.value]
        for place, (key, _) in enumerate(node.value):
            if names[place] in names[:place]:
                raise _refusal(f"the key {names[place]!r} is there twice", key.start_mark)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        value = super().construct_object(node, deep)
        if isinstance(value, float) and not math.isfinite(value):  # JSON has none: requests and digests would hold null
            raise _refusal(f"{node.value} is no finite number", node.start_mark)
        return value


def _refusal(problem: str, mark: yaml.Mark) -> yaml.YAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


# YAML 1.1 reads 1e-2 as text; users mean a number. Dates stay texts, which their fields convert.
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")
Loader.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, "-+0123456789")
for _resolvers in Loader.yaml_implicit_resolvers.values():
    _resolvers[:] = [resolver for resolver in _resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]


def read_yaml(file: str | Path) -> dict[str, Any]:
    """A YAML file that holds one mapping of names. Raises PunchlineError with file and line for anything else."""
    try:
        value = yaml.load(text_of(read_regular(Path(file), YAML_BYTES), file), Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        raise PunchlineError(f"malformed YAML: {what}", file=file, line=mark.line + 1 if mark else None) from error
    except (ValueError, RecursionError) as error:  # endless nesting
        raise PunchlineError(f"YAML that cannot be read: {error}", file=file) from error
    except OSError as error:
        hint = "Run in the project's root; snakemake -d DIR names it" if not Path("config").is_dir() else None
        raise PunchlineError(f"cannot be read: {error.strerror or error}", file=file, hint=hint) from error
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise PunchlineError("expected a mapping: lines of `key: value`, each key a name", file=file)
    return value
