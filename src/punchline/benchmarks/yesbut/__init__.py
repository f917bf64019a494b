"""YesBut: are the two panels of a comic understood? Four tasks on 348 comics whose panels contradict each other.

Hu et al., "Cracking the Code of Juxtaposition: Can AI Models Understand the Humorous Contradictions" (NeurIPS 2024).
Released file: github.com/Tuo-Liang/YESBUT at 90186c127419110eb80fdce3f7336738da545303. Literal description and
contradiction are written, underlying philosophy and title are chosen of four options; three prompts for each, and
values are means over the prompts. An item's id is its `image_file`. docs/yesbut.md says how both rules score.
"""

from __future__ import annotations

import difflib
import json
import math
import random
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from punchline.benchmarks.yesbut import tables
from punchline.core.benchmark import DEFAULT, Files, Verdict, comparison, filled
from punchline.core.errors import PunchlineError
from punchline.core.records import (
    RULES,
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
from punchline.score import ngrams

NAME = "yesbut"
PROMPTS = (1, 2, 3)
WRITTEN = ("description", "contradiction")
CHOSEN = ("moral_mcq", "title_mcq")  # moral: the paper's underlying philosophy
KINDS = (*WRITTEN, *CHOSEN)
TASKS = tuple(f"{kind}_{k}" for kind in KINDS for k in PROMPTS)
# Models whose descriptions others get (figure 4): {condition: file}. They were not released: the project's files are
# empty lists, to be filled by who has them (docs/yesbut.md).
LENT = {
    "text_llava_7b": "descriptions_llava-1.6-7b.json",
    "text_llava_13b": "descriptions_llava-1.6-13b.json",
}
CONDITIONS = (DEFAULT, "oracle", "chained", "text_oracle", *LENT)
CHAINED = ("chained",)
IMAGES = True
JUDGES = ("judge", "bertscore")

ANNOTATIONS = "Yesbut_data.json"
ITEM_FILES = (ANNOTATIONS, *LENT.values())
GOLD_FILES = (ANNOTATIONS,)

# Figures 13-16, in the order in which they are printed there; line breaks, which print does not tell, and the blank
# lines around are those of the released instruction_generation_yesbut.py (descriptions: Prompts.sh).
PLAIN: dict[str, tuple[str, str, str]] = {
    "description": (
        "The given comic shows the same situation from two opposite sides with contradictions. Write a one-paragraph "
        "literal description to describe the narrative of the comic.",
        "Please literally describe the context of the image in detail.",
        "Give me a detailed literal description of the image.",
    ),
    "contradiction": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "Write a short explanation to illustrate the contradiction of the two sides.\n",
        "\nAnalyze the provided image, which is divided into two or more panels, each illustrating contrasting views "
        "of the same scenario. Describe the elements visible in each panel. Then concisely interpret how these "
        "elements convey contrasting perspectives in one or two sentences. Focus and only output the contradiction.\n",
        "\nGiven an image, the image is divided into two or more panels. There is the contrast relationship in the "
        "image through panels. Describe the elements visible in each panel. Give me the concise interpretation how "
        "these panels convey contrasting perspectives, which you only need to output the contradiction in one or two "
        "sentences.\n",
    ),
    "moral_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "Which of the following options best represents the underlying philosophy of the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image, which is divided into two or more panels, each illustrating contrasting "
        "views of the same scenario. \nWhich of the following options best represents the philosophy of the image "
        "provided? \n{options} \nSelect the correct option by typing the corresponding letter (A, B, C, or D).\n",
        "\nGiven an image, which has two or more panels. There is contrast in these panels. \nTell me the best option "
        "in the following options who represents the deep semantic of the image? \n{options} \nJust tell me the "
        "correct option by outputing corresponding letter (A, B, C, or D), no more explanation.\n",
    ),
    "title_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "Which of the following titles are the most suitable for the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image, which is divided into two or more panels, each illustrating contrasting "
        "views of the same scenario. \nWhich of the following title options best represents the image provided? \n"
        "{options} \nSelect the correct option by typing the corresponding letter (A, B, C, or D).\n",
        "\nGiven an image, the image is divided into two or more panels. There is the contrast relationship in the "
        "image through panels. \nTell me the best title in the following title options who represents the image? \n"
        "{options} \nJust tell me the correct option by outputing corresponding letter (A, B, C, or D), no more "
        "explanation.\n",
    ),
}
# The same with a description of the comic, from instruction_generation_yesbut.py; the paper does not print these.
DESCRIBED: dict[str, tuple[str, str, str]] = {
    "contradiction": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "The literal caption of the comic is: {caption}\n"
        "Write a short explanation to illustrate the contradiction of the two sides.\n",
        "\nAnalyze the provided image with the following description: {caption}. Identify and concisely describe the "
        "contradiction depicted in the image in one or two sentences.\n",
        "\nBased on the following image's description: {caption}. Give me the concise contradiction depicted in the "
        "image in one or two sentences.\n",
    ),
    "moral_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "The literal caption of the comic is: {caption}\n"
        "Which of the following options best represents the underlying philosophy of the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image with the following description: {caption}. \nWhich of the following options "
        "best represents the philosophy of the image provided? \n{options} \nSelect the correct option by typing the "
        "corresponding letter (A, B, C, or D).\n",
        "\nGiven an image with the following description: {caption}. \nTell me the best option in the following "
        "options who represents the deep semantic of the image? \n{options} \nJust tell me the correct option by "
        "outputing corresponding letter (A, B, C, or D), no more explanation.\n",
    ),
    "title_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "The literal caption of the comic is: {caption}\n"
        "Which of the following titles are the most suitable for the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image with the following description: {caption}. \nWhich of the following title "
        "options best represents the image provided? \n{options} \nSelect the correct option by typing the "
        "corresponding letter (A, B, C, or D).\n",
        "\nGiven an image with the following description: {caption}. \nTell me the best title in the following title "
        "options who represents the image? \n{options} \n Just tell me the correct option by outputing corresponding "
        "letter (A, B, C, or D), no more explanation.\n",
    ),
}

