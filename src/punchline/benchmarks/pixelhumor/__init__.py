"""PixelHumor: eight questions on each of 2,800 online comics.

Yuriel Ryan, Rui Yang Tan, Kenny Tsu Wei Choo, Roy Ka-Wei Lee. Humor in Pixels: Benchmarking Large Multimodal Models
Understanding of Online Comics. 2025. Prompts: appendix E. Annotations: github.com/Social-AI-Studio/PixelHumor.

Two scoring rules: `released` is what the released evaluation code computes, its quirks included; `paper` is what the
paper's text says, with answers read sensibly. docs/pixelhumor.md says both precisely.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from punchline.bench.table import Row, Table
from punchline.benchmarks.pixelhumor import dataset, ratings
from punchline.core.benchmark import DEFAULT, Files, Verdict
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
)
from punchline.core.stats import Array, Estimate, mean, total
from punchline.core.storage import parse_csv
from punchline.score import labels as label_metrics
from punchline.score.text import LIBRARY, error_rates

NAME = "pixelhumor"
TASKS = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8")
GRADED = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7", "Q8")  # Q6, an explanation, is rated by people in the paper
CONDITION = DEFAULT
IMAGES = True
CONDITIONS = (CONDITION,)
CHAINED = ()
JUDGES = ()

ITEM_FILES = ("comic_url.csv", "metadata.csv")
GOLD_FILES = ("subjective_label.csv", "objective_label.csv", "harm_annotation.csv")

STYLES = ("Comparison", "Personification", "Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise", "Dark")
SOUND_EFFECTS = ("Absent", "Present, contribute", "Present, do not contribute")
MODALITIES = ("Text", "Visual", "Both")

# The prompts of appendix E, verbatim: the text after "Question n:". The line breaks of question 5, which print does not
# tell, are those of the released prompts.
SYSTEM_PROMPT = (
    "You are a humorous assistant that understands comics. "
    "You will be given comics and your task is to evaluate the comics."
)
QUESTIONS = {
    "Q1": 'Do you understand the humor of this comics? Please output only a single word answer "Yes" or "No".',
    "Q2": (
        "Analyze the comic and respond based on the following criteria regarding text-based sound effects: "
        '(a) If there are no sound effects present in the comic, output "Absent". '
        '(b) If sound effects are present and contributing to the humor, output "Present, contribute". '
        "(c) If sound effects are present but do not contribute to the humor, output "
        '"Present, do not contribute".'
    ),
    "Q3": ("Which panel contributes the most to the humor of this comic? Please output only the labeled panel number."),
    "Q4": (
        "Is the text or the visual modality more important to the humor in this comic? "
        'Output "Both" if both modalities contribute humor to the comic. '
        'Please output only a single word answer "Text", "Visual", "Both".'
    ),
    "Q5": (
        "Which humor styles best describe the comic? Here are some guidelines for each humor style.\n\n"
        "Comparison: This comic compares two or more objects/ideas to reference the differences or similarities. "
        "This comic is funny because of this comparison.\n"
        "Personification: This comic has at least one animal/creature/plant that acts like a human (talking, running "
        "on two legs etc.). This comic is funny because of this personified creature/plant.\n"
        "Exaggeration: This comic attempts to exaggerate (overemphasize or magnify) something out of proportion. "
        "This comic is funny because of this exaggeration/absurdity.\n"
        "Pun: This comic is funny because of the linguistic elements. Linguistic elements include: uncommon uses of "
        "language, double-meanings in phrases or words etc.\n"
        "Sarcasm: This comic expresses an idea/thought that is not the real intention of the character/comic. "
        "This comic is funny because of the sarcasm present.\n"
        "Silliness: There are elements in the comic which are absurd and/or ridiculous. The characters are or did "
        "something foolish. This comic is funny because of the silly elements.\n"
        "Surprise: There was a twist in the narrative or an unexpected element in the comic. This comic is funny "
        "because of the twist or unexpected elements.\n"
        "Dark: There are potentially sensitive, taboo or ideas that violate the norm in this comic where if taken out "
        "of context in this comic, might be offensive to others. This comic is because of these benign violations or "
        "the dark humor present.\n\n"
        'You may select multiple humor styles but output only the humor styles "Comparison", "Personification", '
        '"Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise" or "Dark".'
    ),
    "Q6": "Explain why this comic is funny or not funny in 3 sentences.",
    "Q7": (
        "In what order should the panels be read? Respond with the panel numbers only. "
        "Write the panel numbers followed by a comma. "
        'For example the answer "3,4,2,1" will mean that panels will be read in order of panel 3, then panel 4, '
        "then panel 2 and finally panel 1."
    ),
    "Q8": ("For each panel, what are the text inside? Respond as {panel_number}: {text_within_panel}."),
}
TEMPERATURE = 0.0  # section 4.2
# The paper names no limit. Q8: the longest released text has 501 words.
MAX_TOKENS = {"Q1": 16, "Q2": 32, "Q3": 16, "Q4": 16, "Q5": 64, "Q6": 256, "Q7": 128, "Q8": 2048}

LONGEST = 2_000_000  # characters of a comic's text in the model's own order; see _ordered
BEYOND = 2  # pixels that a box may reach beyond its image: rounding when boxes were drawn

Box = tuple[int, int, int, int, int]  # x1, y1, x2, y2 in pixels, label


# ---------------------------------------------------------------------------------------------------- released files


def _records(files: Files, name: str, columns: Sequence[str]) -> dict[str, tuple[int, dict[str, str]]]:
    """Records of a released file by comic_id, in its order: (line, cells)."""
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    records: dict[str, tuple[int, dict[str, str]]] = {}
    for line, cells in parse_csv(files[name], ["comic_id", *columns], file=name):
        comic_id = cells["comic_id"]
        if not re.fullmatch(r"\w[\w-]*_[\w-]+", comic_id):
            raise PunchlineError(
                f"{comic_id!r} is no comic id",
                file=name,
                line=line,
                field="comic_id",
                way_out="Expected source_number, as xkcd_209",
            )
        if comic_id in records:
            raise PunchlineError(
                f"the id is there already, in line {records[comic_id][0]}",
                file=name,
                line=line,
                record=comic_id,
                field="comic_id",
                way_out="Every comic may occur once",
            )
        records[comic_id] = line, cells
    return records


def _literal(cell: str, *, file: str, line: int, record: str, field: str, expected: str) -> list[Any]:
    """A cell that holds a Python list literal."""
    try:
        value = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not value:
        raise PunchlineError(
            f"{cell[:80]!r} is not a Python list literal with at least one element",
            file=file,
            line=line,
            record=record,
            field=field,
            way_out=f"Expected {expected}",
        )
    return value


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(comic id, source, page URL) in released order."""
    records = _records(files, "comic_url.csv", ["comic_url"])
    return [(comic_id, _source(comic_id), cells["comic_url"].strip()) for comic_id, (_, cells) in records.items()]


