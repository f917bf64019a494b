"""What reruns: one change, what Snakemake then wants, what is really made, and how many questions are asked.

Wanted is what `snakemake -n` lists. A job that finds its artefact current when its turn comes keeps it and makes
nothing: made is what has a new record. The rows are the design's, and every way to be stale that was ever seen.
"""

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.artifacts.project import Project as Artifacts
from punchline.config.selection import read_selection
from punchline.workflow import code
from punchline.workflow.provenance import Status

from .project import Project

pytestmark = pytest.mark.e2e

MODELS = ("random", "label-order")
SELECTION = {
    "benchmarks": "[pixelhumor, hummus, humorbench]",
    "models": "[random, label-order]",
    "judge": "overlap",
    "scorers": "null",
    "limit": "3",
}
BENCHMARKS = ("pixelhumor", "hummus", "humorbench")
TITLE = ('"Hummus: classification, naming', '"Hummus: the classification, naming')


def choose(project: Project, **lines: str) -> None:
    """Change lines of config/run.yaml."""
    path = project.path / "config/run.yaml"
    text = path.read_text()
    for key, value in lines.items():
        text, count = re.subn(rf"^{key}:[^#\n]*", f"{key}: {value}  ", text, count=1, flags=re.MULTILINE)
        assert count == 1, key
    path.write_text(text)


