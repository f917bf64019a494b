"""YAML files, read strictly: one mapping, no repeated key, no tags, bounded in size, depth and aliases."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from punchline.errors import PunchlineError
from punchline.files import text_of

BYTES_MOST = 2**17  # of a file
DEPTH_MOST = 40  # values in values
SIZE_MOST = 10_000  # values of a file and blocks of text, those behind an alias counted at each use
BLOCK = 64  # characters
DIGITS_MOST = 80  # of a whole number of 64 bits, in any notation
TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_UNUSABLE = re.compile("[\0\ud800-\udfff]")  # by escapes: no file, path or request can hold them


class Loader(yaml.SafeLoader):
    """YAML without repeated keys, tags, aliases of themselves, and numbers that are none; bounded in depth and size."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.depth = 0
        self.size = 0  # so far
        self.sizes = dict[yaml.Node, int]()  # of whole nodes

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node. Raises MarkedYAMLError past a bound, before what is too much is built."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) not in (None, "!", TEXT):
            raise _at(event.start_mark, "a tag is not read here", "Write the value without it")
        before = self.size
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if node not in self.sizes:
                raise _at(event.start_mark, f"the alias {event.anchor!r} stands within what it names", "Remove it")
            self.size += self.sizes[node]
        elif node is not None:
            self.size += 1
            if isinstance(node, yaml.ScalarNode):
                self.size += len(node.value) // BLOCK
                _check_characters(node)
            self.sizes[node] = self.size - before
        if self.size > SIZE_MOST:
            what = f"more than {SIZE_MOST:,} values or blocks of text, those behind an alias counted at each use"
            raise _at(event.start_mark, what, "Remove what is not needed")
        return node

    def descend_resolver(self, parent: yaml.Node | None, index: Any) -> None:
        """Called before each node's content. Raises MarkedYAMLError for values that are too deep."""
        if self.depth > DEPTH_MOST:
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise _at(event.start_mark, f"more than {DEPTH_MOST} values in one another", "Close the brackets before")
        super().descend_resolver(parent, index)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """The next mapping. Raises MarkedYAMLError for a repeated key and for one that is no text."""
        node = super().compose_mapping_node(anchor)
        names = set[str]()
        for key, _ in node.value:
            if key.tag not in (TEXT, MERGE):
                raise _at(key.start_mark, "a key is not a text", "Put it in quotes")
            if key.value in names:
                raise _at(key.start_mark, f"the key {key.value[:100]!r} is there twice", "Remove one")
            names.add(key.value)
        return node

    def construct_yaml_int(self, node: yaml.ScalarNode) -> Any:
        if ":" in node.value:  # a time; YAML 1.1 reads 1:30 as 90
            return node.value
        if len(node.value) > DIGITS_MOST or not -(2**63) <= (value := super().construct_yaml_int(node)) < 2**64:
            raise _at(node.start_mark, "a whole number of more than 64 bits", "Put it in quotes if it is a text")
        return value

    def construct_yaml_float(self, node: yaml.ScalarNode) -> Any:
        if ":" in node.value:
            return node.value
        value = super().construct_yaml_float(node)
        if not math.isfinite(value):
            raise _at(node.start_mark, f"{node.value} is no number here", "Write a finite number")
        return value


def _at(mark: Any, what: str, hint: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(None, None, what, mark, hint)


def _check_characters(node: yaml.ScalarNode) -> None:
    if found := _UNUSABLE.search(node.value):
        raise _at(node.start_mark, f"the character U+{ord(found[0]):04X} is not allowed", "Remove it")


# YAML 1.1 reads 1e-2 as text; users mean a number. Dates and `=` stay texts, which their fields convert.
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")
Loader.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, "-+0123456789")
Loader.add_constructor("tag:yaml.org,2002:float", Loader.construct_yaml_float)
Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
_TEXTS = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")
for _resolvers in Loader.yaml_implicit_resolvers.values():
    _resolvers[:] = [resolver for resolver in _resolvers if resolver[0] not in _TEXTS]


def read_yaml(file: str | Path) -> dict[str, Any]:
    """A YAML file that holds one mapping of names. Raises PunchlineError with file and line for anything else."""
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(BYTES_MOST + 1)
    except OSError as error:
        hint = "Run in the project's root; snakemake -d DIR names it" if not Path("config").is_dir() else None
        raise PunchlineError(f"cannot be read: {error.strerror or error}", file=file, hint=hint) from error
    if len(content) > BYTES_MOST:
        hint = "Remove what is not needed"
        raise PunchlineError(f"larger than {BYTES_MOST // 2**10} KiB: not read", file=file, hint=hint)
    value = parse_yaml(text_of(content, file), file)
    if not isinstance(value, dict):
        raise PunchlineError("expected a mapping: lines of `key: value`, each key a name", file=file)
    return value


def parse_yaml(text: str, file: str | Path) -> Any:
    """The value of a YAML text. Raises PunchlineError naming `file` and the line."""
    hint: str | None = None
    try:
        loader = Loader(text)
        try:
            return loader.get_single_data()
        except (ValueError, OverflowError) as error:  # an escape that is no character
            raise _at(loader.get_mark(), str(error), "Remove it") from error
    except yaml.MarkedYAMLError as error:
        what, mark = " ".join(str(error.problem).split())[:200], error.problem_mark
        line = mark.line + 1 if mark else None
        hint = "Indent with blanks" if "'\\t'" in what else error.note
    except yaml.reader.ReaderError as error:
        what, line = f"the character U+{error.character:04X} is not allowed", text.count("\n", 0, error.position) + 1
        hint = "Remove it"
    raise PunchlineError(f"malformed YAML: {what}", file=file, line=line, hint=hint)