def _source(comic_id: str) -> str:
    return comic_id.rsplit("_", 1)[0]


def _boxes(files: Files) -> dict[str, tuple[int, list[Box]]]:
    """(line, boxes) by comic id."""
    name, field = "metadata.csv", "metadata"
    expected = (
        "Expected a list of {'x1': int, 'y1': int, 'x2': int, 'y2': int, 'panel_number': '1'} "
        "with 0 <= x1 < x2 and 0 <= y1 < y2"
    )
    found: dict[str, tuple[int, list[Box]]] = {}
    for comic_id, (line, cells) in _records(files, name, [field]).items():
        panels = _literal(
            cells[field], file=name, line=line, record=comic_id, field=field, expected="a list of panel boxes"
        )
        boxes = []
        for panel in panels:
            try:
                x1, y1, x2, y2 = (panel[key] for key in ("x1", "y1", "x2", "y2"))
                label = str(panel["panel_number"]).strip()
                if any(type(value) is not int for value in (x1, y1, x2, y2)) or not re.fullmatch("[0-9]{1,4}", label):
                    raise ValueError
                if not (0 <= x1 < x2 and 0 <= y1 < y2 and int(label) >= 1):
                    raise ValueError
            except (KeyError, TypeError, ValueError) as error:
                raise PunchlineError(
                    f"{str(panel)[:120]} is no panel box",
                    file=name,
                    line=line,
                    record=comic_id,
                    field=field,
                    way_out=expected,
                ) from error
            boxes.append((x1, y1, x2, y2, int(label)))
        found[comic_id] = line, boxes
    return found


