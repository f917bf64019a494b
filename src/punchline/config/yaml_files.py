"""YAML files, read strictly: one mapping, no repeated key, bounded in size, depth and aliases."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from punchline.errors import PunchlineError
from punchline.files import text_of

BYTES_MOST = 2**20  # of a file
DEPTH_MOST = 40  # values in values
NODES_MOST = 10_000  # values of a file, those behind an alias counted at each use


class Loader(yaml.SafeLoader):
    """YAML without repeated keys, aliases of themselves, and numbers that are none; bounded in depth and values."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.depth = 0
        self.nodes = 0  # values so far
        self.sizes = dict[yaml.Node, int]()  # values in a whole node, itself included

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node. Raises MarkedYAMLError past a bound, before what is too much is built."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        before = self.nodes
        self.nodes += 1
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if node not in self.sizes:
                raise _at(event, f"the alias {event.anchor!r} stands within what it names")
            self.nodes = before + self.sizes[node]
        elif node is not None:
            self.sizes[node] = self.nodes - before
        if self.nodes > NODES_MOST:
            raise _at(event, f"more than {NODES_MOST:,} values, those behind an alias counted at each use")
        return node

    def descend_resolver(self, parent: yaml.Node | None, index: Any) -> None:
        """Called before each node's content. Raises MarkedYAMLError for values that are too deep."""
        if self.depth > DEPTH_MOST:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise _at(event, f"more than {DEPTH_MOST} values in one another")
        super().descend_resolver(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = set[str]()
        for key, _ in node.value:
            name = str(key.value)
            if name in names:
                raise yaml.MarkedYAMLError(None, None, f"the key {name!r} is there twice", key.start_mark)
            names.add(name)
        return super().construct_mapping(node, deep)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        value = super().construct_yaml_float(node)
        if not math.isfinite(value):
            raise yaml.MarkedYAMLError(None, None, f"{node.value} is no number here", node.start_mark)
        return value


def _at(event: Any, what: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, what, event.start_mark)


# YAML 1.1 reads 1e-2 as text; users mean a number. Dates stay texts, which their fields convert.
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")
Loader.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, "-+0123456789")
Loader.add_constructor("tag:yaml.org,2002:float", Loader.construct_yaml_float)
for _resolvers in Loader.yaml_implicit_resolvers.values():
    _resolvers[:] = [resolver for resolver in _resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]


def read_yaml(file: str | Path) -> dict[str, Any]:
    """A YAML file that holds one mapping of names. Raises PunchlineError with file and line for anything else."""
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(BYTES_MOST + 1)
    except OSError as error:
        hint = "Run in the project's root; snakemake -d DIR names it" if not Path("config").is_dir() else None
        raise PunchlineError(f"cannot be read: {error.strerror or error}", file=file, hint=hint) from error
    if len(content) > BYTES_MOST:
        raise PunchlineError(f"larger than {BYTES_MOST // 2**20} MiB: not read", file=file)
    value = parse_yaml(text_of(content, file), file)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise PunchlineError("expected a mapping: lines of `key: value`, each key a name", file=file)
    return value


def parse_yaml(text: str, file: str | Path) -> Any:
    """The value of a YAML text. Raises PunchlineError naming `file` and the line."""
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: what a tag or a number of 5,000 digits is refused by
        mark = getattr(error, "problem_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        raise PunchlineError(f"malformed YAML: {what}", file=file, line=mark.line + 1 if mark else None) from error
