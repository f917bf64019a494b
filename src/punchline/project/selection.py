"""The selection (config/run.yaml, overridden for one call) and the model cards, read and checked.

Every mistake is a PunchlineError that names the file, the key and the nearest valid names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import yaml

from punchline.core import engine as engines
from punchline.core.benchmark import DEFAULT, load
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError, nearest
from punchline.core.files import sha256_file, write_bytes
from punchline.core.outside import PASSWORDS, secret_field, wildcard_field
from punchline.core.records import RULES, ModelCard, Record, Rule, canonical
from punchline.project import paths
from punchline.project.paths import DEFAULT_RUN
from punchline.project.yaml_files import read_yaml

RUN = "config/run.yaml"
RUNS = "config/runs"
MOST_SAMPLES = 10_000  # of a request: more is a slip of the keyboard
# Of a card: its words about itself are in no command; these options may hold braces (expressions, templates).
BRACES = ("note", "caveat", "gone", "licence", "extra_body", "chat_template_kwargs", "extra_args")


class Corpus(Record, frozen=True, kw_only=True):
    """One file of config/corpus/."""

    name: str
    raw: str  # folder of the published bytes; each benchmark has its own below
    drawn: bool  # whether the project draws it itself
    sources: dict[str, list[str]] | None = None  # benchmark: sources to keep; None keeps all


class Selection(Record, frozen=True, kw_only=True):
    """What one call evaluates."""

    run: str = DEFAULT_RUN
    corpus: Corpus
    benchmarks: list[str]
    models: list[str]
    judge: str | None
    scorers: list[str]
    conditions: list[str]
    subset: str | None
    subset_sha256: str | None = None  # of the subset's file: its content selects, not its name
    limit: int | None
    seed: int
    scoring: Rule | None
    samples: int


HOW = {"mirror", "shards"}  # how a run is made: no part of what is selected
KEYS = {field.name for field in msgspec.structs.fields(Selection)} - {"subset_sha256"} | HOW


class Making(NamedTuple):
    """What a run evaluates, and how it is made."""

    selection: Selection
    mirror: str | None = None
    shards: int | None = None  # jobs that ask each model and judge that computes or is called; None: as its card says


def stems(folder: str | Path) -> list[str]:
    """Names of the YAML files in a folder of config/."""
    return sorted(path.stem for path in Path(folder).glob("*.yaml") if path.is_file())


PLAIN_NAME = (
    "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"  # of a model, a corpus or a folder: it becomes a path and a word of a command
)


def _checked(value: str, valid: Sequence[str], *, file: str, key: str, way: str = "") -> str:
    if value not in valid:
        raise PunchlineError(f"unknown {key} {value!r}{way}", file=file, field=key, way_out=nearest(value, valid))
    return value


def _plain(name: str, file: str | Path) -> None:
    """Raises PunchlineError for a model whose name can be no part of a path and of a command."""
    if not re.fullmatch(PLAIN_NAME, name):
        raise PunchlineError(
            f"{name!r} can be no model's name",
            file=file,
            way_out="Rename the file: up to 100 letters, digits, dots, hyphens, underscores; a letter or digit first",
        )


C = TypeVar("C", bound=Record)


def as_record(value: Mapping[str, Any], kind: type[C], where: Callable[[str], str]) -> C:
    """Plain data as a record. Raises PunchlineError; `where` says which file a key stands in."""
    fields = msgspec.structs.fields(kind)
    for key in value:
        if key not in {field.name for field in fields}:
            valid = nearest(key, [field.name for field in fields])
            raise PunchlineError(f"unknown key {key!r}", file=where(key), way_out=valid)
    for field in fields:
        if field.required and field.name not in value:
            raise PunchlineError(f"the key {field.name!r} is missing", file=where(field.name))
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, at = str(error).partition(" - at `$.")
        key = at.rstrip("`")
        hint = get_type_hints(kind).get(key)
        words = get_args(hint) if get_origin(hint) is Literal else ()
        way_out = f"See the comments in {RUN}" if kind is Selection else None
        raise PunchlineError(
            what,
            file=where(key.split(".")[0].split("[")[0]),
            field=key,
            way_out=nearest(str(value[key]), words) if words else way_out,
        ) from error


def _composed(corpus: str | None) -> dict[str, Any]:
    """config/run.yaml with its corpus, or another one, put in by Hydra. Raises PunchlineError."""
    from hydra import compose, initialize_config_dir  # here: jobs get a selection that is composed
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    content = read_yaml(RUN)
    keys = {*KEYS, "defaults"} - {"run"}
    for key in content:
        if key not in keys:
            raise PunchlineError(f"unknown key {key!r}", file=RUN, way_out=nearest(key, keys))
    for key in sorted(keys - {*content, "corpus"}):
        raise PunchlineError(f"the key {key!r} is missing", file=RUN, way_out="Put its line back: git diff shows it")
    default = _default_corpus()  # checked, whatever takes its place
    name = corpus or default
    _checked(name, stems("config/corpus"), file=RUN, key="corpus")
    read_yaml(f"config/corpus/{name}.yaml")
    try:
        with initialize_config_dir(config_dir=str(Path("config").absolute()), version_base=None):
            made = compose(config_name="run", overrides=[f"corpus={corpus}"] if corpus else [])
            merged = OmegaConf.to_container(made, resolve=True)
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, OSError) as error:
        raise PunchlineError(" ".join(str(error).split()), file=RUN) from error
    assert isinstance(merged, dict)
    return {str(key): value for key, value in merged.items()}


def read_corpus(name: str) -> Corpus:
    """A corpus as config/corpus/ has it now. Raises PunchlineError."""
    return _corpus(read_yaml(f"config/corpus/{name}.yaml"), name)


def _corpus(content: Any, name: str) -> Corpus:
    """A checked corpus. Raises PunchlineError naming its file."""
    file = f"config/corpus/{name}.yaml"
    corpus = as_record(content or {}, Corpus, lambda _: file)
    if corpus.name != name:
        raise PunchlineError(f"expected the file's stem, {name!r}, got {corpus.name!r}", file=file, field="name")
    if not all(re.fullmatch(PLAIN_NAME, part) for part in corpus.raw.split("/")):
        raise PunchlineError(
            f"{corpus.raw!r} is no folder inside the project",
            file=file,
            field="raw",
            way_out="Write a relative path, as data/raw; to keep the files elsewhere, make it a symbolic link",
        )
    for benchmark in corpus.sources or {}:
        if benchmark not in benchmark_names():
            raise PunchlineError(
                f"unknown benchmark {benchmark!r}",
                file=file,
                field="sources",
                way_out=nearest(benchmark, benchmark_names()),
            )
    return corpus


def _names(value: object, key: str, file: str) -> list[str]:
    """A list of names; one name or `a,b` is taken for a list."""
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("[]").split(",") if part.strip()]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise PunchlineError(
            f"expected a list of names, got {value!r}", file=file, field=key, way_out=f"Write {key}=[a,b]"
        )
    repeated = sorted({name for name in value if value.count(name) > 1})
    if repeated:
        raise PunchlineError(f"named twice: {', '.join(repeated)}", file=file, field=key)
    return value


def named_run(overrides: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """(name of the run, what config/runs/NAME.yaml changes of config/run.yaml). Raises PunchlineError.

    A run without such a file that is asked for by its name alone is what it was when it was last made.
    """
    name = overrides.get("run")
    if name is None or name == DEFAULT_RUN:
        return DEFAULT_RUN, {}
    if not isinstance(name, str) or not re.fullmatch(PLAIN_NAME, name):
        raise PunchlineError(
            f"{name!r} can be no run's name",
            file="--config",
            field="run",
            way_out="Up to 100 letters, digits, dots, hyphens, underscores; a letter or digit first",
        )
    file = f"{RUNS}/{name}.yaml"
    if Path(file).is_file():
        own = read_yaml(file)
        for key in own:
            if key not in KEYS - {"run"}:
                raise PunchlineError(f"unknown key {key!r}", file=file, way_out=nearest(key, KEYS))
        return name, own
    if set(overrides) <= {"run", *HOW}:
        if (kept := chosen_before(name)) is None:
            known = sorted({*stems(RUNS), *(path.name for path in Path(paths.RUNS[1]).glob("*") if path.is_dir())})
            raise PunchlineError(
                f"no run {name!r}: it was never made, and there is no {file}",
                file="--config",
                field="run",
                way_out=f"{nearest(name, known)}. To make it: --config run={name} and what it changes",
            )
        return name, kept
    return name, {}


class Chosen(Record, frozen=True, kw_only=True):
    """What a run was last made with: run.json in its results."""

    selection: Selection
    overrides: dict[str, Any]  # of config/run.yaml


def chosen_before(run: str) -> dict[str, Any] | None:
    """The overrides that a run was last made with; None: it was never made."""
    chosen = read_chosen(run)
    return None if chosen is None else chosen.overrides


def read_chosen(run: str) -> Chosen | None:
    """What a run was last made with; None where it was never made, or not by this version."""
    try:
        return msgspec.json.decode(Path(paths.Paths(run=run).selection).read_bytes(), type=Chosen)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_chosen(selection: Selection, overrides: Mapping[str, Any]) -> None:
    """Keep what a run is made with."""
    kept = {key: value for key, value in overrides.items() if key not in {"run", *HOW}}
    chosen = Chosen(selection=selection, overrides=kept)
    content = msgspec.json.format(canonical(chosen), indent=1) + b"\n"
    path = Path(paths.Paths(run=selection.run).selection)
    if not path.is_file() or path.read_bytes() != content:
        write_bytes(path, content)


def read_selection(overrides: Mapping[str, Any]) -> Making:
    """The selection, and how the run is made, from config/run.yaml and `overrides` (what `--config` gave).

    Raises PunchlineError naming the file, or --config, and the key.
    """
    run, own = named_run(overrides)
    of_run = f"{RUNS}/{run}.yaml"

    def where(key: str) -> str:
        return "--config" if key in overrides else of_run if key in own else RUN

    _without_secrets(overrides, "--config")
    _without_secrets(own, of_run)
    overrides = {**own, **{key: value for key, value in overrides.items() if key != "run"}}
    chosen = overrides.get("corpus")
    if chosen is not None:
        _checked(str(chosen), stems("config/corpus"), file=where("corpus"), key="corpus")
    merged = _composed(None if chosen is None else str(chosen))
    merged.setdefault("shards", None)
    for key in overrides:
        if key not in merged:
            raise PunchlineError(f"unknown key {key!r}", file=where(key), way_out=nearest(str(key), merged))
    _without_secrets(merged, RUN)
    merged |= {key: value for key, value in overrides.items() if key != "corpus"} | {"run": run}
    merged = {key: None if value in ("null", "none", "") else value for key, value in merged.items()}

    mirror = merged.pop("mirror")
    if isinstance(mirror, (list, dict)):
        raise PunchlineError(
            f"expected one folder or URL, got {mirror!r}", file=where("mirror"), field="mirror", way_out="mirror=DIR"
        )
    shards = merged.pop("shards")
    if shards is not None and (type(shards) is not int or not 1 <= shards < 10_000):
        raise PunchlineError(f"expected a number of jobs, got {shards!r}", file=where("shards"), field="shards")
    _check_names(merged, where)
    corpus = merged.pop("corpus", None)
    stem = str(chosen) if chosen is not None else _default_corpus()
    selection = as_record({**merged, "corpus": msgspec.to_builtins(_corpus(corpus, stem))}, Selection, where)
    for key, least, end in (("limit", 1, 2**63), ("samples", 1, MOST_SAMPLES + 1), ("seed", 0, 2**63)):
        value = getattr(selection, key)
        if value is not None and not least <= value < end:
            less = "2^63" if end == 2**63 else f"{end:,}"
            expected = f"at least {least}" if value < least else f"less than {less}"
            raise PunchlineError(f"expected {expected}, got {value}", file=where(key), field=key)
    return Making(selection, str(mirror) if mirror is not None else None, shards)


def _check_names(merged: dict[str, Any], where: Callable[[str], str]) -> None:
    """Names in a selection, each checked and each list a list. Raises PunchlineError for one that nothing has."""
    if merged["benchmarks"] == "all":
        merged["benchmarks"] = list(benchmark_names())
    if merged["scorers"] in (None, []):
        merged["scorers"] = []
    else:
        merged["scorers"] = _names(merged["scorers"], "scorers", where("scorers"))
    for name in merged["scorers"]:
        way = " (no such file in config/judge/)"
        _checked(name, stems("config/judge"), file=where("scorers"), key="scorers", way=way)
    for key in ("benchmarks", "models"):
        merged[key] = _names(merged[key], key, where(key))
    for name in merged["benchmarks"]:
        _checked(name, benchmark_names(), file=where("benchmarks"), key="benchmarks")
    merged["conditions"] = _conditions(merged["conditions"], merged["benchmarks"], where("conditions"))
    for name in merged["models"]:
        way = " (no such file in config/model/)"
        _checked(name, stems("config/model"), file=where("models"), key="models", way=way)
        _plain(name, f"config/model/{name}.yaml")
    if merged["scoring"] is not None:
        _checked(str(merged["scoring"]), list(RULES), file=where("scoring"), key="scoring")
    if merged["judge"] is not None:
        _checked(str(merged["judge"]), stems("config/judge"), file=where("judge"), key="judge")
        if read_card(str(merged["judge"]), "config/judge").engine == "similarity":
            raise PunchlineError(
                f"{merged['judge']} compares texts and judges nothing",
                file=where("judge"),
                field="judge",
                way_out=f"Write scorers=[{merged['judge']}]",
            )
    if merged["subset"] is not None:
        merged["subset_sha256"] = _subset_sha256(str(merged["subset"]), where("subset"))


def _without_secrets(values: Mapping[str, Any], file: str, way_out: str = PASSWORDS) -> None:
    """Raises PunchlineError for an address with a password or a key: command lines, tables and logs would hold it."""
    if (field := secret_field(values)) is not None:
        raise PunchlineError(
            "an address with a user, a password or a key would be written to logs",
            file=file,
            field=field.split(".")[0] if file in (RUN, "--config") else field,
            way_out=way_out,
        )


def _conditions(value: object, names: list[str], file: str) -> list[str]:
    """What is asked: DEFAULT, and what of the benchmarks' other conditions is named; `all` names them all."""
    there = [condition for name in names for condition in load(name).CONDITIONS]
    there = list(dict.fromkeys(there))
    if value == "all":
        return there
    for name in (chosen := _names(value, "conditions", file)):
        _checked(name, there, file=file, key="conditions")
    return [name for name in there if name in (DEFAULT, *chosen)]


