"""The selection: config/run.yaml or a named run, overridden for one call, read and checked.

Every mistake is a PunchlineError that names the file, the key and the nearest valid names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from punchline import paths
from punchline.config.cards import (
    JUDGES,
    MODELS,
    PLAIN_NAME,
    check_name,
    check_plain,
    check_without_secrets,
    read_card,
    stems,
)
from punchline.config.yaml_files import read_yaml
from punchline.core import variants
from punchline.core.benchmark import DEFAULT, folders, load
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError, check_known, nearest
from punchline.files import as_record, parse_csv, sha256_file, write_changed
from punchline.paths import DEFAULT_RUN
from punchline.schema import RULES, Record, Rule, canonical

RUN = "config/run.yaml"
RUNS = "config/runs"
CORPORA = "config/corpus"
MAX_INT = 2**63 - 1


class Corpus(Record, frozen=True, kw_only=True):
    """One file of config/corpus/."""

    name: str
    raw: str  # folder of the published files, with one folder a benchmark
    drawn: bool  # True if its raw files are copies of data/demo/
    sources: dict[str, list[str]] | None = None  # {benchmark: sources to keep}; None keeps all


class Selection(Record, frozen=True, kw_only=True):
    """All that one call evaluates."""

    run: str = DEFAULT_RUN
    corpus: Corpus
    benchmarks: list[str]
    models: list[str]
    judge: str | None
    # Absent without an extractor: digests of selections made before there was the key stay as they are.
    extractor: str | msgspec.UnsetType = msgspec.UNSET
    scorers: list[str]
    conditions: list[str]
    subset: str | None
    subset_sha256: str | None = None  # of the subset's file: its content selects, not its name
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_INT)] | None
    seed: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT)]
    scoring: Rule | None
    samples: Annotated[int, msgspec.Meta(ge=1, le=10_000)]  # a larger number is a typing error


class Execution(Record, frozen=True, kw_only=True):
    """The keys of config/run.yaml that change how a run is executed, not what it evaluates."""

    mirror: str | None  # folder or URL
    shards: Annotated[int, msgspec.Meta(ge=1, lt=10_000)] | None  # jobs of a model; None: as its card says
    strict: bool  # a run in which an answer failed ends with status 1
    max_cost: Annotated[float, msgspec.Meta(gt=0, lt=1e9)] | None  # USD that the run may spend


EXECUTION_KEYS = set(Execution.__struct_fields__)
OPTIONAL = ("extractor", "max_cost")  # keys that config/run.yaml need not have
KEYS = set(Selection.__struct_fields__) - {"subset_sha256"} | EXECUTION_KEYS


class Chosen(Record, frozen=True, kw_only=True):
    """The selection of a run's last call: run.json in its results."""

    selection: Selection
    overrides: dict[str, Any]  # of config/run.yaml


def read_chosen(run: str) -> Chosen | None:
    """The selection of a run's last call; None if there was none, or the file has another format.

    The folder names the run: a copied folder is a run of its own.
    """
    try:
        chosen = msgspec.json.decode(Path(paths.Paths(run=run).selection).read_bytes(), type=Chosen)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return msgspec.structs.replace(chosen, selection=msgspec.structs.replace(chosen.selection, run=run))


def write_chosen(selection: Selection, overrides: Mapping[str, Any]) -> None:
    """Write a run's run.json, unless it is unchanged."""
    changes = {key: value for key, value in overrides.items() if key not in {"run", *EXECUTION_KEYS}}
    content = msgspec.json.format(canonical(Chosen(selection=selection, overrides=changes)), indent=1) + b"\n"
    write_changed(paths.Paths(run=selection.run).selection, content)


def read_selection(overrides: Mapping[str, Any]) -> tuple[Selection, Execution]:
    """The selection of config/run.yaml, a named run and `overrides` (the values of `--config`), and how it is executed.

    Raises PunchlineError naming the file, or --config, and the key.
    """
    run, of_file = named_run(overrides)
    of_run = f"{RUNS}/{run}.yaml"

    def where(key: str) -> str:
        return "--config" if key in overrides else of_run if key in of_file else RUN

    check_without_secrets(overrides, "--config", whole=False)
    check_without_secrets(of_file, of_run)
    overrides = {**of_file, **{key: value for key, value in overrides.items() if key != "run"}}
    default = _default_corpus()  # checked even if overridden
    corpus = default if overrides.get("corpus") is None else str(overrides["corpus"])
    check_name(corpus, stems(CORPORA), file=where("corpus"), key="corpus")
    merged = {**dict.fromkeys(OPTIONAL), "strict": False, **_composed(corpus)}
    for key in overrides:
        if key not in merged:
            valid = {*merged, "run", "pictures", "public"}  # the last two are the report's
            raise PunchlineError(f"unknown key {key!r}", file=where(key), hint=nearest(str(key), valid))
    check_without_secrets(merged, RUN, whole=False)
    merged |= {key: value for key, value in overrides.items() if key != "corpus"} | {"run": run}
    merged = {key: None if value in ("null", "none", "") else value for key, value in merged.items()}
    # Snakemake passes `strict=true` as a text.
    merged["strict"] = {"true": True, "false": False}.get(str(merged["strict"]).lower(), merged["strict"])
    hint = f"See the comments in {RUN}"
    execution = as_record({key: merged.pop(key) for key in Execution.__struct_fields__}, Execution, where, hint)
    _check_names(merged, where)
    merged["corpus"] = msgspec.to_builtins(_corpus(merged.get("corpus"), corpus))
    return as_record(merged, Selection, where, hint), execution


