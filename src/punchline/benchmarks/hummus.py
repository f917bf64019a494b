"""Hummus: does a model see, name, locate and explain the metaphor in a captioned cartoon's humour?

Tong et al., "Hummus: A Dataset of Humorous Multimodal Metaphor Use" (2025, arXiv:2504.02983v3). Released files:
github.com/xiaoyuisrain/humorous-multimodal-metaphor-use at 0ea085e12cb83a210465021dd32aff23c7da3014. No scoring code is
released; the scripts that ask models are, and prompts, their order and the limits of tokens are theirs.

An item is one of 1,000 image-caption pairs, `nyc-combi-N`; a cluster is a contest, whose one image up to several
captions share. Labels come in two tables that differ on 13 pairs: rule `released` takes test_set.json, which the
released scripts read and which fits the published random baseline; rule `paper` takes met_class of hummus_dataset.json.
Yes and WIDLII are positive, Discard leaves. Annotations of both rules are those of hummus_dataset.json.

Classification is asked about every pair with a label, the other five tasks about positives only, as published. An
answer from which nothing can be read has no score: it leaves the mean (which the paper's 0.45 at a success rate of 5 %
implies) and counts against the success rate.

Conditions: `default` shows the image; `description` the released description in its place (figure 5; no ImageBbox);
`prompts` the three other prompts of table 4; `joint` asks four tasks at once (table 5). The paper prints the joint
prompt as a picture: JOINT_PROMPT is a reconstruction from its section 6.3 and appendix A, so that table 5's published
values were measured with another prompt.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from punchline.benchmarks import hummus_tables
from punchline.benchmarks.hummus_tables import DATASET, TEST_SET
from punchline.core.benchmark import DEFAULT, Files, Verdict, comparison
from punchline.core.errors import PunchlineError
from punchline.core.records import (
    Gold,
    Grade,
    Image,
    ImageRef,
    Item,
    Message,
    Request,
    Response,
    Rule,
    Sampling,
    State,
    Text,
    sha256,
)
from punchline.core.storage import parse_csv
from punchline.score import boxes as box_metrics
from punchline.score import highlight, ngrams
from punchline.score.boxes import Box

NAME = "hummus"
METAPHOR_TASKS = ("naming", "image_bbox", "image_label", "caption_hl", "explanation")  # asked about positives only
PROMPT_TASKS = ("classification_glossed", "classification_no_yes", "classification_a_b")
JOINT = "joint"
JOINT_TASKS = ("classification", "naming", "image_bbox", "caption_hl")  # what one joint answer is graded as
TASKS = ("classification", *METAPHOR_TASKS, *PROMPT_TASKS, JOINT)
CONDITIONS = (DEFAULT, "description", "prompts", "joint")
CHAINED: tuple[str, ...] = ()
IMAGES = True
JUDGES = ("cosine",)

DESCRIPTIONS = "image_descriptions.csv"
ITEM_FILES = (DATASET, TEST_SET, DESCRIPTIONS)
GOLD_FILES = (DATASET, TEST_SET)

POSITIVE = ("Yes", "WIDLII")
LABELS = (*POSITIVE, "No", "Discard")

# Table 1; the wording of the whole prompts, and those of table 4, as the released prompts.py has them.
_INVOLVES = "The humor of the given image-and-caption combination involves metaphor use. "
_DOES_IT = "Does the humor of the given image-and-caption combination involve metaphor use? "
INSTRUCTIONS = {
    "classification": _DOES_IT + "Answer the question with Yes or No.",
    "naming": _INVOLVES + "Which conceptual metaphor is used? "
    'Answer the question in "TARGET DOMAIN IS SOURCE DOMAIN" format (e.g., "LOVE IS A JOURNEY").',
    "image_bbox": _INVOLVES + "Which object in the image is related to the metaphor? "
    'Answer with its label and normalized bounding box coordinates in "label: [top, left, height, width]" format.',
    "image_label": _INVOLVES + "Which object in the image is related to the metaphor? "
    "Answer the question with a single word.",
    "caption_hl": _INVOLVES + "Which part of the caption is related to the metaphor? "
    "Surround it with a pair of <i></i> tag.",
    "explanation": "How does metaphor use contribute to the humor of the given image-and-caption combination? "
    "Explain in no more than 30 words.",
    "classification_glossed": _DOES_IT + "Answer the question with Yes (i.e., metaphor use is involved) or "
    "No (i.e., metaphor use is not involved).",
    "classification_no_yes": _DOES_IT + "Answer the question with No or Yes.",
    "classification_a_b": _DOES_IT + "Choose from the following options:\nA. {a}\nB. {b}\n"
    "Answer the question with A or B.",
}
OPTIONS = (  # of classification_a_b; the first is positive
    _INVOLVES.rstrip(),
    "The humor of the given image-and-caption combination does not involve metaphor use.",
)

# Ours, after section 6.3 (persona, four tasks in one go) and appendix A (steps, what counts, boxes).
JOINT_PROMPT = """You are a linguist who is familiar with Conceptual Metaphor Theory and has experience in manual \
metaphor annotation. You will annotate a New Yorker cartoon and its caption in terms of humorous metaphor use.

Labelling steps
1. Look at the cartoon image alone (without referring to the caption). Find any incongruities in the image.
2. How does the caption resolve the incongruities in the image? If you can answer this question, then you understand \
the humor of the image-and-caption combination and continue with the annotation. Otherwise, answer "Discard" for \
is_met and stop.
3. Based on your understanding of the humor, consider whether metaphor use is involved in creating that humorous \
effect. Any kind of involvement counts. For each metaphor use you find in the image-and-caption combination, consider \
whether the humor will still be there when the metaphor use is removed. If you are certain that metaphor use is \
involved, assign "Yes" to is_met and continue. If you are certain that it is not, assign "No" to is_met and stop. If \
you hesitate, assign "WIDLII" (While In Doubt, Leave It In) to is_met and continue.
4. Specify the conceptual metaphor(s) in "X is Y" format. "X" should be the target domain; "Y" should be the source \
domain. Separate multiple conceptual metaphors with "; " (a semicolon followed by a whitespace). To decide how \
general or specific the conceptual metaphor should be, try to relate the instantiation of the metaphor in the \
image-and-caption combination to other instantiations of the same metaphor, and then find a term that can cover \
them all.
5. Annotate the metaphor-related image areas (image_hl). Try to assign each object of the image to either the target \
or the source domain of the conceptual metaphors. Typically, the majority of the image belongs to the same domain; the \
object that belongs to the other domain is the metaphor-related image area. Give its label and a bounding box in \
"label: [top, left, height, width]" format, normalized to between 0 and 1, one box for each such object. The bounding \
box should fit tightly around the whole object of interest, without excessive empty space.
6. Do the same for the caption (text_hl): copy the caption and surround each word, phrase or clause that belongs to \
the odd domain with a pair of <i></i> tag. If the entire caption belongs to a single domain, surround the entire \
caption. image_hl and text_hl do not have to belong to the same domain.