# Figure 9 and the released gpt_eval.py. They agree on contradictions but for quotation marks (here the code's); on
# descriptions they differ in wording and order, so that each rule asks its own.
JUDGE_SYSTEM = "You are a helpful assistant."  # gpt_eval.py
FORMAT = 'Please directly output a score by strictly following this format: "[[score]]", for example: "Rating: [[3]]".'
JUDGE_PROMPTS: dict[tuple[str, Rule], str] = {
    ("description", "released"): (
        "\nYou need to determine how accurately a candidate literal description matches a reference literal "
        "description of a comic narrative.\n\n- Candidate literal description:\n{gen}\n\n"
        "- Reference literal description:\n{ref}\n\nUsing a scale from 1 to 5, rate the accuracy with which the "
        "candidate description matches the reference description, with 1 being the least accurate and 5 being the "
        "most accurate.\n" + FORMAT + "\n"
    ),
    ("description", "paper"): (
        "- Candidate literal description: {gen}\n- Reference literal description: {ref}\n"
        "Task: You need to determine how accurately the above candidate literal description matches the given "
        "reference literal description of a comic narrative.\nUsing a scale from 1 to 5, rate the accuracy with which "
        "the candidate description matches the reference description, with 1 being the least accurate and 5 being the "
        "most accurate.\n"
        "Please directly output a score by strictly following this format: [[score]], for example: Rating: [[3]]."
    ),
    ("contradiction", "released"): (
        "\nBackground: You are an impartial judge. You will be given a literal description of a comic that presents "
        "the same situation from two opposing perspectives, highlighting contradictions. You will also be provided "
        "with a gold-standard illustration as reference that effectively demonstrates these narrative "
        "contradictions.\n\nYour task is to evaluate the quality of a generated illustration and determine whether it "
        "accurately depicts the narrative contradictions in the comic. Then, assign a score on a scale of 1 to 5, "
        "where 1 is the lowest and 5 is the highest, based on its quality.\n\n"
        "- The literal description of the comic:\n{caption}\n\n"
        "- The reference contradiction illustration:\n{ref}\n\n"
        "- The generated contradiction illustration:\n{gen}\n\n" + FORMAT + "\n"
    ),
}
JUDGE_PROMPTS["contradiction", "paper"] = JUDGE_PROMPTS["contradiction", "released"]

