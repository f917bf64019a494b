"""StripCipher's texts: drafts of models, a sheet on which people review them, and strips.json with what they accepted.

The paper's way (section 4): models draft answers and distractors, annotators choose one answer and three distractors
of the pool, correct them, and write their own where none will do. Only what people accepted becomes an item. Pure
functions; docs/stripcipher.md shows how they go together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.stripcipher import REVIEWED as TASKS
from punchline.benchmarks.stripcipher import STRIPS
from punchline.benchmarks.stripcipher.strips import CATEGORIES, Choice, Strip, Texts, read_strips
from punchline.benchmarks.stripcipher.words import plain
from punchline.benchmarks.task import Task
from punchline.errors import PunchlineError, nearest
from punchline.files import csv_text, parse_csv
from punchline.read import thoughts
from punchline.schema import Item, Request, Response
from punchline.tables.ratings import for_spreadsheet, from_spreadsheet

CONDITION = "draft"
KINDS = ("answer", "distractor")
CATEGORY = "category"
SHEET = ("item_id", "task", "kind", "text", "drafted_by", "use", "reviewer", "note")
USED = ("x", "yes", "1")

# Figure 9, the misspelling included, and figure 11 (both), line breaks where print has them. The second prompt of
# comprehension is printed without its question: the first one is put there, as in the second prompt of prediction.
PROMPTS = prompts(__package__, "draft")
BOTH = "both"

DISTRACTORS = 3  # drafts of a distractor that one model is asked for


class Draft(NamedTuple):
    """One text that a person may take."""

    item_id: str
    task: str
    kind: str  # answer | distractor
    text: str
    drafted_by: str


# ------------------------------------------------------------------------------------------------------------- drafts


def draft_requests(item: Item) -> list[Request]:
    """What a model is asked for drafts of one strip's texts: the prompts of figures 9 and 11.

    tasks: answer_<task>, distractor_<task> (DISTRACTORS samples), both. [] for a strip without pictures.
    """
    if not item.images:
        return []
    n = int(str(item.fields["frames"]))
    pictures = {
        "prediction": (*(f"frame{number}" for number in range(1, n - 1)), "masked", f"frame{n}"),
        "comprehension": ("page",),
        BOTH: ("page", f"frame{n - 1}"),
    }

    def ask(name: str) -> Request:
        task = Task(name, max_tokens=2048, condition=CONDITION, temperature=1.0)  # drafts are to differ
        return question(item, task, PROMPTS[name], pictures=pictures[name.partition("_")[2] or name])

    made = []
    for task in TASKS:
        made.append(ask(f"answer_{task}"))
        distractor = ask(f"distractor_{task}")
        made += [msgspec.structs.replace(distractor, sample=sample) for sample in range(DISTRACTORS)]
    return [*made, ask(BOTH)]


_PLACES = {"prediction": ("Options in Q1", "Right Answer 1"), "comprehension": ("Options in Q2", "Right Answer 2")}
_OPTION = re.compile(r"^[\s*_]{0,8}+([A-D])[.):][*_]{0,2}[ \t]{0,4}(\S[^\n]*)", re.MULTILINE)
_RIGHT = re.compile(r"[\s:*_]{0,8}+([A-D])\b")


def parse_both(answer: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """By task, (answer, distractors) of an answer in figure 11's format; a task that is not there is left out."""
    found = {}
    for task, (start, end) in _PLACES.items():
        at = answer.find(start)
        stop = answer.find(end, at) if at >= 0 else -1
        if stop < 0:
            continue
        options: dict[str, str] = {}
        for letter, text in _OPTION.findall(answer[at:stop]):
            options.setdefault(letter, text.strip().strip("[]").strip())
        right = _RIGHT.match(answer, stop + len(end))
        if right is not None and right[1] in options:
            found[task] = options.pop(right[1]), tuple(text for text in options.values() if text)
    return found


def drafts(requests: Sequence[Request], responses: Sequence[Response], drafted_by: str) -> list[Draft]:
    """The texts in a model's answers to draft_requests, one for one; without thoughts, and what is empty or twice."""
    made: dict[tuple[str, str, str], Draft] = {}

    def add(item_id: str, task: str, kind: str, text: str) -> None:
        text = " ".join(text.split())
        if plain(text):
            made.setdefault((item_id, task, plain(text)), Draft(item_id, task, kind, text, drafted_by))

    for request, response in zip(requests, responses, strict=True):
        if response.state != "ok":
            continue
        said = thoughts.off(response.text or "").text
        if request.task == BOTH:
            for task, (answer, others) in parse_both(said).items():
                add(request.item_id, task, "answer", answer)
                for text in others:
                    add(request.item_id, task, "distractor", text)
        else:
            kind, _, task = request.task.partition("_")
            add(request.item_id, task, kind, said)
    return list(made.values())