def edit(project: Project, file: str, old: str, new: str) -> None:
    path = project.path / file
    text = path.read_text()
    assert old in text, f"{file} has no {old!r}"
    path.write_text(text.replace(old, new, 1))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Everything of three benchmarks, made. Take a copy."""
    project = Project.copy(tmp_path_factory.mktemp("base"))
    choose(project, **SELECTION)
    project.snakemake()
    assert project.wanted() == set()
    return project


@pytest.fixture
def project(base: Project, tmp_path: Path) -> Project:
    """A copy of it, times kept, to do anything with."""
    shutil.copytree(base.path, tmp_path / "p", symlinks=True)
    return Project(tmp_path / "p")


def each(rule: str, *benchmarks: str, models: tuple[str, ...] = MODELS) -> set[str]:
    return {f"{rule} {benchmark} {model}" for benchmark in benchmarks for model in models}


def of(rule: str, *benchmarks: str) -> set[str]:
    return {f"{rule} {benchmark}" for benchmark in benchmarks}


JUDGED = {"respond judge/overlap all"}
RESPOND = {f"respond {model} all" for model in MODELS}


def rescored(*benchmarks: str, models: tuple[str, ...] = MODELS) -> set[str]:
    """What follows from other answers, readers or metrics."""
    return each("score", *benchmarks, models=models) | retabulated(*benchmarks)


def retabulated(*benchmarks: str) -> set[str]:
    """What follows from other tables."""
    return of("tables", *benchmarks) | {"overview"}


def asked_anew(*benchmarks: str) -> set[str]:
    judged = JUDGED if "humorbench" in benchmarks else set()
    return RESPOND | judged | rescored(*benchmarks)


def prepared(*benchmarks: str) -> set[str]:
    """What follows from other items, gold or requests."""
    return of("prepare", *benchmarks) | asked_anew(*benchmarks)


Change = Callable[[Project], None]

# (what changes, jobs that will or may run). What can change no result wants nothing.
CHANGES: dict[str, tuple[Change, set[str]]] = {
    "a comment in a benchmark's tables": (
        lambda p: edit(p, "src/punchline/benchmarks/humorbench/tables.py", "\n\n\n", "\n\n\n# A remark.\n"),
        set(),
    ),
    "a docstring, the layout of a scorer": (
        lambda p: edit(p, "src/punchline/metrics/text.py", '"""', '"""Said otherwise.\n\n'),
        set(),
    ),
    "a comment where records are": (
        lambda p: edit(p, "src/punchline/schema.py", "\n\n\n", "\n\n\n# A remark.\n\n"),
        set(),
    ),
    "README, docs": (lambda p: edit(p, "README.md", "#", "##"), set()),
    "a card that is not selected": (
        lambda p: edit(p, "config/model/ocr.yaml", "baseline: ocr", "baseline: random"),
        set(),
    ),
    "a judge that is not selected": (
        lambda p: edit(p, "config/judge/gpt-4o.yaml", "engine: openai", "engine: vllm"),
        set(),
    ),
    "a benchmark that is not selected": (
        lambda p: edit(p, "src/punchline/benchmarks/yesbut/scoring.py", '("rouge2",)', '("rouge1",)'),
        set(),
    ),
    "a script's help": (lambda p: edit(p, "scripts/stage.py", '"""', '"""Well. '), set()),
    "a table's title": (
        lambda p: edit(p, "src/punchline/benchmarks/hummus/tables.yaml", *TITLE),
        retabulated("hummus"),
    ),
    "a published value": (
        lambda p: edit(p, "config/published/hummus.csv", *published_value("hummus", "table3")),
        retabulated("hummus"),
    ),
    "a reader": (
        lambda p: edit(p, "src/punchline/read/metaphors.py", "PIECES = 8", "PIECES = 9"),
        rescored("hummus"),
    ),
    "a scorer": (
        lambda p: edit(p, "src/punchline/metrics/ngrams.py", "\n\n\n", "\n\nSPARE = 1\n\n\n"),
        rescored("hummus"),
    ),
    "a prompt word": (
        lambda p: edit(p, "src/punchline/benchmarks/pixelhumor/prompts/Q6.txt", "in 3 sentences.", "in 4 sentences."),
        prepared("pixelhumor"),
    ),
    "a judge's prompt": (
        lambda p: edit(
            p,
            "src/punchline/benchmarks/humorbench/prompts/judge/element.txt",
            "You will receive",
            "You will now receive",
        ),
        JUDGED | rescored("humorbench"),
    ),
    "the asked part of a card": (
        lambda p: (
            (p.path / "config/model/label-order.yaml").write_text("engine: baselines\nbaseline: reading-order\n")
            and None
        ),
        {"respond label-order all", *JUDGED} | rescored(*BENCHMARKS, models=("label-order",)),
    ),
    "a card's note and licence": (
        lambda p: edit(p, "config/model/random.yaml", "engine:", "note: A remark.\nlicence: none\nengine:"),
        set(),
    ),
    "a card's price": (
        lambda p: edit(
            p,
            "config/model/random.yaml",
            "engine:",
            "price: {input: 1, output: 1, date: 2026-01-01, source: here}\nengine:",
        ),
        retabulated("humorbench"),
    ),
    "a card's row in a paper": (
        lambda p: edit(p, "config/model/random.yaml", "engine:", "papers: {hummus: {row: Random}}\nengine:"),
        retabulated("hummus"),
    ),
    "a caveat": (
        lambda p: edit(p, "config/model/random.yaml", "engine:", "caveat: It draws\nengine:"),
        retabulated(*BENCHMARKS),
    ),
    "samples": (lambda p: choose(p, samples="2"), prepared(*BENCHMARKS)),
    "limit": (
        lambda p: choose(p, limit="4"),
        of("fetch", *BENCHMARKS) | prepared(*BENCHMARKS),
    ),
    "another model": (
        lambda p: choose(p, models="[random, label-order, prior]"),
        {"respond prior all", *JUDGED} | rescored(*BENCHMARKS, models=("prior",)),
    ),
    "a model less": (
        lambda p: choose(p, models="[random]"),
        retabulated(*BENCHMARKS),
    ),
    "a benchmark less": (lambda p: choose(p, benchmarks="[hummus, pixelhumor]"), {"overview"}),
    "scoring": (lambda p: choose(p, scoring="paper"), retabulated(*BENCHMARKS)),
    "the seed of a baseline that draws": (
        lambda p: choose(p, seed="1"),
        {"respond random all", *JUDGED} | rescored(*BENCHMARKS, models=("random",)),
    ),
    "a baseline's code": (
        lambda p: edit(p, "src/punchline/benchmarks/hummus/baselines.py", "def ", "SPARE = 1\n\n\ndef "),
        RESPOND | rescored("hummus"),
    ),
    "times only": (lambda p: touch_all(p), set()),
    "a deleted table": (lambda p: (p.path / "results/table8.md").unlink(), retabulated("pixelhumor")),
    "a deleted record": (
        lambda p: (p.path / "results/hummus/scores/random.parquet.made.json").unlink(),
        rescored("hummus", models=("random",)),
    ),
    "a table changed by hand": (
        lambda p: edit(p, "results/hummus/table2.csv", "random", "RANDOM"),
        retabulated("hummus"),
    ),
    "a lost lineage": (
        lambda p: (p.path / "results/table8.lineage.json").unlink(),
        retabulated("pixelhumor"),
    ),
    "an edited demo label": (
        lambda p: edit(p, "data/raw/demo/pixelhumor/objective_label.csv", "1, 2", "2, 1"),
        of("fetch", "pixelhumor") | prepared("pixelhumor"),
    ),
    "a damaged picture": (lambda p: damage(first(p, "data/images/demo/pixelhumor/*.png")), prepared("pixelhumor")),
    "a published value under an older time": (
        lambda p: older(p, "config/published/hummus.csv", *published_value("hummus", "table3")),
        retabulated("hummus"),
    ),
}


def published_value(benchmark: str, table: str) -> tuple[str, str]:
    """(a line of the published values, the same with another value)."""
    from .project import ROOT

    with (ROOT / f"config/published/{benchmark}.csv").open(newline="") as file:
        text = file.read()
    lines = [line for line in text.split("\n") if f",{table}," in line]
    row = next(csv.reader([lines[0]]))
    assert row[1] == table
    return lines[0], lines[0].replace(f",{row[5]},", ",0.123,", 1)


def touch_all(project: Project) -> None:
    for path in project.path.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            os.utime(path)


def first(project: Project, pattern: str) -> Path:
    return sorted(project.path.glob(pattern))[0]


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8] + b"damaged.")


def older(project: Project, file: str, old: str, new: str) -> None:
    """Other bytes of the same time and, almost, the same size: what cp -p, rsync, unzip and a backup leave."""
    path = project.path / file
    stat = path.stat()
    edit(project, file, old, new)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**12))


def pending(project: Project) -> set[str]:
    """The jobs that will or may run, as Snakemake is told of them, found without Snakemake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.path)
        patch.setattr(code, "PACKAGE", project.path / "src/punchline")
        for cached in (code.parts, code.prompts, code._file, code._read):
            cached.cache_clear()
        artifacts, status = Artifacts(read_selection({})[0]), Status()
        jobs = [(rule, names) for rule in RULES for names in artifacts.jobs(rule)]
        found = {
            " ".join([rule, *names])
            for rule, names in jobs
            if any(map(status.pending, artifacts.built_by(rule, *names)))
        }
    for cached in (code.parts, code.prompts, code._file, code._read):
        cached.cache_clear()
    return found