What counts as metaphor
Metaphors are conceptual mappings between two different domains. Personification (HUMAN as the source domain) and \
zoomorphism (ANIMAL as the source domain) are metaphor use. Metonymy within the same conceptual domain is not. Idioms \
are not metaphors, unless the underlying cross-domain mapping is strictly required to make sense of the humor. Puns \
can indicate metaphor use: it depends on whether the two meanings can be attributed to a cross-domain mapping.

Answer with these four lines and nothing else; leave out the last three if is_met is No or Discard:
is_met: Yes, No, WIDLII or Discard
conceptual_metaphor: X is Y
image_hl: label: [top, left, height, width]
text_hl: the caption with <i></i> tags"""

TEMPERATURE = 0.0  # ours: neither the paper nor the released scripts set one
MAX_TOKENS = {  # RE_TOKENS_* of the released prompts.py; `joint` is ours
    "classification": 50,
    "naming": 50,
    "image_bbox": 200,
    "image_label": 10,
    "caption_hl": 200,
    "explanation": 200,
    **dict.fromkeys(PROMPT_TASKS, 50),
    JOINT: 600,
}

FIRST_CONTEST_ONLINE = 510  # the first that the site of the contest's data has
IMAGE_ADDRESS = "https://nextml.github.io/caption-contest-data/cartoons/{contest}.jpg"
# Where CapCon's README says that all images are, as <contest>.jpeg; nothing here takes one out of the archive.
ARCHIVE = "https://storage.googleapis.com/ai2-jack-public/caption_contest_data_public/all_contest_images.zip"
CONTEST = re.compile(r"[1-9][0-9]{0,4}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # ids name files


# ---------------------------------------------------------------------------------------------------- released files


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return made


class _Twice(Exception):
    """A key that an object of a JSON file has twice."""


def _json(files: Files, name: str) -> Any:
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    try:
        return json.loads(files[name], object_pairs_hook=_unique)
    except _Twice as twice:
        raise PunchlineError("it is there twice", file=name, record=_printable(str(twice))) from twice
    except json.JSONDecodeError as error:
        raise PunchlineError(f"not JSON: {error.msg}", file=name, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise PunchlineError(f"not JSON: {error}", file=name) from error


def _printable(text: str) -> str:
    """At most 100 characters that every terminal and file can hold."""
    return text[:100].encode("unicode_escape").decode() if _halved(text) else text[:100]


def _halved(text: str) -> bool:
    """Whether it has half a surrogate pair, which no file can hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _item_id(item_id: str, file: str) -> str:
    if not _FILE_NAME.fullmatch(item_id):
        raise PunchlineError("the id is not a plain file name", file=file, record=_printable(item_id))
    return item_id


def _check_texts(record: Mapping[str, Any], file: str, item_id: str) -> None:
    """Raises PunchlineError where any text of a record has half a surrogate pair."""
    left: list[tuple[str, Any]] = [(field, one) for field, value in record.items() for one in (field, value)]
    while left:
        field, value = left.pop()
        if isinstance(value, dict):
            left += [(field, one) for pair in value.items() for one in pair]
        elif isinstance(value, list):
            left += [(field, one) for one in value]
        elif isinstance(value, str) and _halved(value):
            what = "half a surrogate pair is no character"
            raise PunchlineError(what, file=file, record=item_id, field=_printable(field))


def _cell(record: Mapping[str, Any], field: str, kind: type, file: str, item_id: str) -> Any:
    value = record.get(field)
    if not isinstance(value, kind) or isinstance(value, bool) or (kind is str and not str(value).strip()):
        expected = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}[kind]
        raise PunchlineError(f"expected {expected}, got {value!r}"[:200], file=file, record=item_id, field=field)
    return value


def _one_of(record: Mapping[str, Any], field: str, allowed: Sequence[str], file: str, item_id: str) -> str:
    value = _cell(record, field, str, file, item_id)
    if value not in allowed:
        expected = ", ".join(allowed)
        raise PunchlineError(f"{value[:80]!r} is none of {expected}", file=file, record=item_id, field=field)
    return str(value)


def _dataset(files: Files) -> dict[str, dict[str, Any]]:
    """{item id: record} of hummus_dataset.json, in released order; caption, contest_number and met_class are there."""
    found = _json(files, DATASET)
    if not isinstance(found, dict):
        raise PunchlineError("expected an object of items", file=DATASET)
    for item_id, record in found.items():
        if not isinstance(record, dict):
            raise PunchlineError("expected an object", file=DATASET, record=_printable(item_id))
        _item_id(item_id, DATASET)
        _check_texts(record, DATASET, item_id)
        _cell(record, "caption", str, DATASET, item_id)
        number = _cell(record, "contest_number", int, DATASET, item_id)
        if not CONTEST.fullmatch(str(number)):
            what = f"expected a contest's number, got {str(number)[:80]}"
            raise PunchlineError(what, file=DATASET, record=item_id, field="contest_number")
        _one_of(record, "met_class", LABELS, DATASET, item_id)
    return found


def _test_set(files: Files) -> dict[str, str]:
    """{item id: label} of test_set.json."""
    found = _json(files, TEST_SET)
    if not isinstance(found, list):
        raise PunchlineError("expected a list of items", file=TEST_SET)
    labels: dict[str, str] = {}
    for place, record in enumerate(found):
        if not isinstance(record, dict):
            raise PunchlineError("expected an object", file=TEST_SET, record=str(place))
        _check_texts(record, TEST_SET, str(place))
        item_id = _item_id(_cell(record, "combi_id", str, TEST_SET, str(place)), TEST_SET)
        if item_id in labels:
            raise PunchlineError("it is there twice", file=TEST_SET, record=item_id)
        labels[item_id] = _one_of(record, "is_met", LABELS, TEST_SET, item_id)
    return labels


def _labels(files: Files) -> dict[str, dict[str, str | None]]:
    """{item id: {rule: label}}; None: the item has no label under the rule, or is to be left out."""
    dataset, test_set = _dataset(files), _test_set(files)
    for item_id in test_set:
        if item_id not in dataset:
            raise PunchlineError(f"the item is not in {DATASET}", file=TEST_SET, record=item_id)
    return {
        item_id: {
            rule: None if label == "Discard" else label
            for rule, label in (("released", test_set.get(item_id)), ("paper", record["met_class"]))
        }
        for item_id, record in dataset.items()
    }