def boxes(files: Files) -> dict[str, list[Box]]:
    """Panel boxes (x1, y1, x2, y2, label) of every comic, in released order; pixels of the published image."""
    return {comic_id: found for comic_id, (_, found) in _boxes(files).items()}


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the comics that are keys of `images`, in released order; a string says why there is no image.

    Raises PunchlineError for a comic that is not in the released files, and for a box that reaches more than BEYOND
    pixels beyond its image: the image is then not the one that was annotated.
    """
    listed = listing(files)
    known = {comic_id for comic_id, _, _ in listed}
    for comic_id in images:
        if comic_id not in known:
            raise PunchlineError("no such comic", file="comic_url.csv", record=comic_id, field="comic_id")
    panels = _boxes(files)
    result = []
    for comic_id, source, url in listed:
        if comic_id not in images:
            continue
        shown = images[comic_id]
        image = shown if isinstance(shown, str) else shown[0]
        if comic_id not in panels:
            raise PunchlineError("no panel boxes", file="metadata.csv", record=comic_id, field="metadata")
        line, found = panels[comic_id]
        if isinstance(image, ImageRef):
            for box in found:
                if box[2] > image.width + BEYOND or box[3] > image.height + BEYOND:
                    raise PunchlineError(
                        f"the box {box[:4]} of panel {box[4]} reaches beyond the image, which is "
                        f"{image.width} x {image.height} pixels",
                        file="metadata.csv",
                        line=line,
                        record=comic_id,
                        field="metadata",
                        way_out=f"The image {image.path} is not the one that was annotated: fetch it again, "
                        "or leave the comic out with subset=",
                    )
        result.append(
            Item(
                benchmark=NAME,
                item_id=comic_id,
                source=source,
                cluster=comic_id,
                fields={"page_url": url},
                images=(image,) if isinstance(image, ImageRef) else (),
                missing=None if isinstance(image, ImageRef) else image,
            )
        )
    return result


_VOCABULARY = {
    "Q1": ("Yes", "No"),
    "Q2": SOUND_EFFECTS,
    "Q3": None,  # a panel number or NA
    "Q4": (*MODALITIES, "NA"),
    "Q5": (*STYLES, "NA"),
}


def _gold_labels(cells: Mapping[str, str], line: int, comic_id: str) -> dict[str, Any]:
    file = "subjective_label.csv"
    values: dict[str, Any] = {}
    for task, vocabulary in _VOCABULARY.items():
        expected = "a list of one panel number, or ['NA']" if vocabulary is None else f"a list of {vocabulary}"
        found = _literal(cells[task], file=file, line=line, record=comic_id, field=task, expected=expected)
        for label in found:
            if vocabulary is None:
                valid = isinstance(label, str) and re.fullmatch("NA|[0-9]{1,4}", label) is not None
            else:
                valid = label in vocabulary
            if not valid:
                raise PunchlineError(
                    f"{label!r} is no answer to {task}",
                    file=file,
                    line=line,
                    record=comic_id,
                    field=task,
                    way_out=f"Expected {expected}",
                )
        values[task] = found
    return values


def golds(files: Files) -> list[Gold]:
    """What is right, for every comic, in the order of subjective_label.csv; the files are joined on comic_id.

    values: Q1 … Q5 lists of labels; panel_sequence, the labels in reading order as "2, 1, 3"; text, "N: text" of each
    panel; number_of_panels; potentially_harmful. Raises PunchlineError for a cell that cannot be read, and for a comic
    that is in one file only.
    """
    subjective = _records(files, "subjective_label.csv", ["Q1", "Q2", "Q3", "Q4", "Q5"])
    objective = _records(files, "objective_label.csv", ["panel_sequence", "text", "number_of_panels"])
    harm = _records(files, "harm_annotation.csv", ["potentially_harmful"])
    for name, records in (("objective_label.csv", objective), ("harm_annotation.csv", harm)):
        for comic_id in subjective.keys() ^ records.keys():
            has, lacks = ("subjective_label.csv", name) if comic_id in subjective else (name, "subjective_label.csv")
            raise PunchlineError(f"the comic is in {has} only", file=lacks, record=comic_id, field="comic_id")
    result = []
    for comic_id, (line, cells) in subjective.items():
        values = _gold_labels(cells, line, comic_id)
        line, cells = objective[comic_id]
        sequence, panels = cells["panel_sequence"].strip(), cells["number_of_panels"].strip()
        for field, text, pattern, expected in (
            ("panel_sequence", sequence, r"[0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*", "labels in reading order, as 2, 1, 3"),
            ("number_of_panels", panels, "0*[1-9][0-9]{0,3}", "a whole number from 1"),
        ):
            if not re.fullmatch(pattern, text):
                raise PunchlineError(
                    f"{text[:80]!r} cannot be read",
                    file="objective_label.csv",
                    line=line,
                    record=comic_id,
                    field=field,
                    way_out=f"Expected {expected}",
                )
        values |= {"panel_sequence": sequence, "text": cells["text"], "number_of_panels": int(panels)}
        line, cells = harm[comic_id]
        if cells["potentially_harmful"] not in ("harm", "non-harm"):
            raise PunchlineError(
                f"{cells['potentially_harmful'][:80]!r} cannot be read",
                file="harm_annotation.csv",
                line=line,
                record=comic_id,
                field="potentially_harmful",
                way_out="Expected harm or non-harm",
            )
        values["potentially_harmful"] = cells["potentially_harmful"]
        result.append(Gold(benchmark=NAME, item_id=comic_id, values=values))
    return result


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is tolerated, one line each: `file line N comic field: what`."""
    found = []
    sequences: dict[str, list[int]] = {}
    panels: dict[str, int] = {}
    if all(name in files for name in GOLD_FILES):
        subjective = _records(files, "subjective_label.csv", ["Q1"])
        objective = _records(files, "objective_label.csv", ["text"])
        for gold in golds(files):
            comic_id, values = gold.item_id, gold.values
            sequence, n = [int(label) for label in values["panel_sequence"].split(",")], values["number_of_panels"]
            sequences[comic_id], panels[comic_id] = sequence, n
            at = f"subjective_label.csv line {subjective[comic_id][0]} {comic_id}"
            for label in values["Q3"]:
                if label != "NA" and not 1 <= int(label) <= n:
                    found.append(f"{at} Q3: panel {label} of a comic of {n}")
            if values["Q1"] == ["No"]:
                for task, expected in (("Q2", "Absent"), ("Q3", "NA"), ("Q4", "NA"), ("Q5", "NA")):
                    if values[task] != [expected]:
                        found.append(f"{at} {task}: {values[task]} though Q1 is No")
            at = f"objective_label.csv line {objective[comic_id][0]} {comic_id}"
            if sorted(sequence) != list(range(1, n + 1)):
                found.append(f"{at} panel_sequence: {values['panel_sequence']} is no permutation of 1 to {n}")
            keys = {key for key, _ in _RELEASED_PANEL.findall(values["text"])}
            if keys != {str(label) for label in range(1, n + 1)}:
                found.append(f"{at} text: the keys {', '.join(sorted(keys)) or '(none)'} are not 1 to {n}")
    if "metadata.csv" in files:
        for comic_id, (line, boxes_) in _boxes(files).items():
            at, labels = f"metadata.csv line {line} {comic_id} metadata", [box[4] for box in boxes_]
            if len(set(labels)) < len(labels):
                found.append(f"{at}: the labels {', '.join(map(str, labels))} are not all different")
            elif comic_id in panels and sorted(labels) != list(range(1, panels[comic_id] + 1)):
                found.append(f"{at}: the labels {', '.join(map(str, labels))} are not 1 to {panels[comic_id]}")
    return found


# ---------------------------------------------------------------------------------------------------------- requests


def requests(item: Item) -> list[Request]:
    """The eight questions on a comic, as eight independent requests: system prompt; image, then question."""
    image = Image(sha256=item.images[0].sha256 if item.images else None)
    return [
        Request(
            benchmark=NAME,
            item_id=item.item_id,
            task=task,
            condition=CONDITION,
            messages=(
                Message(role="system", content=(Text(text=SYSTEM_PROMPT),)),
                Message(role="user", content=(image, Text(text=QUESTIONS[task]))),
            ),
            sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS[task]),
        )
        for task in TASKS
    ]


# ------------------------------------------------------------------------------------------------- reading of answers