def named_run(overrides: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """(name of the run, its changes of config/run.yaml from config/runs/NAME.yaml). Raises PunchlineError.

    A run without such a file that is given by its name alone has the selection of its last call.
    """
    name = overrides.get("run")
    if name is None or name == DEFAULT_RUN:
        return DEFAULT_RUN, {}
    check_plain(name, "--config", "run", "run")
    file = f"{RUNS}/{name}.yaml"
    if Path(file).is_file():
        changes = read_yaml(file)
        for key in changes:
            check_known(key, KEYS - {"run"}, f"unknown key {key!r}", file=file)
        return name, changes
    if not set(overrides) <= {"run", *EXECUTION_KEYS}:
        return name, {}
    if (before := read_chosen(name)) is None:
        known = sorted({*stems(RUNS), *(path.name for path in Path(paths.RUNS[1]).glob("*") if path.is_dir())})
        what = f"no run {name!r}: it was never started, and there is no {file}"
        hint = f"{nearest(name, known)}. To start it: --config run={name} and the keys that it changes"
        raise PunchlineError(what, file="--config", field="run", hint=hint)
    return name, before.overrides


def _default_corpus() -> str:
    """The corpus named by config/run.yaml, whose keys are checked. Raises PunchlineError."""
    content = read_yaml(RUN)
    keys = {*KEYS, "defaults"} - {"run"}
    for key in content:
        check_known(key, keys, f"unknown key {key!r}", file=RUN)
    for key in sorted(keys - {"corpus", *OPTIONAL} - content.keys()):
        raise PunchlineError(f"the key {key!r} is missing", file=RUN, hint="Put its line back: git diff shows it")
    match content["defaults"]:
        case [{"corpus": str(name), **rest}, "_self_"] if not rest:
            return name
    what = "expected the name of a corpus, and after it _self_"
    raise PunchlineError(what, file=RUN, field="defaults", hint="Write `defaults: [corpus: demo, _self_]`")


def _composed(corpus: str) -> dict[str, Any]:
    """config/run.yaml with a corpus, composed by Hydra. Raises PunchlineError."""
    from hydra import compose, initialize_config_dir  # imported here: jobs receive a composed selection
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    read_yaml(f"{CORPORA}/{corpus}.yaml")
    try:
        with initialize_config_dir(config_dir=str(Path("config").absolute()), version_base=None):
            composed = OmegaConf.to_container(compose("run", [f"corpus={corpus}"]), resolve=True)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, OSError) as error:
        raise PunchlineError(" ".join(str(error).split()), file=RUN) from error
    assert isinstance(composed, dict)
    return {str(key): value for key, value in composed.items()}


def read_corpus(name: str) -> Corpus:
    """A corpus of config/corpus/. Raises PunchlineError."""
    return _corpus(read_yaml(f"{CORPORA}/{name}.yaml"), name)


def _corpus(content: Any, name: str) -> Corpus:
    """A checked corpus. Raises PunchlineError naming its file."""
    file = f"{CORPORA}/{name}.yaml"
    corpus = as_record(content or {}, Corpus, lambda _: file)
    if corpus.name != name:
        raise PunchlineError(f"expected the file's stem, {name!r}, got {corpus.name!r}", file=file, field="name")
    if not all(re.fullmatch(PLAIN_NAME, part) for part in corpus.raw.split("/")):
        hint = "Write a relative path, as data/raw; to store the files elsewhere, make it a symbolic link"
        raise PunchlineError(f"{corpus.raw!r} is no folder inside the project", file=file, field="raw", hint=hint)
    for benchmark in corpus.sources or {}:
        check_name(benchmark, folders(), file=file, key="sources")
    return corpus