TEMPERATURE = 0.0  # appendix B.2: default settings or greedy; the cards of the commercial models have the paper's 1.0
MAX_TOKENS = 1024  # ours: the released code gives GPT-4 2048 and Claude-3 1024
JUDGE_TEMPERATURE = 1.0  # gpt_eval.py
JUDGE_MAX_TOKENS = 2048  # gpt_eval.py

ROUGE = ("rouge2",)
CHARACTERS: dict[Rule, bool] = {"released": True, "paper": False}  # evaluation.py joins characters by blanks
LEAST, MOST = 1.0, 5.0  # the judge's scale

SOURCE = "twitter"  # all addresses are of its image host

# ------------------------------------------------------------------------------------------------------- raw files

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # an id becomes the name of a file or folder


class _Members(list[tuple[str, Any]]):
    """Members of a JSON object as they stand, so that a name that occurs twice can be seen."""


def _load(files: Files, name: str) -> list[tuple[str, dict[str, Any]]]:
    """(image_file, fields) of every record of a JSON list. Raises PunchlineError that names file and record."""
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    try:
        value = json.loads(files[name].decode("utf-8-sig"), object_pairs_hook=_Members)
    except json.JSONDecodeError as error:
        raise PunchlineError(
            f"malformed JSON at column {error.colno}: {error.msg}",
            file=name,
            line=error.lineno,
            way_out="Was the file cut off? Fetch it again",
        ) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, a number without end, nesting without end
        raise PunchlineError(f"JSON that cannot be read: {error}", file=name) from error
    if isinstance(value, _Members) or not isinstance(value, list):
        raise PunchlineError("expected a list of comics", file=name)
    records: dict[str, dict[str, Any]] = {}
    for number, members in enumerate(value):
        if not isinstance(members, _Members):
            raise PunchlineError("expected an object", file=name, record=f"number {number}")
        repeated = [key for key, n in Counter(key for key, _ in members).items() if n > 1]
        fields = dict(members)
        image_file = fields.get("image_file")
        if not isinstance(image_file, str) or not _FILE_NAME.fullmatch(image_file):
            raise PunchlineError(
                f"expected a file name, got {image_file!r}", file=name, record=f"number {number}", field="image_file"
            )
        if repeated:
            raise PunchlineError("the field is there twice", file=name, record=image_file, field=repeated[0])
        if image_file in records:
            raise PunchlineError("the comic is there twice", file=name, record=image_file, way_out="Keep one of them")
        records[image_file] = fields
    return list(records.items())


def _text(fields: Mapping[str, Any], field: str, file: str, record: str) -> str:
    value = fields.get(field)
    if not isinstance(value, str) or not value.strip():
        raise PunchlineError(f"expected a text, got {value!r:.80}", file=file, record=record, field=field)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise PunchlineError("half a surrogate pair is no character", file=file, record=record, field=field)
    return value


_OPTION = re.compile(r"([A-E])\. (.+)")


def options(question: str) -> dict[str, str]:
    """{letter: text} of a question's options, one a line (`A. …`), letters from A on; {} for anything else."""
    lines = question.split("\n")
    found = [match for line in lines if (match := _OPTION.fullmatch(line))]
    read = {match[1]: match[2].strip() for match in found}
    whole = len(found) == len(lines) >= 2 and "".join(read) == "ABCDE"[: len(lines)]
    return read if whole else {}