def _descriptions(files: Files) -> dict[int, str]:
    if DESCRIPTIONS not in files:
        raise PunchlineError("the file is not there", file=DESCRIPTIONS, way_out="Fetch the annotation files")
    found: dict[int, str] = {}
    for line, cells in parse_csv(files[DESCRIPTIONS], ("contest_number", "image_description"), file=DESCRIPTIONS):
        if not CONTEST.fullmatch(cells["contest_number"].strip()):
            what = f"expected a contest's number, got {cells['contest_number'][:80]!r}"
            raise PunchlineError(what, file=DESCRIPTIONS, line=line, field="contest_number")
        contest = int(cells["contest_number"])
        if contest in found:
            raise PunchlineError(f"contest {contest} is there twice", file=DESCRIPTIONS, line=line)
        found[contest] = cells["image_description"].strip()
    return found


def address(contest: int) -> str:
    """Where the image of a contest is: its own address, or the archive's with the file's name after "#".

    Contests before 510 have no address of their own: the fetch records them as missing, with this one as the reason.
    """
    if contest >= FIRST_CONTEST_ONLINE:
        return IMAGE_ADDRESS.format(contest=contest)
    return f"{ARCHIVE}#{contest}.jpeg"


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, "newyorker", address of the contest's image) of every pair, in released order."""
    return [(item_id, "newyorker", address(record["contest_number"])) for item_id, record in _dataset(files).items()]


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, in released order; a string says why there is no image.

    `asked` says what is asked about the pair: "all" tasks where either table has it as positive, "classification" where
    either has a label, else "". No prompt shows it. Raises PunchlineError for a pair that is not in the released files.
    """
    dataset, labels, descriptions = _dataset(files), _labels(files), _descriptions(files)
    for item_id in images:
        if item_id not in dataset:
            raise PunchlineError("no such item", file=DATASET, record=item_id)
    made = []
    for item_id, record in dataset.items():
        if item_id not in images:
            continue
        shown, found = images[item_id], labels[item_id].values()
        asked = "all" if any(label in POSITIVE for label in found) else "classification" if any(found) else ""
        number = record["contest_number"]
        made.append(
            Item(
                benchmark=NAME,
                item_id=item_id,
                source="newyorker",
                cluster=str(number),
                fields={
                    "caption": record["caption"],
                    "contest_number": number,
                    "description": descriptions.get(number),
                    "asked": asked,
                },
                images=() if isinstance(shown, str) else shown,
                missing=shown if isinstance(shown, str) else None,
            )
        )
    return made


def _boxes_of(record: Mapping[str, Any], item_id: str) -> list[Box]:
    """Boxes of an annotated item as shares of its image. Raises PunchlineError for one that is not inside."""

    def sides(of: Mapping[str, Any], field: str, names: Sequence[str]) -> list[float]:
        found = [of.get(name) for name in names]
        if not all(isinstance(side, int | float) and not isinstance(side, bool) for side in found):
            what = f"expected numbers for {', '.join(names)}"
            raise PunchlineError(what, file=DATASET, record=item_id, field=field)
        numbers = [float(side) if abs(side) < 1e9 else math.inf for side in found if side is not None]  # of NaN: inf
        if not all(map(math.isfinite, numbers)):
            what = f"expected numbers of pixels for {', '.join(names)}"
            raise PunchlineError(what, file=DATASET, record=item_id, field=field)
        return numbers

    attributes = _cell(record, "image_attributes", dict, DATASET, item_id)
    high, wide = sides(attributes, "image_attributes", ("height", "width"))
    made = []
    for box in _cell(record, "bboxes", list, DATASET, item_id):
        if not isinstance(box, dict):
            raise PunchlineError("expected objects", file=DATASET, record=item_id, field="bboxes")
        top, left, height, width = sides(box, "bboxes", ("top", "left", "height", "width"))
        inside = min(top, left) >= 0 and min(height, width) > 0 and top + height <= high and left + width <= wide
        if not inside:
            raise PunchlineError(
                f"the box top {top:g}, left {left:g}, height {height:g}, width {width:g} is not inside the image, "
                f"which is {wide:g} x {high:g} pixels",
                file=DATASET,
                record=item_id,
                field="bboxes",
            )
        made.append((top / high, left / wide, height / high, width / wide))
    return made


def golds(files: Files) -> list[Gold]:
    """What is right, for every pair, in released order.

    values: `labels` {rule: Yes, WIDLII, No, or None}; and where hummus_dataset.json has the pair as Yes or WIDLII
    `metaphors` (texts), `boxes` (shares [top, left, height, width] of the image), `objects` (the boxes' labels),
    `highlight` (words) and `explanation`; absent elsewhere. Raises PunchlineError for an annotation that cannot be
    read.
    """
    labels = _labels(files)
    made = []
    for item_id, record in _dataset(files).items():
        values: dict[str, Any] = {"labels": labels[item_id]}
        if record["met_class"] in POSITIVE:
            objects = _cell(record, "bbox_labels", str, DATASET, item_id).split(";")
            found = _boxes_of(record, item_id)
            if len(objects) != len(found):
                what = f"{len(found)} boxes have {len(objects)} labels"
                raise PunchlineError(what, file=DATASET, record=item_id, field="bbox_labels")
            marked = _cell(record, "caption_hl", str, DATASET, item_id)
            if not highlight.balanced(marked):
                raise PunchlineError("<i> and </i> are not in pairs", file=DATASET, record=item_id, field="caption_hl")
            named = metaphors(_cell(record, "conceptual_metaphor", str, DATASET, item_id))
            if not named:
                what = "no metaphor of the form X is Y"
                raise PunchlineError(what, file=DATASET, record=item_id, field="conceptual_metaphor")
            values |= {
                "metaphors": list(named),
                "boxes": [list(box) for box in found],
                "objects": [name.strip() for name in objects if name.strip()],
                "highlight": list(highlight.highlighted(marked)),
                "explanation": _cell(record, "explanation", str, DATASET, item_id),
            }
        made.append(Gold(benchmark=NAME, item_id=item_id, values=values))
    return made


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is taken as it stands."""
    if not all(name in files for name in GOLD_FILES):
        return []
    found = []
    dataset, test_set = _dataset(files), _test_set(files)
    for item_id, record in dataset.items():
        at, label = f"{DATASET}, record {item_id}", record["met_class"]
        if item_id in test_set and test_set[item_id] != label:
            found.append(f"{at}: met_class is {label}, is_met of {TEST_SET} is {test_set[item_id]}")
        if item_id not in test_set and label != "Discard":
            found.append(f"{at}: met_class is {label}, and it is not in {TEST_SET}")
        marked = record.get("caption_hl")
        if label in POSITIVE and isinstance(marked, str):
            if re.sub(r"</?i>", "", marked) != record["caption"]:
                found.append(f"{at}: caption_hl differs from caption in more than <i></i>")
            if not highlight.highlighted(marked):
                found.append(f"{at}: caption_hl has nothing between <i></i>: no gold for caption_hl")
        if test_set.get(item_id) in POSITIVE and label not in POSITIVE:
            found.append(f"{at}: positive in {TEST_SET}, but without annotation: only its classification is scored")
    return found


# ---------------------------------------------------------------------------------------------------------- requests


def involves_is_a(item_id: str) -> bool:
    """Whether option A of classification_a_b says that metaphor use is involved: the released script draws this for
    each item without a seed; here the item's id decides."""
    return int(sha256(f"{NAME}|a_b|{item_id}".encode())[:8], 16) % 2 == 0


def _instructions(task: str, item_id: str) -> str:
    if task != "classification_a_b":
        return INSTRUCTIONS[task]
    a, b = OPTIONS if involves_is_a(item_id) else OPTIONS[::-1]
    return INSTRUCTIONS[task].format(a=a, b=b)


def requests(item: Item) -> list[Request]:
    """What models are asked about a pair in every condition: the image, then the text, without a system prompt."""
    asked = item.fields["asked"]
    image = Image(sha256=item.images[0].sha256 if item.images else None)
    caption = f"Caption: {item.fields['caption']}"

    def ask(condition: str, task: str, content: tuple[Text | Image, ...]) -> Request:
        return Request(
            benchmark=NAME,
            item_id=item.item_id,
            task=task,
            condition=condition,
            messages=(Message(role="user", content=content),),
            sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS[task]),
        )

    def shown(instructions: str) -> tuple[Text | Image, ...]:
        return image, Text(text=f"{caption}\n\n{instructions}")

    made = []
    if asked:
        tasks = ("classification", *(METAPHOR_TASKS if asked == "all" else ()))
        made += [ask(DEFAULT, task, shown(INSTRUCTIONS[task])) for task in tasks]
        if item.fields["description"]:
            for task in tasks:
                if task != "image_bbox":  # the released monomodal.py: classification with "No or Yes", no ImageBbox
                    prompt = INSTRUCTIONS["classification_no_yes" if task == "classification" else task]
                    text = f"{prompt}\n\nImage: {item.fields['description']}\n{caption}"
                    made.append(ask("description", task, (Text(text=text),)))
        made += [ask("prompts", task, shown(_instructions(task, item.item_id))) for task in PROMPT_TASKS]
        made.append(ask("joint", JOINT, shown(JOINT_PROMPT)))
    return made


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """What a baseline answers. `random` draws one of the two answers of a classification; nothing else is attempted."""
    if name != "random" or not request.task.startswith("classification"):
        return None
    return draw.choice(("A", "B") if request.task == "classification_a_b" else ("Yes", "No"))