def _default_corpus() -> str:
    """The corpus that config/run.yaml names. Raises PunchlineError for a list of Hydra's that says anything else."""
    match read_yaml(RUN).get("defaults"):
        case [{"corpus": str(name), **rest}, "_self_"] if not rest:
            return name
    what = "expected the name of a corpus, and after it _self_"
    raise PunchlineError(what, file=RUN, field="defaults", way_out="Write `defaults: [corpus: demo, _self_]`")


def _subset_sha256(subset: str, file: str) -> str:
    """sha256 of the subset's file. Raises PunchlineError for one that is not there, or lists no items."""
    if "{" in subset or "}" in subset:  # Snakemake takes them for a wildcard
        raise PunchlineError(f"braces in the file name {subset}", file=file, field="subset", way_out="Rename the file")
    try:
        digest = sha256_file(subset)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        what = f"no such file: {subset}" if not Path(subset).exists() else f"{subset} cannot be read: {error}"
        raise PunchlineError(
            what,
            file=file,
            field="subset",
            way_out="Name a CSV with a column item_id or comic_id, relative to the project root",
        ) from error
    read_subset(subset)
    return digest


def read_subset(file: str) -> tuple[str, dict[str, int]]:
    """(name of the column, {id: line}) of a subset. Raises PunchlineError for another file, and an id that is there
    twice."""
    from punchline.core.storage import parse_csv  # here: tables of columns take time to import

    content = Path(file).read_bytes()
    header = content.split(b"\n", 1)[0].decode("utf-8-sig", "replace")
    column = "comic_id" if "comic_id" in header and "item_id" not in header else "item_id"
    wanted: dict[str, int] = {}
    for line, cells in parse_csv(content, [column], file=file):
        item_id = cells[column].strip()
        if item_id in wanted:
            raise PunchlineError(
                f"the id is there already, in line {wanted[item_id]}",
                file=file,
                line=line,
                record=item_id,
                field=column,
                way_out="Keep one of them",
            )
        wanted[item_id] = line
    return column, wanted