def _question(fields: Mapping[str, Any], kind: str, record: str) -> dict[str, str]:
    read = options(_text(fields, kind, ANNOTATIONS, record))
    if not read:
        raise PunchlineError("expected options `A. …`, `B. …`, one a line", file=ANNOTATIONS, record=record, field=kind)
    return read


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(image_file, source, address of the image) of every comic, in released order. The one source: twitter."""
    return [
        (image_file, SOURCE, _text(fields, "url", ANNOTATIONS, image_file)) for image_file, fields in _comics(files)
    ]


def _comics(files: Files) -> list[tuple[str, dict[str, Any]]]:
    return _load(files, ANNOTATIONS)


def _lent(files: Files) -> dict[str, dict[str, str]]:
    """{condition: {image_file: description}} of another model's descriptions, as far as there are any.

    Raises PunchlineError for one of a comic that the annotations do not have.
    """
    lent = {
        condition: {i: _text(fields, "output", name, i) for i, fields in _load(files, name)}
        for condition, name in LENT.items()
        if name in files
    }
    known = {image_file for image_file, _ in _comics(files)} if any(lent.values()) else set()
    for condition, by_id in lent.items():
        for image_file in by_id.keys() - known:
            close = " or ".join(map(repr, difflib.get_close_matches(image_file, sorted(known), n=2)))
            raise PunchlineError(
                f"{ANNOTATIONS} has no such comic",
                file=LENT[condition],
                record=image_file,
                field="image_file",
                way_out=f"Did you mean {close}?" if close else "An id is a comic's image_file, such as 00001.jpg",
            )
    return lent


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, in released order; a cluster is a comic.

    Fields: caption (the literal description), moral_mcq, title_mcq (options), and, where a file of LENT has one,
    another model's description by the name of its condition.
    """
    lent = _lent(files)
    made = []
    for image_file, fields in _comics(files):
        if image_file not in images:
            continue
        for kind in CHOSEN:
            _question(fields, kind, image_file)
        shown = images[image_file]
        texts = {name: _text(fields, name, ANNOTATIONS, image_file) for name in ("caption", *CHOSEN)}
        texts |= {condition: by_id[image_file] for condition, by_id in lent.items() if image_file in by_id}
        made.append(
            Item(
                benchmark=NAME,
                item_id=image_file,
                source=SOURCE,
                cluster=image_file,
                fields=dict(texts),
                images=() if isinstance(shown, str) else shown,
                missing=shown if isinstance(shown, str) else None,
            )
        )
    return made


def golds(files: Files) -> list[Gold]:
    """Reference texts, and the letter of the right option, for every comic.

    Raises PunchlineError for options without the answer: a letter that is not there, or one whose option is not the
    annotated philosophy or title.
    """
    made = []
    for image_file, fields in _comics(files):
        values: dict[str, Any] = {
            "description": _text(fields, "caption", ANNOTATIONS, image_file),
            "contradiction": _text(fields, "contradiction", ANNOTATIONS, image_file),
        }
        for kind in CHOSEN:
            answer = _text(fields, f"{kind}_answer", ANNOTATIONS, image_file)
            read = _question(fields, kind, image_file)
            right = _text(fields, kind.removesuffix("_mcq"), ANNOTATIONS, image_file)
            if read.get(answer) != right.strip():
                raise PunchlineError(
                    f"the options are without the answer: {answer!r} is not {right[:60]!r}",
                    file=ANNOTATIONS,
                    record=image_file,
                    field=f"{kind}_answer",
                )
            values[kind] = answer
        made.append(Gold(benchmark=NAME, item_id=image_file, values=values))
    return made


def oddities(files: Files) -> list[str]:
    """What is odd in the released file and is taken as it stands: an option that is there twice."""
    found = []
    for image_file, fields in _comics(files):
        for kind in CHOSEN:
            read = _question(fields, kind, image_file)
            same = [letter for letter, text in read.items() if list(read.values()).count(text) > 1]
            if same:
                found.append(f"{ANNOTATIONS}, record {image_file}: {kind} has one text as {' and '.join(same)}")
    return found


# -------------------------------------------------------------------------------------------------------- requests


def _request(item: Item, kind: str, k: int, condition: str, description: str | None) -> Request:
    """Prompt k of a task. Image first, as all released scripts but GPT-4's; no image where `condition` is text."""
    prompt = (PLAIN if description is None else DESCRIBED)[kind][k - 1]
    text = Text(text=filled(prompt, {"options": item.fields.get(kind, ""), "caption": description}))
    image = Image(sha256=item.images[0].sha256 if item.images else None)
    return Request(
        benchmark=NAME,
        item_id=item.item_id,
        task=f"{kind}_{k}",
        condition=condition,
        messages=(Message(role="user", content=(text,) if condition.startswith("text_") else (image, text)),),
        sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS),
    )