# ----------------------------------------------------------------------------------------------------------- answers

_NO_ANSWER = r"(?!\s{1,3}(?:or|doubt|wonder|matter)\b)"
_FIRST_WORD = re.compile(r"[\s\"'*_`(\[<]{0,20}(yes|no)\b" + _NO_ANSWER, re.IGNORECASE)
_SAID = re.compile(
    r"\b(Yes|No|YES|NO)\b" + _NO_ANSWER + r"|\b(?i:answer(?: is)?[:\s*_\"']{1,8}(yes|no))\b" + _NO_ANSWER
)
# Both of two: "Yes or No", "A/B", "Yes and no", "A, B." (not "Yes, no doubt" and "No, yes would be wrong").
_BOTH = re.compile(
    r"(?:\b(?P<word>yes|no)\b|\b(?P<letter>[ab])\b)[.)*\"']{0,3}(?: \([^()]{0,60}\))?"
    r"(?:,?\s{1,3}(?:or|and|nor)\s{1,3}|\s{0,3}[/|&\\]\s{0,3}|(?P<loose>[,;:.]?\s{0,5}(?:[-–—]\s{0,3})?))"
    r"(?:option )?[(*\"']{0,3}(?(word)(?!(?P=word)\b)(?:yes|no)|(?!(?P=letter)\b)[ab])\b"
    r"(?(loose)(?=[\s*\"')\]]{0,5}(?:[.,;:!?|/]|$)))",
    re.IGNORECASE,
)


def yes_or_no(answer: str) -> str | None:
    """ "Yes" or "No": the answer's first word, else the only one of them that is said in the text as an answer (with a
    capital, or after "answer"). None where neither or both are, as where the instructions are repeated."""
    answer = _BOTH.sub(" ", answer)
    first = _FIRST_WORD.match(answer)
    if first:
        return first[1].capitalize()
    said = {(found[1] or found[2]).capitalize() for found in _SAID.finditer(answer)}
    return said.pop() if len(said) == 1 else None


_FIRST_LETTER = re.compile(r"[\s\"'*_`(\[]{0,20}([ABab])(?=[\s\"'*_`]{0,20}(?:$|[.):\],\n]))")
_LETTER_ENDS = r"(?=[.):,\"'*\]]|\s{0,20}$|\s{0,20}\n)"
_LETTER = re.compile(  # at a line's beginning, in brackets or bold, or after a word that chooses: not "Plan B."
    r"^[\s\"'*_`(\[:]{0,20}([AB])" + _LETTER_ENDS + r"|[(\[*]([AB])[)\]*]"
    r"|\b(?i:is|be|with|for|so|therefore|thus|hence|say)[,:\s*_\"'(]{1,8}([AB])" + _LETTER_ENDS + r"|"
    r"\b(?i:answer|option|choice|choose|select|pick)(?: is| would be)?[:\s*_\"'(]{1,8}([AB])\b",
    re.MULTILINE,
)