# The released pattern `(\d+):\s*(.*?)(?=(\d+: |$))` with possessive quantifiers and look-behinds: the same matches, in
# linear time (the original is quadratic in the length of a run of digits).
_RELEASED_PANEL = re.compile(r"(?<!\d)(\d++):\s*+(.*?)(?=(?<!\d)\d++: |$)", re.DOTALL)

# Rule `paper`: `N:` at the start of a word, tolerating "Panel N:", {N}:, **N:**, "N":; not the 2: of 2:30.
_PAPER_KEY = re.compile(
    r"""(?<!\S)[\[({*_"'#]{0,4}+(?:panel\s{0,3}+)?[\[({*_"'#]{0,4}+([0-9]{1,3}+)[\])}*_"']{0,4}+\s{0,3}+:(?!\d)[*_]{0,2}""",
    re.IGNORECASE,
)

_NOT_APPLICABLE = re.compile(r"[\W_]*+(?:n\s?/?\s?a|none|not applicable)[\W_]*+", re.IGNORECASE)
_LEAD = re.compile(r"[\W_]*+(?:(?:the\s)?(?:final\s|correct\s)?answer(?:\sis)?\b[\W_]*+)?", re.IGNORECASE)
_SINGLE: dict[str, dict[str, re.Pattern[str]]] = {
    "Q1": {"Yes": re.compile(r"\byes\b", re.IGNORECASE), "No": re.compile(r"\bno\b", re.IGNORECASE)},
    "Q2": {
        "Present, do not contribute": re.compile(
            r"\bpresent\b[\s\"',;:.–-]*+(?:but\s++)?(?:(?:do|does|did)(?:\s++not|n['’]t)|not)\s++contribut",
            re.IGNORECASE,
        ),
        "Present, contribute": re.compile(
            r"\bpresent\b[\s\"',;:.–-]*+(?:and\s++)?(?:(?:do|does)\s++)?contribut", re.IGNORECASE
        ),
        "Absent": re.compile(r"\babsent\b", re.IGNORECASE),
    },
    "Q4": {
        "Both": re.compile(
            r"\bboth\b|\btext(?:ual|s)?\s*(?:,|and|&|\+|/)\s*visuals?\b|\bvisuals?\s*(?:,|and|&|\+|/)\s*text(?:ual|s)?\b",
            re.IGNORECASE,
        ),
        "Text": re.compile(r"\btext(?:ual|s)?\b", re.IGNORECASE),
        "Visual": re.compile(r"\bvisual(?:s|ly)?\b", re.IGNORECASE),
    },
}
_BOTH = re.compile(r"\bboth\s++(?:the\s++)?(?:text|visual)", re.IGNORECASE)
_OPTION_LETTER = re.compile(r"[\W_]*+([abc])[\W_]*+", re.IGNORECASE)
_STYLE = re.compile(rf"\b({'|'.join(STYLES)})\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,4}+(?![0-9])")
_LEADING_NUMBER = re.compile(
    r"[\W_]*+(?:panel\b[\W_]*+)?(?:number\b[\W_]*+)?([0-9]{1,4}+)(?![0-9])"
    r"(?!\s*+(?:[,&/–-]|and\b|or\b|to\b)\s*+(?:panel\s*+)?[0-9])",
    re.IGNORECASE,
)
_PANEL_NUMBER = re.compile(r"\bpanel\s*+(?:number\s*+)?#?\s*+([0-9]{1,4}+)(?![0-9])", re.IGNORECASE)
_RUN = re.compile(
    r"(?<![0-9])[0-9]{1,4}+(?![0-9])"
    r"(?:(?:[\s,;|/>→⇒–\-\[\](){}*_\"'#]|then\b|and\b|finally\b|panels?\b)++[0-9]{1,4}+(?![0-9]))*+",
    re.IGNORECASE,
)


def _number(digits: str) -> str:
    """A number without leading zeros and in ASCII digits."""
    return str(int(digits))


def _choose(answer: str, options: Mapping[str, re.Pattern[str]]) -> str | None:
    """The option that an answer begins with, else the only one that it names."""
    start = _LEAD.match(answer)
    at = start.end() if start else 0
    for label, pattern in options.items():
        if pattern.match(answer, at):
            return label
    named = [label for label, pattern in options.items() if pattern.search(answer)]
    return named[0] if len(named) == 1 else None


def _read_panel(answer: str) -> str | None:
    """One panel number."""
    numbers = {_number(digits) for digits in _NUMBER.findall(answer)}
    if len(numbers) == 1:
        return numbers.pop()
    leading = _LEADING_NUMBER.match(answer)
    if leading:
        return _number(leading.group(1))
    named = {_number(digits) for digits in _PANEL_NUMBER.findall(answer)}
    return named.pop() if len(named) == 1 else None


def _read_sequence(answer: str) -> tuple[str, ...] | None:
    """The first run of two or more numbers, else the first number."""
    first = None
    for run in _RUN.finditer(answer):
        numbers = tuple(_number(digits) for digits in re.findall("[0-9]+", run.group()))
        if len(numbers) > 1:
            return numbers
        first = first or numbers
    return first


def _parse_paper(task: str, answer: str) -> tuple[str, ...] | None:
    if task in ("Q3", "Q4", "Q5") and _NOT_APPLICABLE.fullmatch(answer):
        return ("NA",)
    label: str | None
    if task == "Q3":
        label = _read_panel(answer)
    elif task == "Q5":
        return tuple(dict.fromkeys(found.capitalize() for found in _STYLE.findall(answer))) or None
    elif task == "Q7":
        return _read_sequence(answer)
    else:
        label = _choose(answer, _SINGLE[task])
        if label is None and task == "Q4" and _BOTH.search(answer):
            label = "Both"
        letter = _OPTION_LETTER.fullmatch(answer) if task == "Q2" else None
        if letter:
            label = {"a": SOUND_EFFECTS[0], "b": SOUND_EFFECTS[1], "c": SOUND_EFFECTS[2]}[letter.group(1).lower()]
    return None if label is None else (label,)