RULES = ("fetch", "prepare", "respond", "score", "tables", "overview")
WANT_NOTHING = [change for change, (_, wanted) in CHANGES.items() if not wanted]
WANT_JOBS = [change for change in CHANGES if change not in WANT_NOTHING]


def test_what_can_change_no_result_wants_nothing(project: Project) -> None:
    """All such changes at once."""
    assert len(WANT_NOTHING) >= 10
    for change in WANT_NOTHING:
        CHANGES[change][0](project)
    assert pending(project) == project.wanted() == set()


@pytest.mark.parametrize("change", WANT_JOBS, ids=lambda change: change.replace(" ", "_"))
def test_what_a_change_wants(project: Project, change: str) -> None:
    make, expected = CHANGES[change]
    make(project)
    assert pending(project) == expected
    if change in ("a prompt word", "limit", "a deleted record", "an edited demo label"):
        assert project.wanted() == expected, "Snakemake runs what is pending"


def test_a_title_remakes_tables_and_asks_nobody(project: Project) -> None:
    before = project.journal_lines()
    edit(project, "src/punchline/benchmarks/hummus/tables.yaml", *TITLE)
    assert project.made() == {"tables hummus", "validity hummus", "overview", "shared"}
    assert project.journal_lines() == before
    assert project.wanted() == set()


def test_a_prompt_word_asks_that_question_again(project: Project) -> None:
    before = project.journal_lines()
    edit(project, "src/punchline/benchmarks/pixelhumor/prompts/Q6.txt", "in 3 sentences.", "in 4 sentences.")
    made = project.made()
    assert project.journal_lines() == before + 3 * len(MODELS)  # three comics, one question
    assert made >= {"requests pixelhumor"} | each("respond", "pixelhumor")
    assert not {step for step in made if "hummus" in step or "humorbench" in step}
    assert project.wanted() == set()


def test_a_label_of_the_released_file_asks_nobody(project: Project) -> None:
    """Hummus keeps items and labels in one file: what is asked is made again, found the same, and kept."""
    before = project.journal_lines()
    edit(project, "data/demo/hummus/hummus_dataset.json", '"met_class": "Yes"', '"met_class": "WIDLII"')
    wanted = project.wanted()
    assert {"fetch hummus", "prepare hummus", *RESPOND} <= wanted
    made = project.made()
    assert project.journal_lines() == before
    assert {"raw hummus", "gold hummus"} | each("score", "hummus") <= made
    assert not {step for step in made if step.startswith(("requests", "respond"))}
    assert not {step for step in made if "pixelhumor" in step}