def requests(item: Item) -> list[Request]:
    """What a model is asked about a comic: 12 questions on the image; 9 with each description that there is.

    oracle: image and the annotated description; text_…: that, or another model's description, and no image.
    """
    asked = [_request(item, kind, k, DEFAULT, None) for kind in KINDS for k in PROMPTS]
    for condition in CONDITIONS:
        if condition in (DEFAULT, *CHAINED):
            continue
        description = item.fields.get(condition if condition in LENT else "caption")
        if description is not None:
            asked += [_request(item, kind, k, condition, str(description)) for kind in DESCRIBED for k in PROMPTS]
    return asked


def chained_requests(item: Item, responses: Mapping[str, Mapping[str, Response]]) -> list[Request]:
    """Image and the model's own description, in answer to prompt k, for prompt k of the three other tasks.

    The paper does not say which description goes where; the released scripts load one author's prompts, description and
    questions alike, for a run. An empty description is none.
    """
    asked = []
    for k in PROMPTS:
        answer = responses.get(DEFAULT, {}).get(f"description_{k}")
        description = (answer.text or "").strip() if answer is not None and answer.state == "ok" else ""
        if description:
            asked += [_request(item, kind, k, "chained", description) for kind in DESCRIBED]
    return asked


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """`random`: one of the letters of the options that the request shows. All else: None."""
    if name != "random" or request.task.rpartition("_")[0] not in CHOSEN:
        return None
    shown = "\n".join(part.text for message in request.messages for part in message.content if isinstance(part, Text))
    letters = ""
    for line in shown.split("\n"):  # the last list from A on: a description before it may hold another
        match = _OPTION.fullmatch(line)
        if match and match[1] in ("A", "ABCDE"[len(letters) : len(letters) + 1]):
            letters = match[1] if match[1] == "A" else letters + match[1]
    return draw.choice(letters) if letters else None


# ------------------------------------------------------------------------------------------------ reading of answers


def read_released(answer: str, letters: str = "ABCD") -> str | None:
    """The option as evaluation.py reads it: the first of the characters A-E anywhere in the answer.

    A conversation (`USER … ASSISTANT:`) is read from its first reply on. An E, which no question has, ends the search
    like any letter. None where there is none: the answer is wrong.
    """
    if "USER" in answer and "\nASSISTANT:" in answer:
        answer = answer.split("\nASSISTANT:")[1]
    first = next((character for character in answer if character in "ABCDE"), None)
    return first if first is not None and first in letters else None


_MARKUP = str.maketrans("", "", "*`")
_AROUND = " \t\r\n_.\"'“”"
_ALONE = re.compile(r"[(\[{]?([A-Ea-e])[)\]}]?[:,;!]?")
_LEADING = re.compile(r"[(\[{]?([A-Ea-e])(?:[)\]}][.:]?(?:\s|\Z)|[.:](?:\s|\Z)|[^\S\n]{0,3}\n)")
# One more letter right after a leading one: behind `or`, a comma and the like; or with a mark or a line of its own.
_JOINED = re.compile(r"\s{0,6}(?:(?:or|and|nor|[,;/&+|-])\s{0,3}){1,2}[(\[{]?([A-E])(?![\w'’-])")
_LISTED = re.compile(
    r"\s{0,6}(?:(?:or|and|nor|[,;/&+|-])\s{0,3}){0,2}"
    r"[(\[{]?([A-Ea-e])(?:[)\]}][.:,;]?|[.:,;]|(?=[^\S\n]{0,3}(?:\n|\Z)))(?=\s|\Z)"
)
_NAMED = re.compile(
    r"\b(?:answer|option|choice)\s{0,2}(?:is|would be)?:?\s{0,2}[(\[{\"']{0,2}([A-E])\b(?!['’])",
    re.IGNORECASE,
)
_STANDING = re.compile(r"(?<![\w'’-])([A-E])(?![\w'’-])(?!\.\w)")
_AFTER_A = re.compile(r"A[^\S\n]+([A-Za-z]+)")
_NO_NOUN = {
    *("and", "or", "nor", "but", "not", "is", "was", "are", "has", "would", "could", "should", "doesn", "isn"),
    *("as", "because", "since", "for", "if", "than", "when", "while", "with", "instead", "fits", "seems"),
}
_NEAR = 80  # characters before a letter in which its clause is looked for
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:but|so|because|since|thus|hence|therefore)\b", re.IGNORECASE)
_NOT = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|except|excluding|rul(?:e|es|ed|ing) out|"
    r"(?:eliminat|reject)(?:e|s|es|ed|ing)?)|n['’]t)\b",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"[)\]}\"'”]{0,2}\s{1,3}(?:(?:is|was|are|would|could|should|does|did|will|can|might|be|also|clearly|definitely|"
    r"obviously|probably|seems|looks)\s{1,3}){0,3}"
    r"(?:not|never|cannot|[a-z]{2,6}n['’]t|wrong|incorrect|false|unlikely)\b",
    re.IGNORECASE,
)


