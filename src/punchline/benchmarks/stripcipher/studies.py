"""StripCipher's texts (section 4): prompts for drafts, their review as a study, and strips.json with accepted texts.

Models draft answers and distractors; raters choose one answer and three distractors and correct them. Only accepted
texts become items. docs/stripcipher.md has the commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.stripcipher import NAME, STRIPS
from punchline.benchmarks.stripcipher import REVIEWED as TASKS
from punchline.benchmarks.stripcipher.evaluation import offered
from punchline.benchmarks.stripcipher.strips import read_strips
from punchline.benchmarks.stripcipher.words import plain
from punchline.benchmarks.study import read_studies
from punchline.benchmarks.task import Task
from punchline.errors import check_known
from punchline.read import reasoning
from punchline.schema import Item, Request, Response

CONDITION = "draft"
ANSWER, DISTRACTOR, CATEGORY = "answer", "distractor", "category"
BOTH = "both"
DISTRACTORS = 3  # drafts of a distractor by one model

# Figure 9, with its misspelling, and figure 11 (both); line breaks as printed. The second prompt of comprehension is
# printed without its question: it gets that of the first prompt, as the second prompt of prediction has it.
PROMPTS = prompts(__package__, "draft")


class Draft(NamedTuple):
    """A drafted text."""

    item_id: str
    task: str
    kind: str  # ANSWER | DISTRACTOR
    text: str
    source: str  # the model


class Accepted(NamedTuple):
    """The accepted texts of one strip and task."""

    item_id: str
    task: str
    texts: tuple[str, ...]  # the answer and three distractors; none: the question stays as it is
    category: str = ""  # of the strip; "": it stays as it is


def draft_requests(item: Item) -> Iterator[Request]:
    """Requests for drafts of a strip's texts, with the prompts of figures 9 and 11; none for a strip without images.

    Their tasks: answer_<task>, distractor_<task> (DISTRACTORS samples), both.
    """
    if not item.images:
        return
    n = int(str(item.fields["frames"]))
    pictures = {
        "prediction": (*(f"frame{number}" for number in range(1, n - 1)), "masked", f"frame{n}"),
        "comprehension": ("page",),
        BOTH: ("page", f"frame{n - 1}"),
    }

    def ask(name: str) -> Request:
        task = Task(name, max_tokens=2048, condition=CONDITION, temperature=1.0)  # samples should differ
        return question(item, task, PROMPTS[name], pictures=pictures[name.partition("_")[2] or name])

    for task in TASKS:
        yield ask(f"{ANSWER}_{task}")
        distractor = ask(f"{DISTRACTOR}_{task}")
        yield from (replace(distractor, sample=sample) for sample in range(DISTRACTORS))
    yield ask(BOTH)


_PLACES = {"prediction": ("Options in Q1", "Right Answer 1"), "comprehension": ("Options in Q2", "Right Answer 2")}
_OPTION = re.compile(r"^[\s*_]{0,8}+([A-D])[.):][*_]{0,2}[ \t]{0,4}(\S[^\n]*)", re.MULTILINE)


def parse_both(answer: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """{task: (answer, distractors)} of an answer in figure 11's format, without tasks that have no right answer."""
    questions = {}
    for task, (start, end) in _PLACES.items():
        listed, ending, after = answer.partition(start)[2].partition(end)
        options: dict[str, str] = {}
        for letter, text in _OPTION.findall(start + listed):
            options.setdefault(letter, text.strip().strip("[]").strip())
        right = re.match(r"[\s:*_]{0,8}+([A-D])\b", after)
        if ending and right and right[1] in options:
            questions[task] = options.pop(right[1]), tuple(text for text in options.values() if text)
    return questions


def parse_drafts(requests: Sequence[Request], responses: Sequence[Response], model: str) -> list[Draft]:
    """Drafts in a model's responses to `draft_requests`, without reasoning, empty texts and repetitions."""
    drafts: dict[tuple[str, str, str], Draft] = {}
    for request, response in zip(requests, responses, strict=True):
        if response.state != "ok":
            continue
        answer = reasoning.remove(response.text or "").text
        kind, _, task = request.task.partition("_")
        texts = [(task, kind, answer)]
        if request.task == BOTH:
            both = parse_both(answer).items()
            texts = [(task, ANSWER, right) for task, (right, _) in both]
            texts += [(task, DISTRACTOR, text) for task, (_, wrong) in both for text in wrong]
        for task, kind, text in texts:
            if plain(text):
                draft = Draft(request.item_id, task, kind, " ".join(text.split()), model)
                drafts.setdefault((request.item_id, task, plain(text)), draft)
    return list(drafts.values())


def with_accepted(strips: bytes, accepted: Iterable[Accepted], file: str = STRIPS) -> str:
    """strips.json with accepted texts. Raises PunchlineError for an unknown strip and for texts that are refused."""
    known = {item_id: msgspec.to_builtins(strip) for item_id, strip in read_strips(strips).items()}
    for item_id, task, texts, category in accepted:
        check_known(item_id, known, "no such strip", file=file, record=item_id)
        reviewed = known[item_id]["texts"] = known[item_id]["texts"] or {}
        if category:
            reviewed["category"] = category
        if texts:
            reviewed[task] = (reviewed.get(task) or {}) | {"options": texts[:4], "answer": texts[0]}
    content = "[\n" + ",\n".join(msgspec.json.encode(strip).decode() for strip in known.values()) + "\n]\n"
    read_strips(content.encode())
    return content


STUDIES = read_studies(NAME, people={"offered": offered})
