"""YAML files, read strictly: one mapping, no repeated key, no alias, finite numbers."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from punchline.errors import PunchlineError
from punchline.files import read_regular

YAML_BYTES = 1_000_000


class Loader(yaml.SafeLoader):
    """YAML without repeated keys, infinities, and aliases, a few lines of which can expand beyond all memory."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            problem = f"the alias *{event.anchor} is not followed; write out what it stands for"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {name!r} is there twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
        except ValueError as error:
            problem = f"{node.value} has no valid value: {error}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error
        if isinstance(value, float) and not math.isfinite(value):  # JSON has none: requests and digests would hold null
            problem = f"{node.value} is no finite number"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return value


# YAML 1.1 reads 1e-2 as text; users mean a number.
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), "-+0123456789"
)


def read_yaml(file: str | Path) -> dict[str, Any]:
    """A YAML file that holds one mapping of names. Raises PunchlineError with file and line for anything else."""
    try:
        content = read_regular(Path(file), YAML_BYTES)
        value = yaml.load(content.decode("utf-8-sig"), Loader)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what = f"byte {error.start} is not UTF-8"
        raise PunchlineError(what, file=file, line=line, hint="Save the file as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        raise PunchlineError(f"malformed YAML: {what}", file=file, line=mark.line + 1 if mark else None) from error
    except (ValueError, RecursionError) as error:  # endless nesting
        raise PunchlineError(f"YAML that cannot be read: {error}", file=file) from error
    except OSError as error:
        hint = "Run in the project's root; snakemake -d DIR names it" if not Path("config").is_dir() else None
        raise PunchlineError(f"cannot be read: {error.strerror or error}", file=file, hint=hint) from error
    if not isinstance(value, dict):
        raise PunchlineError("expected a mapping: lines of `key: value`", file=file)
    for key in value:
        if not isinstance(key, str):
            raise PunchlineError(f"expected a name for a key, got {key!r}", file=file, hint="Check its line")
    return value