def _parse_released(task: str, answer: str) -> tuple[str, ...] | None:
    if task in ("Q1", "Q2"):
        return (answer.lower(),) if answer.strip() else None
    if task == "Q3":
        return tuple(re.findall(r"\d+", answer)) or None
    if task == "Q4":
        return (answer,) if answer in MODALITIES else None
    if task == "Q5":
        pieces = answer.split(", ") if "," in answer else answer.split(" ")
        return tuple(piece for piece in pieces if piece in STYLES) or None
    numbers = []
    for piece in answer.replace(" ", "").split(","):
        if piece.isdecimal():  # isdigit in the released code, which then fails on digits such as a superscript two
            numbers.append(_number(piece) if len(piece) <= 4000 else piece)  # int() refuses longer ones
    return tuple(numbers) or None


def parse(task: str, answer: str, rule: Rule) -> tuple[str, ...] | None:
    """What an answer to Q1 … Q5 or Q7 says; None when nothing can be read out of it. Never raises.

    Q1, Q2 and Q4: one label; Q3: a panel number (`released`: every number); Q5: styles; Q7: panel numbers in order.
    Under `released`, Q1 and Q2 give the whole answer lower-cased, as the released code compares it.
    """
    return _parse_released(task, answer) if rule == "released" else _parse_paper(task, answer)


def _unquote_released(value: str) -> str:
    """What the released code makes of the text of one panel."""
    value = value.strip()
    if value and value[0] == value[-1] == '"':
        value = value[1:-1]
    if value and value[0] == "{" and value[-1] == "}":
        value = value[1:-1]
    if value and value[0].isdigit():
        if len(value.strip()) <= 2:
            return ""
        if value[1] in ")\n":
            value = value[2:]
    return value


def _unquote_paper(value: str) -> str:
    value = value.strip()
    for opening, closing in ('""', "{}"):
        inner = value.removesuffix(",")
        if len(inner) > 1 and inner[0] == opening and inner[-1] == closing:
            value = inner[1:-1].strip()
    return value


def panel_texts(answer: str, rule: Rule, labels: Iterable[str] = ()) -> dict[str, str]:
    """{label: text} of an answer to Q8 or of a gold text, in its order; a repeated label's texts joined with a space.

    `labels`: those printed on the comic's panels; rule `paper` takes no other number for a key.
    """
    texts: dict[str, list[str]] = {}
    if rule == "released":
        for key, value in _RELEASED_PANEL.findall(answer):
            texts.setdefault(key, []).append(_unquote_released(value))
    else:
        known = frozenset(labels)
        keys = [(match, _number(match.group(1))) for match in _PAPER_KEY.finditer(answer)]
        keys = [(match, key) for match, key in keys if key in known]
        starts = [match.start() for match, _ in keys]
        for (match, key), end in zip(keys, [*starts[1:], len(answer)], strict=False):
            texts.setdefault(key, []).append(_unquote_paper(answer[match.end() : end]))
    return {key: " ".join(values) for key, values in texts.items()}


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _ordered(texts: Mapping[str, str], order: Sequence[str]) -> tuple[str, ...]:
    """The panels' texts in an order, lower-cased, white space collapsed; '' for a label without text.

    Cut after LONGEST characters: under `released` a sequence that repeats a label without end repeats its text as
    often, which can fill any memory. Error rates are in the thousands by then.
    """
    normal = {label: _normal(text) for label, text in texts.items()}
    panels: list[str] = []
    length = 0
    for label in order:
        panels.append(normal.get(label, ""))
        length += len(panels[-1]) + 1
        if length > LONGEST:
            break
    return tuple(panels)


def text_scores(gold: Sequence[str], candidate: Sequence[str], rule: Rule) -> dict[str, float]:
    """text_acc, wer and cer of panels' texts in order.

    Text accuracy compares the strings with position numbers ("1: … 2: …"), WER and CER those without. An empty
    reference gives (1, 0, 0) for an empty candidate, else (0, words, characters) under `released`, (0, 1, 1) under
    `paper`.
    """
    reference, text = (_normal(" ".join(panels)) for panels in (gold, candidate))
    if not reference:
        if not text:
            return {"text_acc": 1, "wer": 0, "cer": 0}
        wer, cer = (len(text.split(" ")), len(text)) if rule == "released" else (1, 1)
        return {"text_acc": 0, "wer": wer, "cer": cer}
    numbered = [
        _normal(" ".join(f"{position}: {panel}" for position, panel in enumerate(panels, start=1)))
        for panels in (gold, candidate)
    ]
    word_rate, character_rate = error_rates(reference, text)
    return {"text_acc": float(numbered[0] == numbered[1]), "wer": word_rate, "cer": character_rate}


# ------------------------------------------------------------------------------------------------------------ grading


def signature(task: str, rule: Rule) -> str:
    """What names all that changes a grade's values."""
    if task == "Q7":
        return f"panel_acc|rule:{rule}|v:1"
    if task == "Q8":
        return f"text_acc,wer,cer|rule:{rule}|lib:{LIBRARY}|v:1"
    return f"labels|task:{task}|rule:{rule}|v:1"


# The answer that another one is read in the light of: Q1 gates (released) or turns into NA (paper), Q7 orders Q8.
_RESTS_ON: dict[Rule, dict[str, str]] = {
    "released": {"Q2": "Q1", "Q3": "Q1", "Q4": "Q1", "Q5": "Q1", "Q8": "Q7"},
    "paper": {"Q3": "Q1", "Q4": "Q1", "Q5": "Q1", "Q8": "Q7"},
}


