"""The real Snakefile on the demo corpus: what runs, what runs again, and what does not."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from .conftest import SMALL, TABLE
from .project import FAST, Project

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("runs")]

AFTER_ASK = {"ask", "infer", "grade", "pixelhumor_table8"}


def rows(project: Project, table: str = TABLE) -> list[dict[str, str]]:
    with (project.path / table).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_the_columns_that_scripts_rely_on(small_run: Project) -> None:
    table = rows(small_run)
    columns = [
        "model",
        "kind",
        "scoring",
        "subset",
        "n",
        "n_missing",
        "n_failed",
        "n_refused",
        "n_unparsable",
        "panel_acc",
        "text_acc",
        "wer",
        "cer",
    ]
    assert set(columns) <= set(table[0])
    ours = [(r["model"], r["subset"]) for r in table if r["kind"] == "baseline"]
    assert ours == [(m, s) for m in ("random", "label-order", "reading-order") for s in ("all", "multi-panel")]
    assert {r["model"] for r in table if r["kind"] == "published"} >= {"GPT-4o", "Qwen2-VL-7B"}
    assert all(r["comparable"] == "no" for r in table if r["kind"] == "published")
    assert [r["n"] for r in table if r["subset"] == "all" and r["kind"] == "baseline"] == ["6"] * 3


def test_a_second_run_has_nothing_to_do(small: Project) -> None:
    assert small.to_run(TABLE, config=SMALL) == set()


def test_another_mirror_or_more_cores_rerun_nothing(small: Project) -> None:
    assert small.to_run(TABLE, config=f"{SMALL} mirror=elsewhere") == set()
    assert "Nothing to be done" in small.snakemake("-n", "--cores", "7", TABLE, config=SMALL)


def test_more_items_ask_only_the_new_ones(small: Project) -> None:
    before = small.journal_lines()
    said = small.snakemake(TABLE, config=f"{FAST} limit=8")
    assert "infer random on pixelhumor: 64 requests, 48 answered before, 16 to ask" in said
    assert small.journal_lines() == before + 3 * 2 * 8
    assert small.audit(TABLE)["verdict"] == "equal"
    small.snakemake(TABLE, config=SMALL)
    assert small.journal_lines() == before + 3 * 2 * 8


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("scripts/grade.py", "import argparse", "import argparse  # changed", {"grade", "pixelhumor_table8"}),
        (
            "rules/grade.smk",
            "python scripts/grade.py",
            "python -X dev scripts/grade.py",
            {"grade", "pixelhumor_table8"},
        ),
        ("config/published/pixelhumor.csv", "0.614", "0.615", {"pixelhumor_table8"}),
        ("src/punchline/stages/fetch/__init__.py", '"""', '"""\n', set()),
        ("config/model/ocr.yaml", "baseline: ocr", "baseline: reading-order", set()),
        ("README.md", "#", "##", set()),
    ],
)
def test_a_change_reruns_exactly_what_depends_on_it(
    small: Project, file: str, old: str, new: str, expected: set[str]
) -> None:
    edit(small.path / file, old, new)
    assert small.to_run(TABLE, config=SMALL) == expected


def test_a_changed_label_re_asks_nobody(small: Project) -> None:
    labels = small.path / "data/raw/demo/pixelhumor/objective_label.csv"
    text = labels.read_text()
    first = re.search(r'"(\d+(?:, \d+)+)"', text)
    assert first is not None
    labels.write_text(text.replace(first.group(0), '"' + ", ".join(reversed(first.group(1).split(", "))) + '"', 1))
    assert small.to_run(TABLE, config=SMALL) == {"gold", "grade", "pixelhumor_table8"}
    before = small.journal_lines()
    small.snakemake(TABLE, config=SMALL)
    assert small.journal_lines() == before


def test_a_changed_comic_is_asked_about_again_and_no_other(small: Project) -> None:
    import cv2

    comic = next(iter(sorted((small.path / "data/images/pixelhumor").glob("*.png"))))
    image = small.path / "data/raw/demo/pixelhumor/images" / comic.name
    pixels = cv2.imread(str(image))
    pixels[-1, -1] = 7
    cv2.imwrite(str(image), pixels)
    assert small.to_run(TABLE, config=SMALL) == {"pictures", "items", *AFTER_ASK}
    before = small.journal_lines()
    small.snakemake(TABLE, config=SMALL)
    assert small.journal_lines() == before + 3 * 8  # one comic, eight questions, three models


def test_a_changed_prompt_asks_that_question_again(small: Project) -> None:
    edit(small.path / "src/punchline/benchmarks/pixelhumor/ask.py", "in 3 sentences.", "in 4 sentences.")
    before = small.journal_lines()
    small.snakemake(TABLE, config=SMALL)
    assert small.journal_lines() == before + 3 * 6


def test_a_changed_model_reruns_that_model_alone(small: Project) -> None:
    (small.path / "config/model/label-order.yaml").write_text("engine: baselines\nbaseline: reading-order\n")
    said = small.snakemake("-n", TABLE, config=SMALL)
    assert re.findall(r"wildcards: model=([\w-]+)", said) == ["label-order"]
    assert small.to_run(TABLE, config=SMALL) == {"infer", "grade", "pixelhumor_table8"}


def test_another_scoring_re_asks_and_regrades_nobody(small: Project) -> None:
    assert small.to_run(TABLE, config=f"{SMALL} scoring=paper") == {"pixelhumor_table8"}
    small.snakemake(TABLE, config=f"{SMALL} scoring=paper")
    assert {r["scoring"] for r in rows(small) if r["kind"] == "baseline"} == {"paper"}


def test_a_subset_is_followed_and_its_bytes_matter(small: Project) -> None:
    ids = sorted(p.stem for p in (small.path / "data/images/pixelhumor").glob("*.png"))
    (small.path / "mine.csv").write_text("comic_id\n" + "\n".join(ids[:3]) + "\n")
    small.snakemake(TABLE, config=f"{FAST} subset=mine.csv")
    assert {r["n"] for r in rows(small) if r["subset"] == "all" and r["kind"] == "baseline"} == {"3"}
    (small.path / "mine.csv").write_text("comic_id\nnobody_1\n")
    said = small.snakemake(TABLE, config=f"{FAST} subset=mine.csv", fails=True)
    assert "mine.csv, line 2, record nobody_1, field comic_id: no such item in this corpus" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("modles=[ocr]", "unknown key 'modles'. Did you mean 'models'"),
        ("models=[orc]", "unknown models 'orc'"),
        ("scoring=strict", "unknown scoring 'strict'"),
        ("benchmarks=[pixelhumour]", "Did you mean 'pixelhumor'"),
    ],
)
def test_a_mistyped_selection_says_what_was_meant(small_run: Project, config: str, message: str) -> None:
    said = small_run.snakemake("-n", TABLE, config=config, fails=True)
    assert message in said
    assert "Traceback" not in said


def test_show_and_lists(small_run: Project) -> None:
    comic = sorted(p.stem for p in (small_run.path / "data/images/pixelhumor").glob("*.png"))[0]
    shown = small_run.punchline("show", comic)
    assert '"panel_sequence"' in shown and '"responses"' in shown and "reading-order" in shown
    assert "no item or request" in small_run.punchline("show", "nobody_1", fails=True)
    assert "results/table8.csv" in small_run.punchline("tables")
    assert "reading-order" in small_run.punchline("models")
    assert "pixelhumor" in small_run.punchline("benchmarks")