def a_or_b(answer: str, involves: str) -> str | None:
    """ "Yes" where the answer chooses the letter `involves`, "No" where it chooses the other one, None where neither.

    The letter that the answer begins with, else the only letter that is said, else the only option. None where both
    options are repeated, and where letter and option contradict each other.
    """
    options = {letter for letter, text in _options(involves).items() if text.lower() in answer.lower()}
    answer = _BOTH.sub(" ", answer)
    first = _FIRST_LETTER.match(answer)
    letters = {first[1].upper()} if first else {next(filter(None, m.groups())) for m in _LETTER.finditer(answer)}
    chosen = (letters & options if options else letters) or (options if not letters else set())
    if len(options) > 1 or len(chosen) != 1:
        return None
    return "Yes" if chosen == {involves} else "No"


def _options(involves: str) -> dict[str, str]:
    return dict(zip("AB" if involves == "A" else "BA", OPTIONS, strict=True))


# What a model says that does not answer.
_REFUSAL = re.compile(
    r"\bI(?:['’]m| am)? (?:sorry|unable|not able|not sure|afraid)\b|\bsorry\b[,.]|\bunable to\b|\bnot possible\b"
    r"|\b(?:I|we) (?:cannot|can['’]t|can not|could not|couldn['’]t|do not|don['’]t|am not|won['’]t)\b"
    r"|\bcannot be (?:determined|identified|answered|named)\b|\bno (?:conceptual )?metaphors?\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(  # as an explanation's beginning: "I cannot believe" is none
    r"\W{0,5}(?:(?:I['’]m|I am) sorry\b|sorry,|(?:unfortunately, )?I(?: am|['’]m)? ?"
    r"(?:cannot|can['’]t|can not|unable to|not able to) "
    r"(?:see|view|determine|provide|answer|assist|help|tell|explain|identify|access|process|analy[sz]e)\b)",
    re.IGNORECASE,
)


def _spelt(text: str) -> str:
    """A pattern for a text, however it is broken into lines."""
    return r"\s{1,5}".join(re.escape(word) for word in text.split())


_SENTENCES = re.compile(
    "|".join(
        _spelt(sentence.rstrip("."))
        for sentence in sorted(
            {
                one
                for text in INSTRUCTIONS.values()
                for one in re.split(r"(?<=[.?])\s+(?=[A-Z])", text)
                if "{" not in one
            },
            key=lambda one: (-len(one), one),
        )
    )
    + r"\.?",
    re.IGNORECASE,
)


def _own(answer: str, shown: Sequence[str]) -> str:
    """The answer without the sentences of the instructions, and without `Caption: …` and `Image: …` as the prompt has
    them. `shown`: the texts that the prompt shows."""
    rest = _SENTENCES.sub(" ", answer)
    for text in filter(None, shown):
        rest = re.sub(r"(?im)^\W{0,5}(?:caption|image):\s{0,5}" + _spelt(text), " ", rest)
    return rest


_MARKUP = re.compile(r"[*_`#\"“”]")
_COPULA = re.compile(r"\w[^\n]{0,300}?\s(?:is|are|has|have)\s[^\n]{0,300}?\w", re.IGNORECASE)
_IS = ("is", "are", "has", "have")
_QUOTED = re.compile(r"[\"“”]([^\"“”\n]{3,200})[\"“”]")
_LIST_MARK = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|[-•])\s+")
_INTRODUCTION = re.compile(
    r"^[^:\n]{0,200}?\b(?:metaphors?|answer)\b[^:\n]{0,100}:"
    r"|^\W{0,5}(?:the |a |this )?(?:\w{1,20} )?(?:metaphor|answer)(?: \w{1,20}){0,6}? is (?:that )?"
    r"(?=[^\n]{1,100} (?:is|are|has|have) )",
    re.IGNORECASE,
)
_INLINE = re.compile(r"\((?![^()]*\b(?:is|are|has|have)\b)([^();\n]{1,60})\)(?=\s{1,5}\w)", re.IGNORECASE)
_ENDS = re.compile(r"(?<=[.!?])\s+")
PIECES = 8  # metaphors of one answer that are compared
CLAUSE_WORDS = 12  # of one metaphor; the annotations have up to 8
OTHER_WORDS = 12  # of the line that a metaphor without quotation marks and capitals stands in
EXAMPLES = ("love is a journey", "target domain is source domain", "x is y")
_BEFORE = """i you he she it we they this that these those there here who what which whose how why when where nothing
nobody none no everything something anything if whether as because since but and or so yes is are has have"""
_AFTER = """no nothing none used involved unclear clear possible needed missing absent related required
based about in on at from of for with to by that what too very also being been funny humorous blank"""
NO_DOMAIN = frozenset(_BEFORE.split())  # before "is": no domain is named
NO_PREDICATE = frozenset(_AFTER.split())  # after it, in the plain form: what is said about the cartoon, or where one is
NEGATIONS = frozenset(
    ("not", "cannot", "unable", "sorry", "impossible", "metaphor", "metaphors", "metaphorical", "metaphorically")
)
_ABOUT = re.compile(  # the plain form's subject is what was shown, not a domain
    r"(?:(?:the|this|that|an?|given|provided|whole|entire) ){0,3}(?:image|picture|cartoon|caption|joke|humou?r|"
    r"question|answer|text|prompt|combination|response)s?(?: (?:of|in|from|here|itself)\b.{0,100})?",
    re.IGNORECASE,
)
_ARTICLES = ("a", "an", "the")


def metaphors(text: str) -> tuple[str, ...]:
    """The metaphors of an annotation, "X is Y": split at ";", at "/" between blanks (two ways) and at parentheses."""
    pieces = (" ".join(piece.split()).strip(" .,") for piece in re.split(r";|\s/\s|[()\n]", text))
    return tuple(dict.fromkeys(piece for piece in pieces if _COPULA.search(piece)))


Form = Literal["capitals", "quoted", "plain"]


def _clause(piece: str, form: Form) -> str | None:
    """A piece of an answer as a metaphor, "X is Y"; None where it is none.

    Refusals, negations, questions and clauses without a domain before "is" are none, nor is more than CLAUSE_WORDS. In
    lower case, what is said about the image or the caption is none either, nor "The man is holding" and "The man has".
    """
    words = " ".join(piece.split()).strip(" .,!:–—-").split()
    places = [at for at, word in enumerate(words) if word.lower() in _IS]
    if len(places) != 1 or not words:
        return None
    at = places[0]
    first = next((place + 1 for place in range(at - 1, -1, -1) if words[place].endswith((",", ":"))), 0)
    last = next((place + 1 for place in range(at + 1, len(words)) if words[place].endswith((",", ":"))), len(words))
    words, at = words[first:last], at - first
    text = " ".join(words).strip(" .,!:")
    if text.startswith(("'", "‘")):
        text = text[1:].removesuffix("'").removesuffix("’")
    plain = [word.lower().strip(".,;:!?'‘’()[]") for word in words]
    before, after = plain[:at], plain[at + 1 :]
    if not any(before) or not any(after) or len(words) > CLAUSE_WORDS or text.endswith("?"):
        return None
    if before[0] in NO_DOMAIN or before[-1] in NO_DOMAIN or all(word in _ARTICLES for word in before):
        return None
    if any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in plain):
        return None
    if after[0] in ("no", "nothing", "none", "what") or all(word in _ARTICLES for word in after):
        return None
    if form != "capitals" and words[at].islower():
        if _ABOUT.fullmatch(" ".join(before)) or after[0] in NO_PREDICATE or after == ["unknown"]:
            return None
        if before[0] in _ARTICLES and (plain[at] in ("has", "have") or after[0].endswith("ing")):
            return None
    return text