def _absent(response: Response | None) -> bool:
    return response is None or response.state in ("missing", "failed")


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = CONDITION,
) -> list[Grade]:
    """Grades of one model's answers (by task) on one comic: Q1 … Q5, Q7 and Q8. Q6 is not graded automatically.

    An answer that is missing or failed is not scored; a refusal and an answer from which nothing can be read are, as
    wrong. `released`: Q1 … Q5 are scored only where the answer to Q1 holds "yes". `paper`: Q1 = No turns Q3, Q4 and Q5
    into NA. Q8 needs the model's own order of panels: without an answer to Q7 it is missing.
    """
    gold_digest = gold.digest
    digests = {task: response.digest for task, response in responses.items()}
    first, sequence = responses.get("Q1"), responses.get("Q7")
    first_text = (first.text or "") if first is not None else ""
    gated = rule == "released" and "yes" not in first_text.lower()
    says_no = rule == "paper" and first is not None and first.state == "ok" and parse("Q1", first_text, rule) == ("No",)

    def grade(task: str) -> Grade:
        response = responses.get(task)
        state: State = response.state if response is not None else "missing"
        scored = not _absent(response)
        other = _RESTS_ON[rule].get(task)
        needed = other == "Q7" or (other == "Q1" and rule == "released")
        parsed: tuple[str, ...] | None = None
        values: dict[str, float] = {}
        text = (response.text or "") if response is not None else ""
        readable = scored and (rule == "released" or state != "refused")  # under `paper` a refusal says nothing
        if scored and needed and _absent(responses.get(str(other))):
            state, scored = "missing", False
        elif scored and gated and task not in ("Q7", "Q8"):
            scored = False
            parsed = parse(task, text, rule)
        elif scored and says_no and task in ("Q3", "Q4", "Q5"):
            parsed = ("NA",)
        elif scored:
            if task == "Q8":
                parsed, values = _grade_text(text if readable else "", sequence, gold, rule)
            else:
                parsed = parse(task, text, rule) if readable else None
            if task == "Q7":
                right = tuple(_number(label) for label in gold.values["panel_sequence"].split(","))
                values = {"panel_acc": float(parsed == right)}
            if parsed is None and state == "ok":
                state = "unparsable"
        return Grade(
            benchmark=NAME,
            item_id=item.item_id,
            task=task,
            condition=CONDITION,
            sample=0,
            model=model,
            rule=rule,
            signature=signature(task, rule),
            responses=tuple(digests[name] for name in (other, task) if name in digests),
            gold=gold_digest,
            state=state,
            scored=scored,
            parsed=parsed,
            values=values,
        )

    return [grade(task) for task in GRADED]


def _grade_text(
    text: str, sequence: Response | None, gold: Gold, rule: Rule
) -> tuple[tuple[str, ...] | None, dict[str, float]]:
    """(texts in the model's own order, scores) of an answer to Q8; None where no panel's text can be read."""
    gold_order = tuple(label.strip() for label in gold.values["panel_sequence"].split(","))
    answered = (sequence.text or "") if sequence is not None else ""
    if rule == "released":
        order = tuple(piece.strip() for piece in answered.split(","))
        gold_texts, texts = panel_texts(gold.values["text"], rule), panel_texts(text, rule)
        candidate = _ordered(texts, order)
        return (candidate if texts else None), text_scores(_ordered(gold_texts, gold_order), candidate, rule)
    labels = dict.fromkeys(_number(label) for label in gold_order)
    labels |= dict.fromkeys(str(label) for label in range(1, gold.values["number_of_panels"] + 1))
    gold_texts, texts = (panel_texts(answer, rule, labels) for answer in (gold.values["text"], text))
    if not texts:
        return None, {"text_acc": 0, "wer": 1, "cer": 1}
    refused = sequence is not None and sequence.state == "refused"
    order = (None if refused else parse("Q7", answered, rule)) or tuple(texts)
    # Each label once, and only labels of the comic: a sequence that runs on does not repeat the text.
    order, gold_order = (
        tuple(dict.fromkeys(o for o in seq if o in labels)) for seq in (order, map(_number, gold_order))
    )
    candidate = _ordered(texts, order)
    return candidate, text_scores(_ordered(gold_texts, gold_order), candidate, rule)


# ------------------------------------------------------------------------------------------------------------- tables

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Scored:
    """One task's scored grades of one model, as arrays with one row for each comic, in order of comic id."""

    attempted: bool  # whether the model has any grade for the task that is not `missing`
    grades: tuple[Grade, ...]
    gold: tuple[frozenset[str], ...]
    classes: tuple[str, ...]  # of the gold labels, lower-cased
    clusters: npt.NDArray[np.object_]

    @cached_property
    def digests(self) -> npt.NDArray[np.object_]:
        return np.array([grade.digest for grade in self.grades], dtype=np.object_)

    @cached_property
    def counts(self) -> Array:
        """[n, 3 C] for punchline.score.labels."""
        return label_metrics.counts(self.predicted, _indicator(self.gold, self.classes))

    @cached_property
    def answers(self) -> list[frozenset[str]]:
        return [frozenset(label.lower() for label in grade.parsed or ()) for grade in self.grades]

    @cached_property
    def predicted(self) -> Flags:
        return _indicator(self.answers, self.classes)

    def estimate(self, sums: Array, value: Any, where: Flags | None = None) -> Estimate | None:
        """An estimate over the comics `where`; None when the model was not asked."""
        if not self.attempted:
            return None
        chosen = slice(None) if where is None else where
        return Estimate(
            sums=sums[chosen],
            value=value,
            clusters=self.clusters[chosen].tolist(),
            grades=self.digests[chosen].tolist(),
        )

    def flag(self, name: str, where: Flags | None = None) -> Estimate | None:
        """Mean of a value of the grades."""
        ones = np.ones(len(self.grades))
        values = np.array([grade.values[name] for grade in self.grades], dtype=np.float64)
        return self.estimate(np.column_stack([values, ones]), mean, where)

    def where(self, comics_: frozenset[str]) -> Flags:
        return np.array([grade.item_id in comics_ for grade in self.grades], dtype=np.bool_)


