"""The real Snakefile on the demo corpus: what runs, what runs again, and what does not."""

import json
import re
import shutil
from pathlib import Path

import pytest

from .conftest import SMALL, TABLE
from .project import FAST, Project


def files(project: Project) -> dict[Path, bytes]:
    """Every file of the default run and of what runs share, but journals and this machine's cache."""
    return {path: path.read_bytes() for path in project.files() if not {"runs", "responses"} & {*path.parts}}


@pytest.fixture(scope="module")
def two_runs(small_run: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small run, and a run `two` of two of its comics. Do not change it: take a copy with `two`."""
    project = small_run.copied(tmp_path_factory.mktemp("two"))
    before, requests = files(project), project.journal_lines()
    project.snakemake(TABLE, config=f"run=two {FAST} limit=2")
    assert files(project) == before, "the default run is as it was"
    assert project.journal_lines() == requests, "two of six comics were asked about already"
    return project


@pytest.fixture
def two(two_runs: Project, tmp_path: Path) -> Project:
    return two_runs.copied(tmp_path / "p")


def test_more_items_ask_only_the_new_ones_and_print_jobs_without_the_selection(small: Project) -> None:
    before = small.journal_lines()
    output = small.snakemake(TABLE, config=f"{FAST} limit=8")
    assert "random on pixelhumor: 64 requests, 48 answered before, 16 to ask" in output
    assert output.count("the default run changes in place: limit: 6 → 8") == 1
    assert "answers of random" in output and re.search(r"^Job \d+: tables of pixelhumor: ", output, re.MULTILINE)
    assert "subset_sha256" not in output and max(map(len, output.split("\n"))) < 300
    assert output.count("data/") < 20, "no lists of files"
    assert small.audit(TABLE)["verdict"] == "equal"
    output = small.snakemake(TABLE, "-p", config=SMALL)
    assert "python scripts/stage.py prepare pixelhumor --threads 2 2>&1 | tee -i logs/prepare/pixelhumor.log" in output
    assert "subset_sha256" not in output
    assert small.journal_lines() == before + 2 * 2 * 8
    assert {row["n"] for row in small.rows(TABLE, kind="baseline", subset="all")} == {"6"}


def test_a_subset_is_followed_its_bytes_matter_and_its_name_is_no_command(small: Project) -> None:
    """A model's name that is one is refused: tests/test_config.py."""
    subset = "it's;touch$IFS$9RAN;.csv"
    ids = sorted(p.stem for p in (small.path / "data/images/demo/pixelhumor").glob("*.png"))
    (small.path / subset).write_text("comic_id\n" + "\n".join(ids[:3]) + "\n")
    small.snakemake(TABLE, config=f"{FAST} subset={subset}")
    assert {row["n"] for row in small.rows(TABLE, kind="baseline", subset=Path(subset).stem)} == {"3"}
    assert not (small.path / "RAN").exists()
    (small.path / subset).write_text("comic_id\nnobody_1\n")
    output = small.snakemake(TABLE, config=f"{FAST} subset={subset}", fails=True)
    assert f"{subset}, line 2, record nobody_1, field comic_id: no such item in this corpus" in output
    assert "Traceback" not in output


def test_a_named_run_lies_beside_the_default_one_and_asks_nothing_anew(two: Project) -> None:
    assert two.wanted(TABLE, config="run=two") == set(), "a run is remembered by its name"
    ours = two.rows("results/runs/two/table8.csv", kind="baseline", subset="all")
    assert {row["n"] for row in ours} == {"2"}
    assert two.audit("results/runs/two/table8.csv")["verdict"] == "equal"
    output = two.punchline("runs")
    assert "default" in output and "two" in output and "limit 2" in output and "limit 6" in output
    assert "table8 is" not in two.punchline("compare", "random", "reading-order", "--table", "table8", "--run", "two")
    (compared,) = json.loads(two.punchline("compare", "random", "two:random", "--json"))
    assert (compared["table"], compared["models"]) == ("table8", ["random", "two:random"])
    assert {(*one["n"], one["difference"]) for one in compared["differences"]} == {(2, 2, 0.0)}
    assert "no run 'nobody'" in two.punchline("compare", "random", "nobody:random", fails=True)
    assert "results/runs/two/table8.csv" in two.punchline("print", "table8"), "the run made last"
    assert "results/table8.csv" in two.punchline("print", "results/table8.csv")
    assert "Nothing to be done" in two.snakemake(TABLE, config=SMALL)
    assert "results/table8.csv" in two.punchline("print", "table8")


def test_a_run_of_a_file_hides_no_other_when_its_card_is_gone(small: Project) -> None:
    card, file = small.path / "config/model/mine.yaml", small.path / "config/runs/three.yaml"
    card.write_text((small.path / "config/model/reading-order.yaml").read_text())
    file.write_text("models: [mine]\nlimit: 3\n")
    small.snakemake(TABLE, config="run=three")
    (ours,) = small.rows("results/runs/three/table8.csv", kind="baseline", subset="all")
    assert (ours["model"], ours["n"]) == ("mine", "3")
    card.unlink()
    output = small.punchline("runs", fails=True)
    assert re.search(r"^default +.* of \d+", output, re.M) and re.search(r"^three +.*not known", output, re.M)
    assert "three: config/model/mine.yaml: unknown model 'mine'" in output
    file.write_text("modles: [reading-order]\n")
    output = small.snakemake("-n", config="run=three", fails=True)
    assert "config/runs/three.yaml: unknown key 'modles'" in output and "Traceback" not in output


def test_a_run_called_by_its_name_stays_what_it_was(two: Project) -> None:
    two.punchline("retry", "run=two")
    assert "changes in place" not in two.snakemake("results/pixelhumor/table2.csv", config="run=two")
    result = json.loads((two.path / "results/runs/two/run.json").read_text())
    assert result["overrides"] == {"limit": 2, "models": ["random", "reading-order"]}
    output = two.snakemake("-n", TABLE, config=f"run=two {FAST} limit=3")
    other = two.snakemake("-n", "results/runs/two/table8.csv", fails=True)
    assert other.strip().endswith("results/runs/two/table8.csv belongs to the run two. Add --config run=two")
    assert "the two run changes in place: limit: 2 → 3 (to keep it, give the new one another name)" in output


def test_two_wordings_of_a_prompt_are_compared(small: Project) -> None:
    """The default run's scores were made before the prompt was edited; they are as they were made, and that counts."""
    prompt = "src/punchline/benchmarks/pixelhumor/prompts/Q7.txt"
    old = (small.path / prompt).read_text().splitlines()[-1]
    small.edit(prompt, old, f"{old} Think twice.")
    small.snakemake("results/runs/words/table8.csv", config=f"run=words {SMALL}")
    output = " ".join(small.punchline("compare", "reading-order", "words:reading-order").split())
    assert "reading-order are compared as they were made: benchmarks/pixelhumor/prompts/Q7.txt changed" in output
    assert re.search(r'asked otherwise: Q7: "\S+ \S+" → "\S+ \S+ Think twice\."', output), output
    assert "panel_acc" in output
    gold = small.path / "data/items/pixelhumor/gold.jsonl"
    gold.write_bytes(gold.read_bytes() + b"\n")
    output = small.punchline("compare", "reading-order", "words:reading-order", fails=True)
    assert "these scores were made before data/items/pixelhumor/gold.jsonl changed" in output


def test_a_copied_run_is_a_run_of_its_own(two: Project) -> None:
    for folder in ("data/runs", "results/runs"):
        shutil.copytree(two.path / folder / "two", two.path / folder / "copy")
    output = two.punchline("print", "results/runs/copy/table8.csv", fails=True)
    assert "the lineage of another table: pixelhumor table8 of the run two" in output
    table = two.path / "results/runs/copy/table8.csv"
    honest = table.read_bytes()
    table.unlink()
    assert re.search(r"^table8 .* absent", two.punchline("tables", "--run", "copy"), re.M)
    assert "tables pixelhumor" in two.wanted(TABLE, config="run=copy")
    two.snakemake(TABLE, config="run=copy")
    assert table.read_bytes() == honest
    assert re.search(r"^table8 .* current", two.punchline("tables", "--run", "copy"), re.M)
    assert two.audit("results/runs/copy/table8.csv")["verdict"] == "equal"
    assert two.wanted(TABLE, config="run=copy") == two.wanted(TABLE, config="run=two") == set()


def test_looking_changes_nothing(small: Project) -> None:
    before = files(small)
    assert "requests to ask" in small.punchline("plan", "models=[random,prior]", "limit=3")
    for command in (["tables"], ["runs"], ["models"], ["benchmarks"], ["print", "table8"], ["audit", "table8"]):
        small.punchline(*command)
    output = small.snakemake("-n", TABLE, config=f"{FAST} limit=5")
    assert output.count("the default run changes in place: limit: 6 → 5") == 1
    output = small.snakemake("-n", "--cores", "7", TABLE, config=f"{SMALL} mirror=elsewhere")
    assert "Nothing to be done" in output and "changes in place" not in output
    assert files(small) == before
    assert not list((small.path / "data/runs").glob("*")) and not list((small.path / "results/runs").glob("*"))
