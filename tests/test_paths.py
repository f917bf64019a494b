"""Where things lie: no file of one run is a file, or a folder, of another's."""

import inspect
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import cases

from punchline import paths
from punchline.artifacts.project import SHARED, VALIDITY
from punchline.config.cards import PLAIN_NAME
from punchline.core import benchmark as benchmarks
from punchline.files import is_inside
from punchline.paths import DEFAULT_RUN, Paths, of_all_runs, record_of

OF_A_CORPUS = {"raw", "pictures"}  # by runs of one corpus
FOLDERS = {"data", "results", "logs", "report"}
ARGUMENTS = {
    "benchmark": ["pixelhumor", "yesbut"],
    "pass_": ["", "chained", "judge", "cosine"],
    "shard": ["all", "1-of-3", "12-of-12"],
    "respondent": ["m", "judge/m", "chained"],
    "model": ["m", "chained", "m.parquet", "m.parquet.made", "scores", "availability"],
    "name": ["table8.csv", "yesbut/table2.csv", "pixelhumor/annotators.csv"],
}


def views(of: Paths, arguments: dict[str, list[str]] = ARGUMENTS) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(method, arguments, path) of everything that is a run's own."""
    for name, member in inspect.getmembers(Paths):
        if name.startswith("_") or name in OF_A_CORPUS | FOLDERS or name in ("run", "raw_root"):
            continue
        if isinstance(member, property):
            yield name, (), getattr(of, name)
        elif inspect.isfunction(member):
            parameters = list(inspect.signature(member).parameters)[1:]
            for values in product(*(arguments[parameter] for parameter in parameters)):
                yield name, values, member(of, *values)


def shared(of: Paths, arguments: dict[str, list[str]] = ARGUMENTS) -> list[str]:
    """Files that runs share."""
    result = [of.raw(b, "fetch.jsonl") for b in arguments["benchmark"]]
    for benchmark, model in product(arguments["benchmark"], arguments["model"]):
        journals = [paths.journal(benchmark, model, pass_) for pass_ in arguments["pass_"]]
        result += [*journals, f"{of.pictures(benchmark)}/{model}.png"]
        result += [paths.shard_journal(journal, part) for journal in journals for part in arguments["shard"]]
        result += [paths.journal_lock(journal) for journal in journals]
        result.append(of.raw(benchmark, f"images/{model}.png"))
    return result + [paths.adapter(model) for model in arguments["model"]]


def check_apart(files: list[str]) -> None:
    """Each path is there once, and none is a folder of another."""
    assert sorted(set(files)) == sorted(files)
    folders = {path[:at] for path in files for at, letter in enumerate(path) if letter == "/"}
    assert not folders & set(files)


def test_each_named_run_has_two_folders() -> None:
    sought = "items gold fetch_log index requests responses responded scores table csv"
    assert {name for name, _, _ in views(Paths())} >= set(sought.split())
    for _, _, path in views(Paths(run="mine")):
        assert path.startswith(("data/runs/mine/", "results/runs/mine/"))
    for _, _, path in views(Paths()):
        assert path.startswith(("data/", "results/")) and "/runs/" not in path
    assert {Paths(run=name).logs for name in ("default", "a", "b")} == {"logs", "logs/runs/a", "logs/runs/b"}


def test_a_file_is_found_in_every_run_its_own_first(here: Path) -> None:
    default, *named = (Paths(run=name).responses("yesbut", "m", "judge") for name in (DEFAULT_RUN, "a", "b"))
    assert of_all_runs(default) == [default]
    for path in named:
        Path(path).parent.mkdir(parents=True)
    assert of_all_runs(default) == [default, *named]
    assert of_all_runs(named[1]) == [named[1], default, named[0]]


NAMES = st.from_regex(PLAIN_NAME, fullmatch=True)


@given(st.lists(NAMES.filter(lambda name: name != DEFAULT_RUN), min_size=2, max_size=3, unique=True), NAMES, NAMES)
@example(["runs", "items", "responses", "requests", "results", "data"], "m", "m")
@example([*benchmarks.names(), "raw", "images", "demo"], "m", "m")
@example(["a", "a.b", "a-", "A", "0", "default.0", "a.made.json", "run.json"], "m", "m")
def test_no_path_of_a_run_is_anothers(runs: list[str], model: str, other: str) -> None:
    arguments = ARGUMENTS | {"model": sorted({model, other})}
    files = [path for run in [DEFAULT_RUN, *runs] for _, _, path in views(Paths(run=run), arguments)]
    files += [record_of(path) for path in files]
    check_apart(files + shared(Paths(), arguments))


def test_what_runs_share_hangs_on_the_corpus_only() -> None:
    one, other = Paths("data/raw/demo", "a"), Paths("data/raw/demo", "b")
    for name in OF_A_CORPUS:
        assert getattr(one, name)("yesbut") == getattr(other, name)("yesbut")
        assert getattr(one, name)("yesbut") != getattr(Paths("data/raw", "a"), name)("yesbut")
    assert Paths("data/raw").pictures("yesbut") == "data/images/yesbut"
    assert one.pictures("yesbut") == "data/images/demo/yesbut"
    assert one.raw("yesbut", "a.csv") == "data/raw/demo/yesbut/a.csv"


def test_every_table_of_every_benchmark_has_its_own_place() -> None:
    files = [Paths().table(spec.file) for name in benchmarks.names() for spec in benchmarks.load(name).TABLES.values()]
    paths = [file.removesuffix(".csv") + end for file in files for end in (".csv", ".md", ".tex", ".lineage.json")]
    own = ("unread", "ranks", "availability", "shortcuts", *VALIDITY)
    paths += [Paths().csv(name, benchmark) for name in own for benchmark in benchmarks.names()]
    paths += [Paths().csv(name) for name in ("cost", "plan", "discrepancies", "metrics", *SHARED)]
    arguments = ARGUMENTS | {"benchmark": benchmarks.names(), "name": []}
    paths += [path for _, _, path in views(Paths(), arguments)]
    check_apart([*paths, *map(record_of, paths)])


@pytest.mark.parametrize(("path", "inside"), cases(__file__, "paths"))
def test_a_path_of_a_list_stays_in_its_folder(path: str, inside: bool, tmp_path: Path) -> None:
    (tmp_path / "folder/a").mkdir(parents=True)
    (tmp_path / "folder/link").symlink_to("a")
    (tmp_path / "folder/out").symlink_to(tmp_path)
    assert is_inside(path, tmp_path / "folder") is inside
