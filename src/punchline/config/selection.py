"""The selection: config/run.yaml or a named run, overridden for one call, read and checked.

Every mistake is a PunchlineError that names the file, the key and the nearest valid names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml

from punchline import paths
from punchline.config.cards import (
    JUDGES,
    MODELS,
    PLAIN_NAME,
    check_names,
    check_plain,
    check_without_secrets,
    read_card,
    stems,
)
from punchline.config.yaml_files import read_yaml
from punchline.core import variants
from punchline.core.benchmark import DEFAULT, folders, load
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError, check_file, check_known, nearest
from punchline.files import as_record, parse_csv, sha256_file, write_changed
from punchline.paths import DEFAULT_RUN
from punchline.schema import Record, Rule, canonical

RUN = "config/run.yaml"
RUNS = "config/runs"
CORPORA = "config/corpus"
MAX_INT = 2**63 - 1


class Corpus(Record, frozen=True, kw_only=True):
    """One file of config/corpus/."""

    name: str
    # Folder of the published files, with one folder a benchmark.
    raw: Annotated[str, msgspec.Meta(pattern=f"^{PLAIN_NAME}(/{PLAIN_NAME})*\\Z", title="a folder inside the project")]
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
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
    run, of_run = named_run(overrides)
    of_project = read_yaml(RUN)
    sources = {
        RUN: (of_project, KEYS - {"run", "corpus"} | {"defaults"}),
        f"{RUNS}/{run}.yaml": (of_run, KEYS - {"run"}),
        "--config": (overrides, KEYS),
    }
    for file, (values, known) in sources.items():
        check_without_secrets(values, file)
        for key in values:
            check_known(key, known, f"unknown key {key!r}", file=file)

    def where(key: str) -> str:
        return next(file for file, (values, _) in reversed(sources.items()) if key in values or file == RUN)

    if corpus := overrides.get("corpus") or of_run.get("corpus"):
        check_names([corpus], stems(CORPORA), where("corpus"), "corpus")
    # config/run.yaml need not have the first two.
    merged = {"extractor": None, "max_cost": None, **_composed(corpus), **of_run, **overrides, "run": run}
    merged = {key: None if value in ("null", "none", "") else value for key, value in merged.items()}
    if "corpus" not in merged:
        raise PunchlineError("`defaults` names no corpus", file=RUN, hint="Write `- corpus: demo` there")
    merged["corpus"] = read_corpus(corpus or merged["corpus"]["name"])
    # Snakemake passes `strict=true` as a text.
    merged["strict"] = {"true": True, "false": False}.get(str(merged.get("strict")).lower(), merged.get("strict"))
    hint = f"See the comments in {RUN}"
    execution = as_record({key: merged.pop(key) for key in EXECUTION_KEYS & merged.keys()}, Execution, where, hint)
    _check_names(merged, where)
    return as_record(merged, Selection, where, hint), execution


def _composed(corpus: str | None) -> dict[str, Any]:
    """config/run.yaml with a corpus, by default its own, composed by Hydra. Raises PunchlineError."""
    from hydra import compose, initialize_config_dir  # imported here: jobs receive a composed selection
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    defaults = _default_corpora()
    for name in [corpus] if corpus else defaults:
        read_corpus(name)  # Hydra's own reader has no bounds
    try:
        with initialize_config_dir(config_dir=str(Path("config").absolute()), version_base=None):
            composed = OmegaConf.to_container(compose("run", [f"corpus={corpus}"] if corpus else []), resolve=True)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError, OSError, RecursionError) as error:
        raise PunchlineError(" ".join(str(error).split()), file=RUN) from error
    return {str(key): value for key, value in dict(composed).items()}  # type: ignore[arg-type]


def _default_corpora() -> list[str]:
    """The corpora that `defaults` of config/run.yaml names. Raises PunchlineError if it names anything else."""
    defaults = read_yaml(RUN).get("defaults") or []
    names = []
    for entry in defaults if isinstance(defaults, list) else [defaults]:
        if isinstance(entry, dict) and [*entry] == ["corpus"]:
            names += [entry["corpus"]] if entry["corpus"] is not None else []
        elif entry != "_self_":
            what = f"expected `- corpus: NAME` or `- _self_`, got {str(entry)[:100]!r}"
            raise PunchlineError(what, file=RUN, field="defaults")
    check_names(names, stems(CORPORA), RUN, "corpus")
    return names


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
        return name, read_yaml(file)
    if not set(overrides) <= {"run", *EXECUTION_KEYS}:
        return name, {}
    if (before := read_chosen(name)) is None:
        known = sorted({*stems(RUNS), *(path.name for path in Path(paths.RUNS[1]).glob("*") if path.is_dir())})
        what = f"no run {name!r}: it was never started, and there is no {file}"
        hint = f"{nearest(name, known)}. To start it: --config run={name} and the keys that it changes"
        raise PunchlineError(what, file="--config", field="run", hint=hint)
    return name, before.overrides


def read_corpus(name: str) -> Corpus:
    """A corpus of config/corpus/. Raises PunchlineError."""
    file = f"{CORPORA}/{name}.yaml"
    corpus = as_record(read_yaml(file), Corpus, lambda _: file)
    if corpus.name != name:
        raise PunchlineError(f"expected the file's stem, {name!r}, got {corpus.name!r}", file=file, field="name")
    check_names([*(corpus.sources or ())], folders(), file, "sources")
    return corpus


def _check_names(merged: dict[str, Any], where: Callable[[str], str]) -> None:
    """Check every name in a selection and turn lists of names into lists. Raises PunchlineError for an unknown name."""

    def names(key: str, valid: Sequence[str]) -> list[str]:
        value = merged.get(key)
        if isinstance(value, str):
            value = [part.strip() for part in value.strip("[]").split(",") if part.strip()]
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            raise PunchlineError(f"expected a list of names, as {key}=[a,b]", file=where(key), field=key)
        check_names(value, valid, where(key), key)
        return value

    if merged.get("benchmarks") == "all":  # of the demo: benchmarks that have demo files
        drawn = merged["corpus"].drawn
        merged["benchmarks"] = [n for n in benchmark_names() if not drawn or Path(paths.demo(n)).is_dir()]
    merged["benchmarks"] = names("benchmarks", folders())
    merged["models"] = names("models", stems(MODELS))
    for name in merged["models"]:
        check_plain(name, f"{MODELS}/{name}.yaml")
    merged["scorers"] = names("scorers", stems(JUDGES)) if merged.get("scorers") else []
    loaded = [load(name) for name in merged["benchmarks"]]
    known = dict.fromkeys(condition for benchmark in loaded for condition in benchmark.CONDITIONS)
    if merged.get("conditions") != "all":
        known |= dict.fromkeys(condition for benchmark in loaded for condition in variants.conditions(benchmark))
        chosen = names("conditions", [*known])
        known = dict.fromkeys(name for name in known if name in (DEFAULT, *chosen))
    merged["conditions"] = [*known]
    for key, valid in {"judge": stems(JUDGES), "extractor": [*stems(JUDGES), *stems(MODELS)]}.items():
        if (name := merged.get(key)) is not None:
            check_names([name], valid, where(key), key)
            if read_card(name, folder_of_judge(name)).engine == "similarity":
                raise PunchlineError(f"{name} is no judge: write scorers=[{name}]", file=where(key), field=key)
    if merged["extractor"] is None:
        del merged["extractor"]
    if (subset := merged.get("subset")) is not None:
        check_file(str(subset), "no such file", field="subset", hint="Name a CSV with a column item_id or comic_id")
        read_subset(str(subset))
        merged["subset_sha256"] = sha256_file(subset)


def folder_of_judge(name: str) -> str:
    """The folder of a judge's or extractor's card: config/judge/, or config/model/ for a model that is both."""
    return JUDGES if name in stems(JUDGES) else MODELS


def read_subset(file: str) -> tuple[str, dict[str, int]]:
    """(name of the column, {id: line}) of a subset. Raises PunchlineError for another file."""
    content = Path(file).read_bytes()
    header = content.split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    column = "comic_id" if "comic_id" in header and "item_id" not in header else "item_id"
    return column, {cells[column].strip(): line for line, cells in parse_csv(content, [column], file=file)}