def read_paper(answer: str, choices: Mapping[str, str]) -> str | None:
    """The option by hard rules. Appendix B.2 does not print its own; of these of ours the first that applies:

    1. the answer is a letter, perhaps in brackets; 2. it begins with a letter and a mark or a line's end (`B. …`);
    3. it names a letter (`answer is B`, `option B`); 4. options' texts, or upper-case letters on their own, stand in it
    (an A before a word is an article). None, unparsable, where that is not just one option, or none of the question's:
    letters that follow the first (2; `B. C. D.`), stand beside the named one (3; `answer is A or B`), or are denied (3,
    4; `not A`, `B is wrong`).
    """
    text = answer.translate(_MARKUP).strip(_AROUND)
    alone = _ALONE.fullmatch(text)
    if alone:
        return _one({alone[1].upper()}, choices)
    first = _LEADING.match(text)
    if first:
        rest, _, _ = _without_options(text[first.end() - 1 :], choices)  # from its mark on
        return _one({first[1].upper()} | _further(rest), choices)
    rest, texts, denied = _without_options(text, choices)  # what stands in an option's text is no letter of its own
    named = [match for match in _NAMED.finditer(rest) if match[1].isupper() and not _article(rest, match)]
    standing = [match for match in _STANDING.finditer(rest) if not _article(rest, match)]
    letters = {match[1] for match in (*named, *standing)}
    one = _one(letters if named else letters | texts, choices)
    if denied or (one and any(_denied(rest, match.start(1), match.end(1)) for match in (*named, *standing))):
        return None
    return one


def _without_options(text: str, choices: Mapping[str, str]) -> tuple[str, set[str], bool]:
    """(text with a line's end for each option's text, letters of the options found, whether one of them is denied)."""
    found: set[str] = set()
    denied = False
    for option in sorted({_plain(option) for option in choices.values()} - {""}, key=lambda one: (-len(one), one)):
        pattern = re.compile(rf"(?<!\w){re.escape(option)}(?!\w)".replace(r"\ ", r"\s{1,3}"), re.IGNORECASE)
        matches = list(pattern.finditer(text))
        if matches:
            denied = denied or any(_denied(text, match.start(), match.end()) for match in matches)
            text = pattern.sub("\n", text)
            found |= {letter for letter, one in choices.items() if _plain(one) == option}
    return text, found, denied


def _further(rest: str) -> set[str]:
    """Letters that an answer offers right after its first one."""
    found: set[str] = set()
    at = re.match(r"[)\]}.:]{0,2}", rest)
    position = at.end() if at is not None else 0
    while match := (_JOINED.match(rest, position) or _LISTED.match(rest, position)):
        if _article(rest, match):
            break
        found.add(match[1].upper())
        position = match.end()
    return found


def _article(text: str, match: re.Match[str]) -> bool:
    """Whether the A that was found is an article: a word follows in its line that an option's letter does not have."""
    after = _AFTER_A.match(text, match.start(1))
    return after is not None and after[1] not in _NO_NOUN and _STANDING.match(text, after.start(1)) is None


def _denied(text: str, start: int, end: int) -> bool:
    """Whether what stands there is denied: a negation before it in its clause, or right after it."""
    before = text[max(0, start - _NEAR) : start]
    if _NOT.search(before) is not None and _NOT.search(_CLAUSE.split(before)[-1]) is not None:
        return True
    return _NOT_AFTER.match(text, end) is not None