def _clauses(text: str, form: Form) -> list[str]:
    pieces = re.split(r";|\s/\s|[()\n]", _INLINE.sub(r"\1", text))
    return [found for piece in pieces if (found := _clause(piece, form)) is not None]


def _shouted(text: str) -> list[str]:
    """Runs of words without a small letter, up to the end of a sentence or a comma."""
    runs: list[list[str]] = [[]]
    for line in text.splitlines():
        runs.append([])
        for token in line.split():
            loud = any(map(str.isalnum, token)) and not any(map(str.islower, token))
            if loud:
                runs[-1].append(token)
            if not loud or token[-1] in ",;:!?" or (token[-1] == "." and "." not in token[:-1]):
                runs.append([])
    return [" ".join(run) for run in runs if len(run) > 2]


def named(answer: str, shown: Sequence[str] = ()) -> tuple[str, ...] | None:
    """The metaphors that an answer to Naming gives, "X is Y"; None where it gives none.

    Those in capitals, else those in quotation marks, else those of the first line that has one and little else, if the
    answer does not refuse. `shown`: texts that the prompt shows, quotations of which are no metaphors. What the answer
    repeats of the prompt is not read; the prompt's example is taken only where there is nothing else.
    """
    answer = _own(answer[:4000], shown)
    texts = [" ".join(text.split()) for text in shown if text]

    def repeated(one: str) -> bool:
        return any(one in text or (not one.istitle() and one.lower() in text.lower()) for text in texts)

    unmarked = _MARKUP.sub("", answer)
    capitals = [one for run in _shouted(unmarked) for one in _clauses(run, "capitals")]
    candidates = [[one for one in capitals if not any(one in text for text in texts)]]
    quoted = [one for text in _QUOTED.findall(answer) for one in _clauses(text, "quoted")]
    candidates.append([one for one in quoted if not repeated(one)])
    unquoted = _QUOTED.sub(lambda m: " " if m[1].count(" ") > 1 and repeated(m[1].strip(" .,")) else m[0], answer)
    for line in _MARKUP.sub("", unquoted).splitlines() if not _REFUSAL.search(answer) else ():
        line = _INTRODUCTION.sub("", _LIST_MARK.sub("", line))
        found = next(filter(None, (_clauses(sentence, "plain") for sentence in _ENDS.split(line))), [])
        others = len(line.split()) - sum(len(one.split()) for one in found)
        candidates.append([one for one in found if others <= OTHER_WORDS and not any(one in text for text in texts)])
    meant = [tuple(dict.fromkeys(found))[:PIECES] for found in candidates if found]
    return next((found for found in meant if not repeats_example(found)), meant[0] if meant else None)


def repeats_example(found: Sequence[str]) -> bool:
    """Whether nothing is named but the prompt's own example or its placeholders (section 6.1: no meaningful answer)."""
    return all(one.lower() in EXAMPLES for one in found)


_GROUP = re.compile(r"\[([^\[\](){}]{7,400})\]|\(([^\[\](){}]{7,400})\)|\{([^\[\](){}]{7,400})\}")
_NUMBER = r"[-+]?(?:[0-9]{1,9}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})"
_NAMED_PART = re.compile(r"[\"']?([A-Za-z_][A-Za-z0-9_]{0,30})[\"']?\s{0,3}[:=]\s{0,3}(.{1,200})", re.DOTALL)
SIDES = ("top", "left", "height", "width")
SMALLEST = 1e-6  # side of a box: less is no area
BOXES = 50  # different boxes of one answer: more are no answer to what was asked


def _sides(group: str) -> list[float] | None:
    """Top, left, height and width of what stands between brackets: by name, else by place."""
    numbers: list[tuple[str, float]] = []
    for part in group.rstrip(" \n\t,").split(","):
        named_part = _NAMED_PART.fullmatch(part.strip())
        name, value = (named_part[1].lower(), named_part[2].strip()) if named_part else ("", part.strip())
        if re.fullmatch(_NUMBER, value):
            numbers.append((name, float(value)))
        elif not name or name in SIDES:
            return None
    names = [name for name, _ in numbers]
    if sorted(names) == sorted(SIDES):
        return [dict(numbers)[name] for name in SIDES]
    four = len(numbers) == len(SIDES) == group.rstrip(" \n\t,").count(",") + 1
    if four and all(name in ("", side) for name, side in zip(names, SIDES, strict=True)):
        return [number for _, number in numbers]
    return None


def box_list(answer: str) -> tuple[Box, ...] | None:
    """Normalised boxes of an answer, cut to the image; None where it has none.

    Sides that have names are read by name, others as [top, left, height, width]. Only numbers in 0..1 are taken: what
    four numbers of another convention (pixels, thousandths) mean is not guessed.
    """
    found: dict[Box, None] = {}
    for match in _GROUP.finditer(answer):
        sides = _sides(match[1] or match[2] or match[3])
        if sides is not None and all(0 <= side <= 1 for side in sides):
            box = box_metrics.clipped((sides[0], sides[1], sides[2], sides[3]))
            if box is not None and min(box[2:]) >= SMALLEST:
                found[box] = None
    return tuple(found) if 0 < len(found) <= BOXES else None


WORDS = 10  # of an object's name; the annotations have up to 7, the prompt asks for one
_NAME_MARK = re.compile(r"^\s*(?:label|object|answer)\s*:\s*", re.IGNORECASE)
_NO_NAME = re.compile(r"(?:none|n/a|nothing|unknown|unclear)|(?:I|sorry|answer (?:the|with|in))\b.*", re.IGNORECASE)


def _of_instructions(task: str, text: str) -> bool:
    return " ".join(text.lower().split()).strip(" .,;:!?") in INSTRUCTIONS[task].lower()


