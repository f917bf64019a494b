"""What reruns: one change, what Snakemake then wants, what is really made, and how many questions are asked.

Wanted is what `snakemake -n` lists. A job that finds its artifact current when its turn comes keeps it and makes
nothing: made is what has a new record. The rows are the design's, and every way to be stale that was ever seen.
"""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.artifacts.project import Project as Artifacts
from punchline.config.selection import read_selection
from punchline.workflow import code
from punchline.workflow.provenance import Status

from .project import Project

MODELS = ("random", "echo")
SELECTION = {"benchmarks": "[pixelhumor, hummus, humorbench]", "models": "[random, echo]", "judge": "overlap"}
SELECTION |= {"scorers": "null", "limit": "3"}
BENCHMARKS = ("pixelhumor", "hummus", "humorbench")
LEADERBOARD, VERDICTS = "results/humorbench/leaderboard.csv", "data/responses/humorbench/judge/overlap.jsonl"
TITLE = ('"Hummus: classification, naming', '"Hummus: the classification, naming')


def choose(project: Project, **lines: str) -> None:
    """Change lines of config/run.yaml."""
    path = project.path / "config/run.yaml"
    text = path.read_text()
    for key, value in lines.items():
        text, count = re.subn(rf"^{key}:[^#\n]*", f"{key}: {value}  ", text, count=1, flags=re.MULTILINE)
        assert count == 1, key
    path.write_text(text)


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
    return base.copied(tmp_path / "p")


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


def reread(*benchmarks: str) -> set[str]:
    """Jobs after an edit of a reader: gold and the requests of judges are made with readers."""
    return of("prepare", *benchmarks) | JUDGED | rescored(*benchmarks)


def asked_anew(*benchmarks: str) -> set[str]:
    judged = JUDGED if "humorbench" in benchmarks else set()
    return RESPOND | judged | rescored(*benchmarks)


def asked_of(model: str) -> set[str]:
    """Changes that follow from one model's other answers."""
    return {f"respond {model} all", *JUDGED} | rescored(*BENCHMARKS, models=(model,))


def prepared(*benchmarks: str) -> set[str]:
    """What follows from other items, gold or requests."""
    return of("prepare", *benchmarks) | asked_anew(*benchmarks)


Edit = tuple[str, str, str]  # a file, a text in it, and what takes its place
Change = Edit | Callable[[Project], object]
BENCH = "src/punchline/benchmarks"
CARD = "config/model/random.yaml"
PRICE = "price: {input: 1, output: 1, date: 2026-01-01, source: here}\nengine:"
ANOTHER_BASELINE = (CARD, "baseline: random", "baseline: label-order")
PUBLISHED = "Qwen3-VL-32B,,image_bbox_precision,0.123"  # of Table 3
DAMAGED_AND_CHANGED = "a damaged list of pictures and a published value"
THRESHOLD = ("config/judge/overlap.yaml", "threshold: 0.3", "threshold: 0.0")
PROMPT_WORD = (f"{BENCH}/pixelhumor/prompts/Q6.txt", "in 3 sent", "in 4 sent")
JUDGE_PROMPT = f"{BENCH}/humorbench/prompts/judge/element.txt"


def set_to(**lines: str) -> Callable[[Project], object]:
    """A change of config/run.yaml."""
    return lambda project: choose(project, **lines)


def lost(file: str) -> Callable[[Project], object]:
    return lambda project: (project.path / file).unlink()


def published_value(project: Project) -> None:
    """Another value under an older time: what cp -p, rsync, unzip and a backup leave."""
    path = project.path / "config/published/hummus.csv"
    stat = path.stat()
    project.edit("config/published/hummus.csv", "Qwen3-VL-32B,,image_bbox_precision,0.59", PUBLISHED)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**12))


def other_jiwer(project: Project) -> None:
    """As if another jiwer had been installed when the scores were made."""
    for model in MODELS:
        project.edit(f"results/pixelhumor/scores/{model}.parquet.made.json", '"jiwer": "', '"jiwer": "0.')