def _one(found: set[str], choices: Mapping[str, str]) -> str | None:
    """The one letter that was found, if there is just one and the question has it."""
    return next(iter(found)) if len(found) == 1 and found <= set(choices) else None


def _plain(option: str) -> str:
    return " ".join(option.split()).strip(_AROUND)


def drawn_option(item_id: str, task: str, letters: str) -> str:
    """The random option that rule `paper` gives an unparsable answer: always the same for an item and a task."""
    return letters[int(sha256(f"{item_id}\0{task}".encode())[:12], 16) % len(letters)]


_SCORE = re.compile(r"\[\[(\d+(?:\.\d*)?)\]\]", re.ASCII)
_BACKUP = re.compile(r"\[(\d+(?:\.\d*)?)\]", re.ASCII)
_LARGEST = 1e100  # of a score that means can be made of


def read_score(answer: str, rule: Rule) -> float | None:
    """The judge's score: the first `[[n]]`, else the first `[n]` (gpt_eval.py); None where there is none.

    Rule `paper` takes a score from 1 to 5 only, `released` any number (up to 1e100).
    """
    match = _SCORE.search(answer) or _BACKUP.search(answer)
    score = float(match[1]) if match else math.inf
    if score > _LARGEST:
        return None
    if rule == "paper" and not LEAST <= score <= MOST:
        return None
    return score


# ------------------------------------------------------------------------------------------------- judges and grades


def _candidate(response: Response | None, rule: Rule) -> str | None:
    """The text that is scored; None for an answer that leaves the denominator.

    The released code drops what has no output, a refusal too; under rule `paper` a refusal counts as an empty text.
    """
    if response is not None and response.state == "ok":
        return response.text or ""
    return "" if response is not None and response.state == "refused" and rule == "paper" else None


def _judge_request(item: Item, gold: Gold, kind: str, candidate: str, condition: str, rule: Rule) -> Request:
    values = {"gen": candidate, "ref": gold.values[kind], "caption": gold.values["description"]}
    return Request(
        benchmark=NAME,
        item_id=item.item_id,
        task="judge",
        condition=condition,
        messages=(
            Message(role="system", content=(Text(text=JUDGE_SYSTEM),)),
            Message(role="user", content=(Text(text=filled(JUDGE_PROMPTS[kind, rule], values)),)),
        ),
        sampling=Sampling(temperature=JUDGE_TEMPERATURE, max_tokens=JUDGE_MAX_TOKENS),
    )


def _comparison(item: Item, gold: Gold, kind: str, candidate: str, condition: str) -> Request:
    return comparison(NAME, item.item_id, "bertscore", condition, candidate, gold.values[kind])


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> list[Request]:
    """What judge and BERTScore are asked about a model's descriptions and contradictions, each once."""
    asked: list[Request] = []
    for kind in WRITTEN:
        for k in PROMPTS:
            for rule in RULES:
                candidate = _candidate(responses.get(f"{kind}_{k}"), rule)
                if candidate is not None:
                    asked.append(_judge_request(item, gold, kind, candidate, condition, rule))
                    asked.append(_comparison(item, gold, kind, candidate, condition))
    return list({request.request_id: request for request in asked}.values())


SCORERS = {"bertscore": "bert", "bertscore-minilm": "bert_minilm", "minilm": "bert_minilm"}  # scorer: its value's name


def _measured(verdict: Verdict | None) -> dict[str, float]:
    """{name of the value: BERTScore recall in 0..1}; {} where there is none, or it is of another encoder."""
    if verdict is None or verdict.response.state != "ok" or verdict.judge not in SCORERS:
        return {}
    try:
        value = float(verdict.response.text or "")
    except ValueError:
        return {}
    return {SCORERS[verdict.judge]: value} if -1 <= value <= 2 else {}  # not NaN, not infinite