def _indicator(labels: Sequence[frozenset[str]], classes: Sequence[str]) -> Flags:
    """[n, C]: whether an item has a label."""
    column = {label: index for index, label in enumerate(classes)}
    matrix = np.zeros((len(labels), len(classes)), dtype=np.bool_)
    for row, found in enumerate(labels):
        for label in found:
            if label in column:
                matrix[row, column[label]] = True
    return matrix


def _scored(
    grades: Iterable[Grade], golds_: Mapping[str, Gold], items_: Mapping[str, Item], tasks: Sequence[str]
) -> dict[str, _Scored]:
    """The scored grades of each task; grades of comics that are not in the selection are left out."""
    found: dict[str, list[Grade]] = {task: [] for task in tasks}
    attempted = dict.fromkeys(tasks, False)
    for grade in grades:
        if grade.task in found and grade.item_id in golds_ and grade.item_id in items_:
            attempted[grade.task] |= grade.state != "missing"
            if grade.scored:
                found[grade.task].append(grade)
    result = {}
    for task, chosen in found.items():
        chosen.sort(key=lambda grade: grade.item_id)
        gold = tuple(
            frozenset(label.lower() for label in golds_[grade.item_id].values.get(task, ())) for grade in chosen
        )
        result[task] = _Scored(
            attempted=attempted[task],
            grades=tuple(chosen),
            gold=gold,
            classes=tuple(sorted(frozenset[str]().union(*gold))),
            clusters=np.array([items_[grade.item_id].cluster for grade in chosen], dtype=np.object_),
        )
    return result


Golds = Mapping[str, Gold]
Items = Mapping[str, Item]

_PRECISION_RECALL_F1 = {"f1": label_metrics.f1, "precision": label_metrics.precision, "recall": label_metrics.recall}
_STYLE_KEYS = tuple(style.lower() for style in (*STYLES, "NA"))
_SUBTASKS = {"humor_presence": "Q1", "sound_effect": "Q2", "panel_contribution": "Q3", "modality": "Q4"}
_STYLE_COUNTS = ("styles_1", "styles_2", "styles_3", "styles_4", "styles_5plus")
_BY_TASK = {f"task{task[1]}_f1": task for task in ("Q1", "Q2", "Q3", "Q4", "Q5")}


def _scope(golds_: Golds, items_: Items) -> frozenset[str]:
    return frozenset(items_) & frozenset(golds_)


def _table2(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, tuple(_SUBTASKS.values()))
    rows = []
    for subtask, task in _SUBTASKS.items():
        scored = answers[task]
        exact = np.array([a == g for a, g in zip(scored.answers, scored.gold, strict=True)], dtype=np.float64)
        columns = {name: scored.estimate(scored.counts, value) for name, value in _PRECISION_RECALL_F1.items()}
        columns["accuracy"] = scored.estimate(np.column_stack([exact, np.ones(len(exact))]), mean)
        rows.append(Row({"subtask": subtask}, columns, _scope(golds_, items_), (task,)))
    return rows