# -------------------------------------------------------------------------------------------------------------- sheet


def sheet(pool: Iterable[Draft]) -> str:
    """The review sheet as CSV: a row a draft, and a row a strip for its category.

    People put x into `use` for one answer and three distractors of a task, and their name into `reviewer`; they may
    change a text, its kind, and add rows. A row for the category takes one of CATEGORIES as its text.
    """
    by_item: dict[str, list[Draft]] = {}
    for draft in pool:
        by_item.setdefault(draft.item_id, []).append(draft)
    rows: list[dict[str, Any]] = []
    for item_id, own in by_item.items():
        own.sort(key=lambda draft: (TASKS.index(draft.task), KINDS.index(draft.kind)))
        rows += [{**draft._asdict(), "text": for_spreadsheet(draft.text)} for draft in own]
        rows.append({"item_id": item_id, "task": CATEGORY, "kind": CATEGORY, "note": "one of " + ", ".join(CATEGORIES)})
    return csv_text(SHEET, rows)


def reviewed(strips: bytes, review: bytes, file: str = "review.csv") -> str:
    """strips.json with the texts that people accepted on the sheet in place of its own.

    A task of which nothing is used stays as it is. Raises PunchlineError naming file, line and record for a strip that
    is not there, a used row without a reviewer, a task without exactly one answer and three different distractors, and
    an unknown category.
    """
    known = {strip.item_id: strip for strip in read_strips(strips)}
    used: dict[tuple[str, str], list[tuple[int, str, str]]] = {}  # (line, kind, text)
    for line, cells in parse_csv(review, SHEET, file=file):
        item_id, task, kind = (cells[name].strip() for name in ("item_id", "task", "kind"))
        use = cells["use"].strip().lower()
        if not use:
            continue

        def wrong(what: str, field: str, hint: str, at: int = line, record: str = item_id) -> PunchlineError:
            return PunchlineError(what, file=file, line=at, record=record, field=field, hint=hint)

        if use not in USED:
            raise wrong(f"{cells['use']!r} cannot be read", "use", "Put x for a text that is used, else nothing")
        if item_id not in known:
            raise wrong("no such strip", "item_id", nearest(item_id, known))
        if task not in (*TASKS, CATEGORY):
            raise wrong(f"unknown task {task!r}", "task", nearest(task, (*TASKS, CATEGORY)))
        if kind not in ((CATEGORY,) if task == CATEGORY else KINDS):
            raise wrong(f"unknown kind {kind!r}", "kind", nearest(kind, KINDS))
        if not cells["reviewer"].strip():
            raise wrong("nobody has reviewed it", "reviewer", "Who put the x writes a name or a sign there")
        text = from_spreadsheet(" ".join(cells["text"].split()))  # an option stands on one line
        if not plain(text):
            raise wrong("the text is empty", "text", "Write one, or take the x away")
        if task == CATEGORY and text not in CATEGORIES:
            raise wrong(f"unknown category {text!r}", "text", nearest(text, CATEGORIES))
        used.setdefault((item_id, task), []).append((line, kind, text))
    changed: dict[str, dict[str, Any]] = {}
    for (item_id, task), rows in used.items():
        changed.setdefault(item_id, {})[task] = _accepted(item_id, task, rows, known[item_id], file)
    made = []
    for item_id, strip in known.items():
        if item_id in changed:
            texts = msgspec.structs.replace(strip.texts or Texts(), **changed[item_id])
            strip = msgspec.structs.replace(strip, texts=texts)
        made.append(msgspec.json.encode(strip).decode())
    content = "[\n" + ",\n".join(made) + "\n]\n"
    read_strips(content.encode(), STRIPS)
    return content


def _accepted(item_id: str, task: str, rows: Sequence[tuple[int, str, str]], strip: Strip, file: str) -> Choice | str:
    """The question made of one task's used rows, or the category."""
    line = rows[0][0]
    if task == CATEGORY:
        if len(rows) > 1:
            raise PunchlineError("two categories are used", file=file, line=rows[1][0], record=item_id, field="use")
        return rows[0][2]
    answers = [text for _, kind, text in rows if kind == "answer"]
    others = [text for _, kind, text in rows if kind == "distractor"]
    if len(answers) != 1 or len(others) != 3 or len({plain(text) for text in (*answers, *others)}) != 4:
        raise PunchlineError(
            f"{len(answers)} answers and {len(others)} distractors are used for {task}",
            file=file,
            line=line,
            record=item_id,
            field="use",
            hint="A question needs one answer and three distractors, all different",
        )
    before = getattr(strip.texts, task, None)
    options = (answers[0], others[0], others[1], others[2])
    return Choice(question=before.question if before is not None else None, options=options, answer=answers[0])
