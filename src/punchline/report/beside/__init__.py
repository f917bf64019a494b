"""Two models, or one in two runs, on one page: paired differences, and the answers where they part side by side."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from punchline import __version__
from punchline.audit.compare import Comparison, closing_note, in_run, lines_of, shared_lines
from punchline.core.benchmark import DEFAULT
from punchline.core.files import write_bytes
from punchline.core.pages import templates
from punchline.core.records import Gold, Grade
from punchline.core.storage import Keyed, Stored
from punchline.project.needs import Project
from punchline.project.runs import made_with
from punchline.report.items import prompt
from punchline.report.shards import RIGHT, code, glance
from punchline.stages.ask import asked

MOST = 200  # answers of a benchmark on the page
LONGEST = 4_000  # characters of an answer or a question
WRONG = ("r", "u")  # a refused or unread answer that the rule scores
BEGINS = b"<!doctype html>\n<!-- punchline compare -->\n"  # such a page, and no other of ours
STYLE = Path(__file__).parent.parent / "site/static/report.css"
Key = tuple[str, str, str, int]  # item, task, condition, sample


@dataclass(frozen=True)
class Mark:
    """How right one answer is at a glance, and the responses that it was read from."""

    code: str
    scored: bool
    responses: tuple[str, ...]

    @property
    def share(self) -> int | None:
        """Of nine; None where it is in no denominator, or nothing says how right it is."""
        if self.code.isdigit():
            return int(self.code)
        return 0 if self.scored and self.code in WRONG else None


def marks(project: Project, benchmark: str, model: str, rule: str) -> dict[Key, Mark]:
    """Of all that a model was asked, under a rule."""
    golds = Keyed(project.paths.gold(benchmark), Gold)
    return {
        (grade.item_id, grade.task, grade.condition, grade.sample): Mark(
            code(benchmark, grade, golds[grade.item_id]), grade.scored, grade.responses
        )
        for grade in Stored(project.paths.grades(benchmark, model), Grade)
        if grade.rule == rule and (grade.responses or grade.state != "ok")
    }


def apart(a: Mapping[Key, Mark], b: Mapping[Key, Mark]) -> tuple[dict[str, Counter[str]], list[Key]]:
    """(counts by task of who is right, answers that lie more than RIGHT apart, the furthest first)."""
    counts: dict[str, Counter[str]] = {}
    parted: dict[Key, int] = {}
    for key, mark in a.items():
        ours, theirs = mark.share, b[key].share if key in b else None
        if ours is None or theirs is None:
            continue
        which = ("neither", "b", "a", "both")[2 * (ours > RIGHT) + (theirs > RIGHT)]
        counts.setdefault(_task(key), Counter())[which] += 1
        if abs(ours - theirs) > RIGHT:
            parted[key] = abs(ours - theirs)
    return counts, sorted(parted, key=lambda key: -parted[key])


def _task(key: Key) -> str:
    _, task, condition, sample = key
    return task + (f" ({condition})" if condition != DEFAULT else "") + (f", sample {sample + 1}" if sample else "")


def _texts(project: Project, benchmark: str, model: str, digests: Collection[str]) -> dict[str, tuple[str, str]]:
    """{digest of a response: (question, answer)} of some of a model's answers."""
    found = {}
    for request, response in asked(project, benchmark, model, chained=model in project.cards):
        if response.digest in digests:
            text = response.text if response.text is not None else f"{response.state}: {response.reason}"
            found[response.digest] = (_short(prompt(request)), _short(text))
    return found


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} more characters)"


def sheet(comparison: Comparison, project: Project, folder: Path) -> dict[str, Any]:
    """What the page says of one benchmark. `folder`: where the page will lie, for links into reports that are there."""
    of, placed = comparison.benchmark, [in_run(model, project) for model in comparison.models]
    marked = [marks(own, of, name, comparison.rule) for own, name in placed]
    counts, parted = apart(*marked)
    shown = parted[:MOST]
    texts = [
        _texts(own, of, name, {digest for key in shown for digest in found[key].responses})
        for (own, name), found in zip(placed, marked, strict=True)
    ]
    heads, rows = lines_of(comparison)
    return {
        "comparison": comparison,
        "heads": heads,
        "rows": rows,
        "notes": [*shared_lines(comparison), *comparison.notes, closing_note(comparison)],
        "counts": counts,
        "parted": f"{len(parted):,}",
        "apart": [
            _pair(key, comparison.models, marked, texts) | {"links": _links(key, of, placed, folder)} for key in shown
        ],
    }


def _pair(
    key: Key,
    models: Sequence[str],
    marked: Sequence[Mapping[Key, Mark]],
    texts: Sequence[Mapping[str, tuple[str, str]]],
) -> dict[str, Any]:
    """Both answers to one question."""
    answers, question = [], ""
    for name, marks_of, said in zip(models, marked, texts, strict=True):
        own = [said[digest] for digest in marks_of[key].responses if digest in said]
        look, word = glance(marks_of[key].code)
        answers.append({"name": name, "look": look, "word": word, "texts": [answer for _, answer in own]})
        question = question or "\n\n".join(asked_of for asked_of, _ in own)
    return {"item": key[0], "task": _task(key), "prompt": question, "answers": answers}


def _links(key: Key, benchmark: str, placed: Sequence[tuple[Project, str]], folder: Path) -> dict[str, str]:
    """{name: address} of the item's page in the report of each run that has one."""
    reports = {own.selection.run: Path(own.paths.report) / "item.html" for own, _ in placed}
    there = {run: os.path.relpath(page, folder) for run, page in reports.items() if page.is_file()}
    item = f"#{benchmark}/{quote(key[0], safe='')}"
    return {f"in the report of run {run}": quote(path) + item for run, path in there.items()}


def write_page(path: Path, made: Sequence[Comparison], refused: Sequence[str], run: str) -> None:
    """Comparisons of two models of a run, or named RUN:MODEL, as one page that needs no other file."""
    project = Project(made_with(run))
    style = STYLE.read_text(encoding="utf-8")
    text = (
        templates(Path(__file__).parent / "templates")
        .get_template("beside.html")
        .render(
            a=made[0].models[0],
            b=made[0].models[1],
            sheets=[sheet(one, project, path.parent) for one in made],
            refused=refused,
            style=style,
            style_hash="sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            version=__version__,
        )
    )
    write_bytes(path, BEGINS + text.encode())