def test_a_lost_journal_is_written_again_from_the_snapshots(project: Project) -> None:
    """Nobody is asked, no table is made again, and the audit finds the answers where they belong."""
    before = project.journal_lines()
    (project.path / "data/responses/pixelhumor/random.jsonl").unlink()
    (project.path / "data/responses/humorbench/judge/overlap.jsonl").unlink()
    assert project.audit("results/table8.csv")["verdict"] == "differs"
    assert {"respond random all", *JUDGED} <= project.wanted()
    assert project.made() == {"respond pixelhumor random"} | each("respond", "humorbench judge")
    assert project.journal_lines() == before
    assert project.wanted() == set()
    assert project.audit("results/table8.csv")["verdict"] == "equal"
    assert project.audit("results/humorbench/leaderboard.csv")["verdict"] == "equal"


def test_two_selections_in_turns_are_never_taken_for_each_other(project: Project) -> None:
    for limit, n in (("2", "2"), ("3", "3"), ("2", "2")):
        choose(project, limit=limit, benchmarks="[pixelhumor]")
        project.snakemake("results/table8.csv")
        with (project.path / "results/table8.csv").open(newline="") as file:
            ours = [row for row in csv.DictReader(file) if row["kind"] == "baseline" and row["subset"] == "all"]
        assert {row["n"] for row in ours} == {n}
        assert project.wanted("results/table8.csv") == set()


def test_a_hand_edited_table_is_never_shown(project: Project) -> None:
    edit(project, "results/table8.csv", "random", "RANDOM")
    said = project.punchline("print", "results/table8.csv", fails=True)
    assert "results/table8.csv: the file is not the one that was made" in said and "Traceback" not in said
    assert project.audit("results/table8.csv")["verdict"] == "differs"
    assert "stale" in project.punchline("tables")
    project.snakemake("results/table8.csv")
    assert "random" in project.punchline("print", "results/table8.csv")
    assert project.audit("results/table8.csv")["verdict"] == "equal"


def test_edited_scores_are_never_compared(project: Project) -> None:
    scores = project.path / "results/pixelhumor/scores"
    shutil.copy(scores / "random.parquet", scores / "label-order.parquet")
    said = project.punchline("compare", "random", "label-order", "--table", "results/table8.csv", fails=True)
    assert "these scores are not those that were made" in said and "Traceback" not in said


def test_an_input_that_changes_while_a_job_runs_is_noticed(project: Project) -> None:
    """The job fails and says which file; the next run makes it of the new bytes."""
    choose(project, limit="4")
    edit(
        project,
        "src/punchline/prepare.py",
        "golds(project, benchmark))\n",
        "golds(project, benchmark))\n"
        "    selected = Path(project.paths.selected(benchmark))\n"
        "    selected.write_bytes(selected.read_bytes() + b'\\n')\n",
    )
    said = project.snakemake("data/requests/hummus.parquet", fails=True)
    assert "data/items/hummus/selected.csv: the file changed while it was being read" in said
    assert "prepare hummus" in project.wanted("prepare_all")


def test_git_checkout_there_and_back_wants_nothing(project: Project) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project.path, env=project.environment, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    edit(project, "src/punchline/benchmarks/hummus/tables.yaml", *TITLE)
    git("commit", "-qam", "two")
    assert project.wanted() == retabulated("hummus")
    git("checkout", "-q", "main")
    assert project.wanted() == set()


def test_another_library_version_rescores_what_it_signs(project: Project) -> None:
    """As if another jiwer had been installed when the scores were made."""
    for model in MODELS:
        record = f"results/pixelhumor/scores/{model}.parquet.made.json"
        edit(project, record, '"jiwer": "', '"jiwer": "0.')
    assert project.wanted() == rescored("pixelhumor")


def test_what_lies_elsewhere_and_came_by_copy_is_current(project: Project, tmp_path: Path) -> None:
    """A copy without Snakemake's memory, all times new: rsync, unzip, restore."""
    shutil.rmtree(project.path / ".snakemake")
    shutil.rmtree(project.path / ".punchline")
    subprocess.run(["cp", "-r", str(project.path), str(tmp_path / "copy")], check=True)
    copy = Project(tmp_path / "copy")
    assert copy.wanted() == set()
    choose(copy, limit="2")
    assert "fetch hummus" in copy.wanted()