def object_name(answer: str, shown: Sequence[str] = ()) -> str | None:
    """The object that an answer to ImageLabel names: its first line, less markup; None for nothing, a sentence, a
    refusal, and for what repeats the prompt, which shows the texts `shown`."""
    answer = _own(answer[:4000], shown)
    line = next((line for line in answer.splitlines() if re.search(r"\w", line)), "")
    name = " ".join(_NAME_MARK.sub("", _MARKUP.sub("", line[:500])).split()).strip(" .,;:!?'")
    if not re.search(r"\w", name) or len(name.split()) > WORDS or _REFUSAL.search(name) or _NO_NAME.fullmatch(name):
        return None
    return None if " " in name and _of_instructions("image_label", name) else name


def marked_words(answer: str) -> tuple[str, ...] | None:
    """The words between <i> and </i>; None where there are none."""
    return highlight.highlighted(answer) or None


def explanation(answer: str, shown: Sequence[str] = ()) -> str | None:
    """The answer, stripped, without what it repeats of the prompt, which shows the texts `shown`; None for one without
    a word of its own, and for a refusal."""
    text = _own(answer, shown).strip()
    if not re.search(r"\w", text) or _REFUSES.match(text):
        return None
    return None if _of_instructions("explanation", text) else text


_FIELDS = ("is_met", "conceptual_metaphor", "image_hl", "text_hl")
_FIELD = re.compile(
    r"(?:^[\s*_`#\-\"'{]{0,12}(?:\d{1,2}[.)]\s{0,4})?[*_`\"']{0,4}|[,;|{]\s{0,5}[*_`\"']{0,4})"
    r"(is_met|conceptual_metaphor|image_hl|text_hl)[*_`\"']{0,4}\s{0,4}[:=][*_`]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_IS_MET = re.compile(r"[\s*_`\"']{0,8}(Yes|No|WIDLII|Discard)\b(?!\s{0,2}(?:,|/|or\b)\s{0,2}\w)", re.IGNORECASE)
_OBJECT = re.compile(r"\{(?=\s{0,20}\")")
JOINT_CHARACTERS = 20_000  # of a joint answer that are read as JSON


def _first_ones(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


_DECODER = json.JSONDecoder(object_pairs_hook=_first_ones)


def _as_text(value: Any) -> str:
    """A value of a JSON object as the text of a field; lists of texts with "; " between them."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = "; ".join(value)
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()


def _json_fields(answer: str) -> dict[str, str]:
    """The fields of the first JSON object of an answer that has any; {} where none has."""
    for opening in list(_OBJECT.finditer(answer))[:5]:
        try:
            found, _ = _DECODER.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            continue
        by_name = {name.lower(): value for name, value in reversed(found.items())}
        fields = {name: _as_text(by_name[name]) for name in _FIELDS if name in by_name}
        if fields:
            return fields
    return {}


def joint_fields(answer: str) -> dict[str, str]:
    """The text of each field of a joint answer, of a JSON object or up to the next field; of a field that comes twice
    the first counts."""
    fields = _json_fields(answer[:JOINT_CHARACTERS])
    if fields:
        return fields
    found = list(_FIELD.finditer(answer))
    ends = [*(match.start() for match in found[1:]), len(answer)]
    for match, end in zip(found, ends, strict=False):
        value = answer[match.end() : end].strip()
        if value.startswith(("'", '"')):
            value = value[1:].rstrip("\"'}, \t\r\n")
        fields.setdefault(match[1].lower(), value)
    return fields


def is_met(field: str) -> str | None:
    """Yes, No, WIDLII or Discard, of a joint answer's field is_met; None for anything else."""
    match = _IS_MET.match(field)
    return next(label for label in LABELS if label.lower() == match[1].lower()) if match else None


# ------------------------------------------------------------------------------------------------------------ grading

SCORERS = {"labse": "cosine", "minilm": "cosine_minilm"}  # two embedders never share a value


def signature(task: str, rule: Rule, scorer: str | None = None) -> str:
    """What names all that changes a grade's values."""
    parts = [task, f"rule:{rule}"]
    if task in ("naming", "image_label"):
        parts.append(f"cosine:best of gold, lower case:{scorer or 'none'}")
    if task == "caption_hl":
        parts.append("words:set, lower case")
    if task == "explanation":
        parts.append(ngrams.signature(("rouge1", "rouge2"), stemmer=False) + ":f1")
    return "|".join((*parts, "v:2"))


def in_scope(task: str, gold: Gold, rule: Rule) -> bool:
    """Whether the task is scored on the item: labelled under the rule; but for classification positive, annotated."""
    return hummus_tables.in_scope(task, gold, rule)


def _compared(answer: str, reference: str) -> tuple[str, str]:
    """Both in lower case, without markup: gold is in title case, answers are often in capitals."""
    plain = (" ".join(_MARKUP.sub("", text).lower().split()) for text in (answer, reference))
    return next(plain), next(plain)


def _pairs(task: str, found: Sequence[str], gold: Gold) -> list[list[tuple[str, str]]]:
    """(candidate, reference) for each text of an answer and each of gold; a list for each text of the answer."""
    references = gold.values["metaphors" if task == "naming" else "objects"]
    return [list(dict.fromkeys(_compared(one, reference) for reference in references)) for one in found]


def _shown(item: Item) -> tuple[str, str]:
    """The texts that prompts show: the caption, and the description of the image or ""."""
    return str(item.fields["caption"]), str(item.fields.get("description") or "")


def _answer(task: str, text: str, gold: Gold, item: Item) -> tuple[Any, ...] | None:
    """What is read out of one answer, as a tuple; None where nothing is."""
    known = [one.lower() for one in gold.values.get("metaphors", ())]
    return read(task, text, item.item_id, known, _shown(item))


def read(
    task: str, text: str, item_id: str, known: Sequence[str] = (), shown: Sequence[str] = ()
) -> tuple[Any, ...] | None:
    """What is read out of the text of an answer; None where nothing is. `known`: gold metaphors, in lower case: one
    that is the prompt's example may be repeated. `shown`: the caption and the description that the prompt shows."""
    if task == "classification_a_b":
        label = a_or_b(text, "A" if involves_is_a(item_id) else "B")
        return None if label is None else (label,)
    if task.startswith("classification"):
        label = yes_or_no(text)
        return None if label is None else (label,)
    if task == "naming":
        found = named(text, shown)
        return None if found is None or (repeats_example(found) and not {*known} & {*map(str.lower, found)}) else found
    if task == "image_bbox":
        return box_list(text)
    if task == "image_label":
        name = object_name(text, shown)
        return None if name is None else (name,)
    if task == "caption_hl":
        return marked_words(text)
    said = explanation(text, shown)
    return None if said is None else (said,)


def _joint(text: str, gold: Gold, item: Item) -> dict[str, tuple[Any, ...] | None]:
    """What is read out of a joint answer, by task. The three other tasks are there only where it says Yes or WIDLII:
    the guidelines end there otherwise."""
    fields = joint_fields(text)
    label = is_met(fields.get("is_met", ""))
    if label is None or label == "Discard":
        return {"classification": None}
    found: dict[str, tuple[Any, ...] | None] = {"classification": ("Yes" if label in POSITIVE else "No",)}
    if label in POSITIVE:
        for task, field in (
            ("naming", "conceptual_metaphor"),
            ("image_bbox", "image_hl"),
            ("caption_hl", "text_hl"),
        ):
            found[task] = _answer(task, fields.get(field, ""), gold, item)
    return found


def _tasks(condition: str) -> dict[str, str]:
    """{task that is graded: task that is asked} of a condition."""
    if condition == JOINT:
        return dict.fromkeys(JOINT_TASKS, JOINT)
    if condition == "prompts":
        return {task: task for task in PROMPT_TASKS}
    tasks = ("classification", *METAPHOR_TASKS)
    return {task: task for task in tasks if (condition, task) != ("description", "image_bbox")}


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> list[Request]:
    """Every text of the answers to Naming and ImageLabel with every one of gold: once, the same under both rules."""
    made: dict[str, Request] = {}
    for task, asked in _tasks(condition).items():
        response = responses.get(asked)
        if task not in ("naming", "image_label") or response is None or response.state != "ok":
            continue
        if not any(in_scope(task, gold, rule) for rule in ("released", "paper")):
            continue
        if asked == JOINT:
            found = _joint(response.text or "", gold, item).get(task)
        else:
            found = _answer(task, response.text or "", gold, item)
        for pairs in _pairs(task, found or (), gold):
            for pair in pairs:
                request = comparison(NAME, item.item_id, "cosine", condition, *pair)
                made[request.request_id] = request
    return list(made.values())


def _cosine(
    task: str,
    found: Sequence[str],
    item: Item,
    gold: Gold,
    condition: str,
    verdicts: Mapping[str, Verdict] | None,
) -> tuple[dict[str, float], list[Verdict]]:
    """({column: similarity}, verdicts read): the mean over the answer's texts of the best match among gold's.

    Nothing where a verdict is absent, cannot be read, or comes from a scorer without a column.
    """
    read_: list[Verdict] = []
    bests = []
    for pairs in _pairs(task, found, gold):
        scores = []
        for pair in pairs:
            verdict = (verdicts or {}).get(comparison(NAME, item.item_id, "cosine", condition, *pair).request_id)
            if verdict is None or verdict.response.state != "ok" or verdict.judge not in SCORERS:
                return {}, []
            try:
                score = float((verdict.response.text or "")[:40])
            except ValueError:
                return {}, []
            if not -1.001 <= score <= 1.001:
                return {}, []
            scores.append(score)
            read_.append(verdict)
        bests.append(max(scores))
    judges = {verdict.judge for verdict in read_}
    if len(judges) != 1:
        return {}, []
    return {SCORERS[judges.pop()]: sum(bests) / len(bests)}, read_


def _scores(task: str, found: tuple[Any, ...], gold: Gold, rule: Rule) -> dict[str, float]:
    """Scores of what was read, those that need no scorer."""
    if task.startswith("classification"):
        positive, right = found[0] == "Yes", gold.values["labels"][rule] in POSITIVE
        cell = ("tp" if right else "fp") if positive else ("fn" if right else "tn")
        return {name: float(name == cell) for name in ("tp", "fp", "fn", "tn")}
    if task == "image_bbox":
        area = box_metrics.overlap(found, [(b[0], b[1], b[2], b[3]) for b in gold.values["boxes"]])
        return {} if area is None else area._asdict()
    if task == "caption_hl":
        shared = highlight.overlap(found, tuple(gold.values["highlight"]))
        return {} if shared is None else shared._asdict()
    if task == "explanation":
        rouge = ngrams.rouge(found[0], gold.values["explanation"], kinds=("rouge1", "rouge2"), stemmer=False)
        return {kind: overlap.f1 for kind, overlap in (rouge or {}).items()}
    return {}


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = DEFAULT,
) -> list[Grade]:
    """Grades of one model's answers on one pair in one condition, one for each task.

    `success` is there for every answer that is in the denominator of the success rate: 1 where something can be read, 0
    for a refusal and where nothing can. Scores are there in the first case only. A task that is not scored on the pair
    (in_scope), or that a joint answer does not come to, has a grade that is `ok`, not scored and without values.
    """
    grades = []
    joint: dict[str, tuple[Any, ...] | None] | None = None
    for task, asked in _tasks(condition).items():
        response = responses.get(asked)
        state: State = response.state if response is not None else "missing"
        scored, judge, heard = False, None, list[Verdict]()
        parsed: tuple[str, ...] | None = None
        values: dict[str, float] = {}
        if not in_scope(task, gold, rule):
            state, response = "ok", None
        elif response is not None and state == "ok":
            if asked == JOINT:
                joint = _joint(response.text or "", gold, item) if joint is None else joint
                found, reached = joint.get(task), task in joint
            else:
                found, reached = _answer(task, response.text or "", gold, item), True
            if found is not None:
                scored, values = True, {"success": 1.0, **_scores(task, found, gold, rule)}
                parsed = tuple(json.dumps(list(one)) if isinstance(one, tuple) else str(one) for one in found)
                if task in ("naming", "image_label"):
                    similarity, heard = _cosine(task, found, item, gold, condition, verdicts)
                    values |= similarity
                    judge = heard[0].judge if heard else None
            elif reached:
                state, values = "unparsable", {"success": 0.0}
        elif state == "refused" and (asked != JOINT or task == "classification"):
            values = {"success": 0.0}
        grades.append(
            Grade(
                benchmark=NAME,
                item_id=item.item_id,
                task=task,
                condition=condition,
                sample=0,
                model=model,
                judge=judge,
                rule=rule,
                signature=signature(task, rule, judge),
                responses=tuple(
                    dict.fromkeys(one.digest for one in (response, *(v.response for v in heard)) if one is not None)
                ),
                gold=gold.digest,
                state=state,
                scored=scored,
                parsed=parsed,
                values=values,
            )
        )
    return grades


TABLES = hummus_tables.TABLES