def signature(kind: str, rule: Rule, judge: str | None = None, scorer: str | None = None) -> str:
    """What names all that changes a grade's values."""
    if kind in CHOSEN:
        return f"option|rule:{rule}|v:1"
    prompt = sha256(f"{JUDGE_SYSTEM}\0{JUDGE_PROMPTS[kind, rule]}".encode())[:12]
    rouge = ngrams.signature(ROUGE, characters=CHARACTERS[rule])
    return f"{kind}|rule:{rule}|{rouge}|bertscore:{scorer or 'none'}|judge:{judge or 'none'}|prompt:{prompt}|v:1"


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = DEFAULT,
) -> list[Grade]:
    """Grades of one model's answers on one comic in one condition, one for each task that is asked in it.

    Values: `correct` (0 or 1) of a choice; `r2` (ROUGE-2 recall, 0..1), `bert` or `bert_minilm` (BERTScore recall) and
    `gpt` (the judge's score) of a text, each only where it could be had. A judge without a score gives -1 under
    `released`, none under `paper`; either way the grade's state is unparsable.
    """
    asked = TASKS if condition == DEFAULT else tuple(t for t in TASKS if t.rpartition("_")[0] in DESCRIBED)
    made = []
    for task in asked:
        kind = task.rpartition("_")[0]
        response = responses.get(task)
        if kind in CHOSEN:
            made.append(_grade_choice(response, item, gold, model, rule, condition, task, kind))
        else:
            made.append(_grade_text(response, item, gold, model, rule, condition, task, kind, verdicts or {}))
    return made


def _grade_choice(
    response: Response | None, item: Item, gold: Gold, model: str, rule: Rule, condition: str, task: str, kind: str
) -> Grade:
    state: State = response.state if response is not None else "missing"
    read: str | None = None
    values: dict[str, float] = {}
    if state in ("ok", "refused"):
        choices = options(str(item.fields[kind]))
        letters = "".join(choices)
        if state == "ok":
            text = (response.text if response is not None else None) or ""
            read = read_released(text, letters) if rule == "released" else read_paper(text, choices)
            state = "ok" if read is not None else "unparsable"
        answer = read
        if answer is None and rule == "paper":
            answer = drawn_option(item.item_id, task, letters)
        values = {"correct": float(answer == gold.values[kind])}
    return Grade(
        benchmark=NAME,
        item_id=item.item_id,
        task=task,
        condition=condition,
        sample=0,
        model=model,
        rule=rule,
        signature=signature(kind, rule),
        responses=(response.digest,) if response is not None else (),
        gold=gold.digest,
        state=state,
        scored=bool(values),
        parsed=(read,) if read is not None else None,
        values=values,
    )


def _grade_text(
    response: Response | None,
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    condition: str,
    task: str,
    kind: str,
    verdicts: Mapping[str, Verdict],
) -> Grade:
    state: State = response.state if response is not None else "missing"
    candidate = _candidate(response, rule)
    values: dict[str, float] = {}
    parsed: tuple[str, ...] | None = None
    judged = compared = None
    if candidate is not None:
        overlap = ngrams.rouge(candidate, str(gold.values[kind]), ROUGE, characters=CHARACTERS[rule])
        if overlap is not None:
            values["r2"] = overlap["rouge2"].recall
        compared = verdicts.get(_comparison(item, gold, kind, candidate, condition).request_id)
        values |= _measured(compared)
        judged = verdicts.get(_judge_request(item, gold, kind, candidate, condition, rule).request_id)
        if judged is not None and judged.response.state == "ok":
            score = read_score(judged.response.text or "", rule)
            if score is not None:
                parsed, values["gpt"] = (f"{score:g}",), score
            else:
                state = "unparsable" if state == "ok" else state
                values |= {"gpt": -1.0} if rule == "released" else {}
    read = (response, judged.response if judged else None, compared.response if compared else None)
    return Grade(
        benchmark=NAME,
        item_id=item.item_id,
        task=task,
        condition=condition,
        sample=0,
        model=model,
        judge=judged.judge if judged is not None else None,
        rule=rule,
        signature=signature(kind, rule, judged.judge if judged else None, compared.judge if compared else None),
        responses=tuple(one.digest for one in read if one is not None),
        gold=gold.digest,
        state=state,
        scored=candidate is not None,
        parsed=parsed,
        values=values,
    )


TABLES = tables.TABLES
