"""Model and judge cards: one YAML file each, read and checked. Errors name the file, the key and the nearest names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from punchline.config.yaml_files import read_yaml
from punchline.core.benchmark import folders
from punchline.errors import PunchlineError, check_known
from punchline.files import as_record
from punchline.schema import ModelCard
from punchline.text import secret_field

MODELS = "config/model"
JUDGES = "config/judge"
PASSWORDS = "Put them into ~/.netrc, or set PUNCHLINE_MIRROR_AUTH=user:password; give the address without them"
# Names of models, corpora, runs and folders become parts of paths and words of commands.
PLAIN_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"


def stems(folder: str | Path) -> list[str]:
    """Names of the YAML files in a folder of config/."""
    return sorted(path.stem for path in Path(folder).glob("*.yaml") if path.is_file())


def check_names(names: Sequence[str], valid: Sequence[str], file: str, field: str) -> None:
    """Raise PunchlineError for a name that is not one of `valid`, with the nearest, and for one that is repeated."""
    for name in names:
        check_known(name, valid, f"unknown {field} {name!r}", file=file, field=field)
        if names.count(name) > 1:
            raise PunchlineError(f"{name!r} is named twice", file=file, field=field)


def check_plain(name: object, file: str | Path, kind: str = "model", field: str | None = None) -> None:
    """Raise PunchlineError for a name that cannot be part of a path and of a command."""
    if not isinstance(name, str) or not re.fullmatch(PLAIN_NAME, name):
        hint = "Rename it: up to 100 letters, digits, dots, hyphens, underscores; a letter or digit first"
        raise PunchlineError(f"{name!r} is not a valid {kind} name", file=file, field=field, hint=hint)


def check_without_secrets(values: Mapping[str, Any], file: str, hint: str = PASSWORDS) -> None:
    """Raise PunchlineError for an address with a password or a key: command lines, tables and logs would contain it."""
    if (field := secret_field(values)) is not None:
        raise PunchlineError("an address with a password or a key would be in logs", file=file, field=field, hint=hint)


def read_card(name: str, folder: str | Path = MODELS) -> ModelCard:
    """A model card: <folder>/<name>.yaml. Raises PunchlineError with file and field."""
    file = Path(folder) / f"{name}.yaml"
    check_known(name, stems(file.parent), f"unknown model {name!r}", file=file)
    check_plain(name, file)
    content = read_yaml(file)
    check_without_secrets(content, str(file), "Name an environment variable by `api_key_env`; leave them out here")
    known = set(ModelCard.__struct_fields__) - {"name", "folder", "options"}
    values = {key: content.pop(key) for key in known & content.keys()}  # the rest are the engine's options
    values |= {"name": name, "folder": Path(folder).as_posix(), "options": content}
    card = as_record(values, ModelCard, lambda _: str(file))
    check_names([*card.papers], folders(), str(file), "benchmark")
    return card