def _check_names(merged: dict[str, Any], where: Callable[[str], str]) -> None:
    """Check every name in a selection and turn lists of names into lists. Raises PunchlineError for an unknown name."""
    if merged["benchmarks"] == "all":
        drawn = (merged["corpus"] or {}).get("drawn")  # the demo: benchmarks that have demo files
        merged["benchmarks"] = [n for n in benchmark_names() if not drawn or Path(paths.demo(n)).is_dir()]
    for key, folder in {"scorers": JUDGES, "benchmarks": None, "models": MODELS}.items():
        names = _names(merged[key], key, where(key)) if merged[key] or key != "scorers" else []
        valid, place = (stems(folder), f" (no such file in {folder}/)") if folder else (folders(), "")
        merged[key] = [check_name(name, valid, file=where(key), key=key, where=place) for name in names]
    for name in merged["models"]:
        check_plain(name, f"{MODELS}/{name}.yaml")
    merged["conditions"] = _conditions(merged["conditions"], merged["benchmarks"], where("conditions"))
    if merged["scoring"] is not None:
        check_name(str(merged["scoring"]), RULES, file=where("scoring"), key="scoring")
    for key in ("judge", "extractor"):
        if merged[key] is not None:
            _check_judge(str(merged[key]), where(key), key)
    if merged["extractor"] is None:
        del merged["extractor"]
    if merged["subset"] is not None:
        merged["subset_sha256"] = _subset_sha256(str(merged["subset"]), where("subset"))


def _names(value: object, key: str, file: str) -> list[str]:
    """A list of names from a list, one name, or `a,b`. Raises PunchlineError."""
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("[]").split(",") if part.strip()]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        what = f"expected a list of names, got {value!r}"
        raise PunchlineError(what, file=file, field=key, hint=f"Write {key}=[a,b]")
    repeated = sorted({name for name in value if value.count(name) > 1})
    if repeated:
        raise PunchlineError(f"named twice: {', '.join(repeated)}", file=file, field=key)
    return value


def _conditions(value: object, benchmarks: list[str], file: str) -> list[str]:
    """The default condition and the named ones that a benchmark has; `all` means its own. Raises PunchlineError."""
    known = list(dict.fromkeys(condition for name in benchmarks for condition in load(name).CONDITIONS))
    if value == "all":
        return known
    known = list(dict.fromkeys([*known, *(one for name in benchmarks for one in variants.conditions(load(name)))]))
    chosen = [check_name(name, known, file=file, key="conditions") for name in _names(value, "conditions", file)]
    return [name for name in known if name in (DEFAULT, *chosen)]


def folder_of_judge(name: str) -> str:
    """The folder of a judge's or extractor's card: config/judge/, or config/model/ for a model that is both."""
    return JUDGES if name in stems(JUDGES) else MODELS


def _check_judge(name: str, file: str, key: str) -> None:
    """Raise PunchlineError for an unknown judge or extractor, or a scorer in its place."""
    check_name(name, stems(JUDGES) + (stems(MODELS) if key == "extractor" else []), file=file, key=key)
    if read_card(name, folder_of_judge(name)).engine == "similarity":
        what = f"{name} is a scorer, which compares texts, and not a judge"
        raise PunchlineError(what, file=file, field=key, hint=f"Write scorers=[{name}]")


def _subset_sha256(subset: str, file: str) -> str:
    """sha256 of a subset's file. Raises PunchlineError for a missing file, or one without a column of ids."""
    if "{" in subset or "}" in subset:  # Snakemake takes them for a wildcard
        raise PunchlineError(f"braces in the file name {subset}", file=file, field="subset", hint="Rename the file")
    try:
        digest = sha256_file(subset)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        what = f"no such file: {subset}" if not Path(subset).exists() else f"{subset} cannot be read: {error}"
        hint = "Name a CSV with a column item_id or comic_id, relative to the project root"
        raise PunchlineError(what, file=file, field="subset", hint=hint) from error
    read_subset(subset)
    return digest


def read_subset(file: str) -> tuple[str, dict[str, int]]:
    """(name of the column, {id: line}) of a subset. Raises PunchlineError for another file or a repeated id."""
    content = Path(file).read_bytes()
    header = content.split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    column = "comic_id" if "comic_id" in header and "item_id" not in header else "item_id"
    lines: dict[str, int] = {}
    for line, cells in parse_csv(content, [column], file=file):
        item_id = cells[column].strip()
        if item_id in lines:
            what, hint = f"the id is repeated; it is in line {lines[item_id]} too", "Keep one of the two lines"
            raise PunchlineError(what, file=file, line=line, record=item_id, field=column, hint=hint)
        lines[item_id] = line
    return column, lines