def read_card(name: str, folder: str | Path = "config/model") -> ModelCard:
    """A model card: <folder>/<name>.yaml. Raises PunchlineError with file and field."""
    file = Path(folder) / f"{name}.yaml"
    if name not in stems(file.parent):
        raise PunchlineError(f"unknown model {name!r}", file=file, way_out=nearest(name, stems(file.parent)))
    _plain(name, file)
    content = read_yaml(file)
    _without_secrets(content, str(file), "Name an environment variable by `api_key_env`; give the address without them")
    if (field := wildcard_field({key: value for key, value in content.items() if key not in BRACES})) is not None:
        raise PunchlineError(
            "a name in braces, which Snakemake takes for a wildcard",
            file=file,
            field=field,
            way_out="Write it without braces",
        )
    if not isinstance(content.get("engine"), str):
        raise PunchlineError(
            "expected a mapping with at least `engine`",
            file=file,
            way_out=f"engine: one of {', '.join(engines.names())}",
        )
    published_as = content.get("published_as")
    if published_as is not None and not isinstance(published_as, str):
        raise PunchlineError(f"expected the paper's row name, got {published_as!r}", file=file, field="published_as")
    known = {field.name for field in msgspec.structs.fields(ModelCard)} - {"name", "folder", "options"}
    options = {key: value for key, value in content.items() if key not in known}
    about = {key: value for key, value in content.items() if key in known}
    card = as_record(
        {**about, "name": name, "folder": Path(folder).as_posix(), "options": options}, ModelCard, lambda _: str(file)
    )
    for benchmark in card.papers:
        _checked(benchmark, benchmark_names(), file=str(file), key="benchmark")
    return card