# What can change no result.
WANT_NOTHING: dict[str, Change] = {
    "a comment in a benchmark's tables": (f"{BENCH}/humorbench/tables.py", "\n\n\n", "\n\n\n# A remark.\n"),
    "a docstring, the layout of a scorer": ("src/punchline/metrics/text.py", '"""', '"""Said otherwise.\n\n'),
    "a comment where records are": ("src/punchline/schema.py", "\n\n\n", "\n\n\n# A remark.\n\n"),
    "README, docs": ("README.md", "#", "##"),
    "a card that is not selected": ("config/model/ocr.yaml", "baseline: ocr", "baseline: random"),
    "a judge that is not selected": ("config/judge/gpt-4o.yaml", "engine: openai", "engine: vllm"),
    "a benchmark that is not selected": (f"{BENCH}/yesbut/scoring.py", '("rouge2",)', '("rouge1",)'),
    "a script's help": ("scripts/stage.py", '"""', '"""Well. '),
    "a card's note and licence": (CARD, "engine:", "note: A remark.\nlicence: none\nengine:"),
    "times only": lambda project: touch_all(project),
}
# (what changes, jobs that will or may run)
WANT_JOBS: dict[str, tuple[Change, set[str]]] = {
    "a table's title": ((f"{BENCH}/hummus/tables.yaml", *TITLE), rescored("hummus")),
    "a published value under an older time": (published_value, retabulated("hummus")),
    "a reader": (("src/punchline/read/metaphors.py", "PIECES = 8", "PIECES = 9"), reread(*BENCHMARKS)),
    "a scorer": (("src/punchline/metrics/ngrams.py", "\n\n\n", "\n\nSPARE = 1\n\n\n"), rescored(*BENCHMARKS)),
    "a prompt word": (PROMPT_WORD, prepared("pixelhumor")),
    "a judge's prompt": ((JUDGE_PROMPT, "You will receive", "You will now"), JUDGED | rescored("humorbench")),
    "a judge's threshold": (THRESHOLD, JUDGED | rescored("humorbench")),
    "the asked part of a card": (ANOTHER_BASELINE, asked_of("random")),
    "a card's price": ((CARD, "engine:", PRICE), retabulated("humorbench")),
    "a card's row in a paper": ((CARD, "engine:", "papers: {hummus: {row: R}}\nengine:"), retabulated("hummus")),
    "a caveat": ((CARD, "engine:", "caveat: It draws\nengine:"), retabulated(*BENCHMARKS)),
    "samples": (set_to(samples="2"), prepared(*BENCHMARKS)),
    "limit": (set_to(limit="4"), of("fetch", *BENCHMARKS) | prepared(*BENCHMARKS)),
    "another model": (set_to(models="[random, echo, prior]"), asked_of("prior")),
    "a model less": (set_to(models="[random]"), retabulated(*BENCHMARKS)),
    "a benchmark less": (set_to(benchmarks="[hummus, pixelhumor]"), {"overview"}),
    "scoring": (set_to(scoring="paper"), retabulated(*BENCHMARKS)),
    "the seed of a baseline that draws": (set_to(seed="1"), asked_of("random")),
    "a baseline's code": (
        (f"{BENCH}/hummus/baselines.py", "def ", "SPARE = 1\n\n\ndef "),
        {"respond random all"} | rescored("hummus"),
    ),
    "a deleted table": (lost("results/table8.md"), retabulated("pixelhumor")),
    "a deleted record": (
        lost("results/hummus/scores/random.parquet.made.json"),
        rescored("hummus", models=("random",)),
    ),
    "an edited demo label": (
        ("data/raw/demo/pixelhumor/objective_label.csv", "1, 2", "2, 1"),
        of("fetch", "pixelhumor") | prepared("pixelhumor"),
    ),
    "a damaged picture": (
        lambda p: damage(next(p.path.glob("data/images/demo/pixelhumor/*.png"))),
        prepared("pixelhumor"),
    ),
    DAMAGED_AND_CHANGED: (  # between the two lies what is current
        lambda p: [published_value(p), damage(p.path / "data/items/pixelhumor/pictures.jsonl")],
        prepared("pixelhumor") | retabulated("hummus"),
    ),
    "another version of a library that signs": (other_jiwer, rescored("pixelhumor")),
}


def make(project: Project, change: Change) -> None:
    if callable(change):
        change(project)
    else:
        project.edit(*change)


def touch_all(project: Project) -> None:
    for path in project.path.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            os.utime(path)


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8] + b"damaged.")