def _table3(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    scored = _scored(grades, golds_, items_, ("Q5",))["Q5"]
    columns = {name: scored.estimate(scored.counts, value) for name, value in _PRECISION_RECALL_F1.items()}
    predicted, gold = _indicator(scored.answers, _STYLE_KEYS), _indicator(scored.gold, _STYLE_KEYS)
    for index, style in enumerate(_STYLE_KEYS):
        hits = np.column_stack([predicted[:, index] & gold[:, index], gold[:, index]]).astype(np.float64)
        columns[f"recall_{style}"] = scored.estimate(hits, mean)
    return [Row({}, columns, _scope(golds_, items_), ("Q5",))]


def _style_counts(labels: Sequence[frozenset[str]]) -> dict[str, Array]:
    """For each column of Table 4, [n, 1]: whether a comic has that number of styles; NA is one style."""
    numbers = np.array([min(len(found), len(_STYLE_COUNTS)) for found in labels], dtype=np.int64)
    return {name: (numbers == number).astype(np.float64)[:, None] for number, name in enumerate(_STYLE_COUNTS, start=1)}


def _table4(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    scored = _scored(grades, golds_, items_, ("Q5",))["Q5"]
    columns = {name: scored.estimate(sums, total) for name, sums in _style_counts(scored.answers).items()}
    return [Row({}, columns, _scope(golds_, items_), ("Q5",))]


def _table4_ground_truth(files: Files) -> list[tuple[str, Row]]:
    subjective = _records(files, "subjective_label.csv", ["Q1", "Q2", "Q3", "Q4", "Q5"])
    names = sorted(subjective)
    labels = [frozenset(_gold_labels(subjective[n][1], subjective[n][0], n)["Q5"]) for n in names]
    columns = {
        name: Estimate(sums=sums, value=total, clusters=names, grades=())
        for name, sums in _style_counts(labels).items()
    }
    return [("ground truth", Row({}, columns, frozenset(names), ()))]


def _table8(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, ("Q7", "Q8"))
    scope = _scope(golds_, items_)
    rows = []
    for subset, comics_ in (
        ("all", scope),
        ("multi-panel", frozenset(name for name in scope if golds_[name].values["number_of_panels"] > 1)),
    ):
        where = {task: answers[task].where(comics_) for task in answers}
        columns = {"panel_acc": answers["Q7"].flag("panel_acc", where["Q7"])}
        columns |= {name: answers["Q8"].flag(name, where["Q8"]) for name in ("text_acc", "wer", "cer")}
        rows.append(Row({"subset": subset}, columns, comics_, ("Q7", "Q8")))
    return rows


def _table13(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    scored = _scored(grades, golds_, items_, ("Q5",))["Q5"]
    predicted, gold = _indicator(scored.answers, _STYLE_KEYS), _indicator(scored.gold, _STYLE_KEYS)
    cells = {"tp": predicted & gold, "fp": predicted & ~gold, "tn": ~predicted & ~gold, "fn": ~predicted & gold}
    return [
        Row(
            {"style": style},
            {name: scored.estimate(flags[:, [index]].astype(np.float64), total) for name, flags in cells.items()},
            _scope(golds_, items_),
            ("Q5",),
        )
        for index, style in enumerate(_STYLE_KEYS)
    ]


def _f1_by_task(answers: Mapping[str, _Scored], key: str, name: str | int, comics_: frozenset[str]) -> Row:
    columns = {
        column: answers[task].estimate(answers[task].counts, label_metrics.f1, answers[task].where(comics_))
        for column, task in _BY_TASK.items()
    }
    return Row({key: name}, columns, comics_, tuple(_BY_TASK.values()))


def _table14(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, tuple(_BY_TASK.values()))
    scope = _scope(golds_, items_)
    rows = []
    for style in (*STYLES, "NA"):
        comics_ = frozenset(name for name in scope if style in golds_[name].values["Q5"])
        rows.append(_f1_by_task(answers, "style", style.lower(), comics_))
    return rows


def _table15(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, tuple(_BY_TASK.values()))
    by_panels: dict[int, set[str]] = {}
    for name in _scope(golds_, items_):
        by_panels.setdefault(golds_[name].values["number_of_panels"], set()).add(name)
    return [_f1_by_task(answers, "panels", panels, frozenset(by_panels[panels])) for panels in sorted(by_panels)]


_LABEL_NOTE = (
    "Means over classes weighted by gold labels; a class's undefined value is 0. Under rule released a comic counts "
    "only where the answer to Q1 holds 'yes'."
)
TABLES = {
    table.name: table
    for table in (
        Table(
            name="table2",
            title="Humor identification",
            path="results/pixelhumor/table2.csv",
            rule="paper",
            keys=("subtask",),
            columns=(*_PRECISION_RECALL_F1, "accuracy"),
            tasks=tuple(_SUBTASKS.values()),
            rows=_table2,
            notes=(_LABEL_NOTE, "accuracy: the answer's labels are exactly the gold labels; not in the paper."),
        ),
        Table(
            name="table3",
            title="Humor classification, with the recall of each style",
            path="results/pixelhumor/table3.csv",
            rule="paper",
            keys=(),
            columns=(*_PRECISION_RECALL_F1, *(f"recall_{style}" for style in _STYLE_KEYS)),
            tasks=("Q5",),
            rows=_table3,
            notes=(
                _LABEL_NOTE,
                "The paper's Per. and Exa. recalls of LLaVA-OV 7B and Qwen2-VL 7B are swapped in its Table 13.",
            ),
        ),
        Table(
            name="table4",
            title="Number of humor styles predicted for a comic",
            path="results/pixelhumor/table4.csv",
            rule="paper",
            keys=(),
            columns=_STYLE_COUNTS,
            whole=_STYLE_COUNTS,
            tasks=("Q5",),
            rows=_table4,
            data_rows=_table4_ground_truth,
            files=("subjective_label.csv",),
            notes=("Comics; NA is one style. An answer without any style is in no column.",),
        ),
        Table(
            name="table8",
            title="Sequence recognition",
            path="results/table8.csv",
            rule="released",
            keys=("subset",),
            columns=("panel_acc", "text_acc", "wer", "cer"),
            tasks=("Q7", "Q8"),
            rows=_table8,
            notes=(
                "Means over comics; WER and CER are not clipped at 1.",
                "A comic of one panel is always in order: see the rows multi-panel.",
            ),
        ),
        Table(
            name="table13",
            title="Confusion matrix of humor classification by style",
            path="results/pixelhumor/table13.csv",
            rule="paper",
            keys=("style",),
            columns=("tp", "fp", "tn", "fn"),
            whole=("tp", "fp", "tn", "fn"),
            tasks=("Q5",),
            rows=_table13,
            notes=("Comics. The paper's rows Per. and Exa. of LLaVA-OV 7B and Qwen2-VL 7B are swapped.",),
        ),
        Table(
            name="table14",
            title="F1 of each task over the comics of one humor style",
            path="results/pixelhumor/table14.csv",
            rule="paper",
            keys=("style",),
            columns=tuple(_BY_TASK),
            tasks=tuple(_BY_TASK.values()),
            rows=_table14,
            notes=(_LABEL_NOTE,),
        ),
        Table(
            name="table15",
            title="F1 of each task over the comics with one number of panels",
            path="results/pixelhumor/table15.csv",
            rule="paper",
            keys=("panels",),
            columns=tuple(_BY_TASK),
            tasks=tuple(_BY_TASK.values()),
            rows=_table15,
            notes=(_LABEL_NOTE,),
        ),
    )
}

TABLES |= dataset.TABLES | ratings.TABLES
