"""The selection (config/run.yaml, overridden for one call) and the model cards, read and checked.

Every mistake is a PunchlineError that names the file, the key and the nearest valid names.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import punchline.benchmarks
from punchline import engines
from punchline.errors import PunchlineError, nearest
from punchline.records import RULES, ModelCard, Record, Rule
from punchline.storage import sha256_file

RUN = "config/run.yaml"


class Corpus(Record, frozen=True, kw_only=True):
    """One file of config/corpus/."""

    name: str
    raw: str  # folder of the published bytes; each benchmark has its own below
    drawn: bool  # whether the project draws it itself
    sources: dict[str, list[str]] | None = None  # benchmark: sources to keep; None keeps all


class Selection(Record, frozen=True, kw_only=True):
    """What one call evaluates."""

    corpus: Corpus
    benchmarks: list[str]
    models: list[str]
    judge: str | None
    subset: str | None
    subset_sha256: str | None = None  # of the subset's file: its content selects, not its name
    limit: int | None
    seed: int
    scoring: Rule | None
    samples: int

    def raw(self, benchmark: str) -> str:
        """Folder of a benchmark's published files."""
        return f"{self.corpus.raw}/{benchmark}"


def benchmark_names() -> list[str]:
    """Benchmarks there are: one module each, those with a `NAME`."""
    found = (module.name for module in pkgutil.iter_modules(punchline.benchmarks.__path__))
    return sorted(name for name in found if "_" not in name)


def stems(folder: str | Path) -> list[str]:
    """Names of the YAML files in a folder of config/."""
    return sorted(path.stem for path in Path(folder).glob("*.yaml"))


def _checked(value: str, valid: list[str], *, key: str, way: str = "") -> str:
    if value not in valid:
        raise PunchlineError(f"unknown {key} {value!r}{way}", file=RUN, field=key, way_out=nearest(value, valid))
    return value


def _names(value: object, key: str) -> list[str]:
    """A list of names; one name or `a,b` is taken for a list."""
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("[]").split(",") if part.strip()]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise PunchlineError(
            f"expected a list of names, got {value!r}", file=RUN, field=key, way_out=f"Write {key}=[a,b]"
        )
    repeated = sorted({name for name in value if value.count(name) > 1})
    if repeated:
        raise PunchlineError(f"named twice: {', '.join(repeated)}", file=RUN, field=key)
    return value


def read_selection(overrides: Mapping[str, Any]) -> tuple[Selection, str | None]:
    """The selection and the mirror, from config/run.yaml and `overrides` (what `--config` gave).

    The mirror is apart because where bytes come from is not part of what is selected.
    """
    with initialize_config_dir(config_dir=str(Path("config").absolute()), version_base=None):
        defaults = OmegaConf.to_container(compose(config_name="run"), resolve=True)
        assert isinstance(defaults, dict)
        known = [str(key) for key in defaults]
        for key in overrides:
            if key not in known:
                raise PunchlineError(f"unknown key {key!r}", file=RUN, way_out=nearest(key, known))
        chosen = overrides.get("corpus", None)
        if chosen is not None:
            _checked(str(chosen), stems("config/corpus"), key="corpus")
            corpus = OmegaConf.to_container(compose(config_name="run", overrides=[f"corpus={chosen}"]), resolve=True)
            assert isinstance(corpus, dict)
            defaults["corpus"] = corpus["corpus"]
    merged: dict[str, Any] = {str(k): v for k, v in defaults.items()}
    merged |= {key: value for key, value in overrides.items() if key != "corpus"}
    merged = {key: None if value in ("null", "none", "") else value for key, value in merged.items()}

    mirror = merged.pop("mirror")
    if merged["benchmarks"] == "all":
        merged["benchmarks"] = benchmark_names()
    for key in ("benchmarks", "models"):
        merged[key] = _names(merged[key], key)
    for name in merged["benchmarks"]:
        _checked(name, benchmark_names(), key="benchmarks")
    for name in merged["models"]:
        _checked(name, stems("config/model"), key="models", way=" (no such file in config/model/)")
    if merged["scoring"] is not None:
        _checked(str(merged["scoring"]), list(RULES), key="scoring")
    if merged["judge"] is not None:
        _checked(str(merged["judge"]), stems("config/judge"), key="judge")
    if merged["subset"] is not None:
        if not Path(str(merged["subset"])).is_file():
            raise PunchlineError(
                f"no such file: {merged['subset']}",
                file=RUN,
                field="subset",
                way_out="Name a CSV with a column item_id or comic_id, relative to the project root",
            )
        merged["subset_sha256"] = sha256_file(str(merged["subset"]))
    try:
        selection = msgspec.convert(merged, Selection)
    except msgspec.ValidationError as error:
        raise PunchlineError(str(error), file=RUN, way_out="See the comments in that file") from error
    for key, least in (("limit", 1), ("samples", 1)):
        value = getattr(selection, key)
        if value is not None and value < least:
            raise PunchlineError(f"expected at least {least}, got {value}", file=RUN, field=key)
    return selection, str(mirror) if mirror is not None else None


def read_card(name: str) -> ModelCard:
    """A model card: config/model/<name>.yaml. Raises PunchlineError with file and field."""
    file = Path("config/model") / f"{name}.yaml"
    if not file.is_file():
        raise PunchlineError(f"unknown model {name!r}", file=file, way_out=nearest(name, stems(file.parent)))
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
        raise PunchlineError(f"malformed YAML: {getattr(error, 'problem', error)}", file=file, line=line) from error
    if not isinstance(content, dict) or not isinstance(content.get("engine"), str):
        raise PunchlineError(
            "expected a mapping with at least `engine`",
            file=file,
            way_out=f"engine: one of {', '.join(engines.names())}",
        )
    published_as = content.pop("published_as", None)
    if published_as is not None and not isinstance(published_as, str):
        raise PunchlineError(f"expected the paper's row name, got {published_as!r}", file=file, field="published_as")
    return ModelCard(name=name, engine=content.pop("engine"), options=content, published_as=published_as)


def hand_to_scripts(mirror: str | None) -> None:
    """Set what scripts get beside their rules, in this process's environment, which they inherit.

    PATH: they run with the interpreter that Snakemake runs with, activated or not. PUNCHLINE_FETCH_MIRROR: where bytes
    come from is no part of the selection, so another mirror must change no command and rerun nothing.
    """
    here = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([here, *(p for p in os.environ["PATH"].split(os.pathsep) if p != here)])
    os.environ["PUNCHLINE_FETCH_MIRROR"] = mirror or ""