def pending(project: Project) -> set[str]:
    """The jobs that will or may run, as Snakemake is told of them, found without Snakemake."""

    def forget() -> None:
        code.parts.cache_clear()
        code._files.cache_clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.path)
        patch.setattr(code, "PACKAGE", project.path / "src/punchline")
        forget()
        artifacts, status = Artifacts(read_selection({})[0]), Status()
        result = {
            " ".join([rule, *names])
            for rule in RULES
            for names in artifacts.jobs(rule)
            if any(map(status.pending, artifacts.built_by(rule, *names)))
        }
    forget()
    return result


RULES = ("fetch", "prepare", "respond", "score", "tables", "overview")


def test_what_can_change_no_result_wants_nothing(project: Project) -> None:
    """All such changes at once, in a copy elsewhere; then without Snakemake's memory, as after rsync or restore."""
    for change in WANT_NOTHING.values():
        make(project, change)
    assert pending(project) == project.wanted() == set()
    shutil.rmtree(project.path / ".snakemake")
    shutil.rmtree(project.path / ".punchline")
    assert project.wanted(config="mirror=elsewhere") == set()
    choose(project, limit="2")
    assert "fetch hummus" in project.wanted()


@pytest.mark.parametrize("change", WANT_JOBS, ids=lambda change: change.replace(" ", "_"))
def test_what_a_change_wants(project: Project, change: str) -> None:
    how, expected = WANT_JOBS[change]
    make(project, how)
    assert pending(project) == expected
    if change in ("limit", "a deleted record", "an edited demo label", DAMAGED_AND_CHANGED):
        assert project.wanted() == expected, "Snakemake runs what is pending"


def test_a_prompt_word_a_threshold_and_a_label_ask_only_what_is_new(project: Project) -> None:
    """Hummus keeps items and labels in one file: what is asked is made again, found the same, and kept."""
    before, given = project.journal_lines(), (project.path / VERDICTS).read_bytes().count(b"\n")
    make(project, PROMPT_WORD)
    make(project, THRESHOLD)
    project.edit("data/demo/hummus/hummus_dataset.json", '"met_class": "Yes"', '"met_class": "WIDLII"')
    result = project.made()
    assert project.journal_lines() == before + 3 * len(MODELS) + given  # three comics, one question; all verdicts
    made = {"requests pixelhumor", "raw hummus", "gold hummus", "score humorbench echo"} | each("score", "hummus")
    assert result >= made | each("respond", "pixelhumor", "humorbench judge")
    left = {"requests hummus", "requests humorbench", "raw pixelhumor", "gold pixelhumor"}
    assert not result & (left | each("respond", "hummus", "humorbench"))
    assert float(project.rows(LEADERBOARD, model="echo")[0]["accuracy"]) == 1.0 and given == 3
    assert project.wanted() == set()
    assert project.audit(LEADERBOARD)["verdict"] == "equal"


def test_a_lost_journal_is_written_again_from_the_snapshots(project: Project) -> None:
    """Nobody is asked, no table is made again, and the audit finds the answers where they belong."""
    before = project.journal_lines()
    (project.path / "data/responses/pixelhumor/random.jsonl").unlink()
    (project.path / VERDICTS).unlink()
    assert project.audit("results/table8.csv")["verdict"] == "differs"
    assert {"respond random all", *JUDGED} <= project.wanted()
    assert project.made() == {"respond pixelhumor random"} | each("respond", "humorbench judge")
    assert project.journal_lines() == before
    assert project.wanted() == set()
    assert project.audit("results/table8.csv")["verdict"] == "equal"
    assert project.audit(LEADERBOARD)["verdict"] == "equal"


def test_a_hand_edited_table_is_never_shown(project: Project) -> None:
    project.edit("results/table8.csv", "random", "RANDOM")
    output = project.punchline("print", "results/table8.csv", fails=True)
    assert "results/table8.csv: the file is not the one that was made" in output and "Traceback" not in output
    assert project.audit("results/table8.csv")["verdict"] == "differs"
    assert "stale" in project.punchline("tables")
    project.snakemake("results/table8.csv")
    assert "random" in project.punchline("print", "results/table8.csv")
    assert project.audit("results/table8.csv")["verdict"] == "equal"


def test_edited_scores_are_never_compared(project: Project) -> None:
    scores = project.path / "results/pixelhumor/scores"
    shutil.copy(scores / "random.parquet", scores / "echo.parquet")
    output = project.punchline("compare", "random", "echo", "--table", "results/table8.csv", fails=True)
    assert "these scores are not those that were made" in output and "Traceback" not in output
