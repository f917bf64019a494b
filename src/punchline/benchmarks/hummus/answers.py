"""What is read out of answers to Hummus: labels, metaphors, boxes, names, marked words, explanations."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from punchline.benchmarks.hummus import JOINT, JOINT_TASKS, LABELS, LIMITS, POSITIVE, PROMPT_TASKS
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, involves_is_a
from punchline.benchmarks.hummus.plain import MARKUP, plain
from punchline.read import boxes, names, tags, thoughts, yes_no
from punchline.schema import Gold, Item

STEMS = ("metaphor",)  # of the words that classification asks about
AGAINST = ("literal",)


def yes_or_no(answer: str) -> str | None:
    """ "Yes" or "No": the word, or a sentence that says whether metaphor is used; None for neither and for both."""
    return yes_no.yes_no(answer, STEMS, against=AGAINST).value


def a_or_b(answer: str, involves: str) -> str | None:
    """ "Yes" where the answer chooses the letter `involves` or its option, "No" where the other one, None for neither,
    and where letter and option contradict each other."""
    options = dict(zip("AB" if involves == "A" else "BA", OPTIONS, strict=True))
    letters = {letter: "Yes" if letter == involves else "No" for letter in sorted(options)}
    return yes_no.yes_no(answer, STEMS, letters, options, AGAINST).value


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


_INSTRUCTED = {one for text in INSTRUCTIONS.values() for one in re.split(r"(?<=[.?])\s+(?=[A-Z])", text)}
_LONGEST_FIRST = sorted((one for one in _INSTRUCTED if "{" not in one), key=lambda one: (-len(one), one))
_SENTENCES = re.compile("|".join(_spelt(one.rstrip(".")) for one in _LONGEST_FIRST) + r"\.?", re.IGNORECASE)


def _own(answer: str, shown: Sequence[str]) -> str:
    """The answer without the sentences of the instructions, and without `Caption: …` and `Image: …` as the prompt has
    them. `shown`: the texts that the prompt shows."""
    rest = _SENTENCES.sub(" ", answer)
    for text in filter(None, shown):
        rest = re.sub(r"(?im)^\W{0,5}(?:caption|image):\s{0,5}" + _spelt(text), " ", rest)
    return rest


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

    unmarked = MARKUP.sub("", answer)
    capitals = [one for run in _shouted(unmarked) for one in _clauses(run, "capitals")]
    candidates = [[one for one in capitals if not any(one in text for text in texts)]]
    quoted = [one for text in _QUOTED.findall(answer) for one in _clauses(text, "quoted")]
    candidates.append([one for one in quoted if not repeated(one)])
    unquoted = _QUOTED.sub(lambda m: " " if m[1].count(" ") > 1 and repeated(m[1].strip(" .,")) else m[0], answer)
    for line in MARKUP.sub("", unquoted).splitlines() if not _REFUSAL.search(answer) else ():
        line = _INTRODUCTION.sub("", _LIST_MARK.sub("", line))
        found = next(filter(None, (_clauses(sentence, "plain") for sentence in _ENDS.split(line))), [])
        others = len(line.split()) - sum(len(one.split()) for one in found)
        candidates.append([one for one in found if others <= OTHER_WORDS and not any(one in text for text in texts)])
    meant = [tuple(dict.fromkeys(found))[:PIECES] for found in candidates if found]
    return next((found for found in meant if not repeats_example(found)), meant[0] if meant else None)


def repeats_example(found: Sequence[str]) -> bool:
    """Whether nothing is named but the prompt's own example or its placeholders (section 6.1: no meaningful answer)."""
    return all(one.lower() in EXAMPLES for one in found)


_PIXELS = re.compile(r"qwen2[._]5[-_]?vl", re.IGNORECASE)  # families whose corners are pixels, by a card's name
_PATCH = 28  # to multiples of which Qwen2.5-VL scales pictures (arXiv:2502.13923, section 2.1.1)


def box_list(answer: str, size: tuple[int, int] | None = None, model: str = "") -> tuple[boxes.Box, ...] | None:
    """Boxes of an answer as shares of the image, cut to it; None where it has none. `size`: the image's width and
    height, where pixels are to be read; corners in pixels are those of the picture as the `model` saw it."""
    if size is None or not _PIXELS.search(model):
        return boxes.boxes(answer, size).value
    wide, high = (max(_PATCH, round(side / _PATCH) * _PATCH) for side in size)
    return boxes.boxes(answer, (wide, high), "pixels").value


def object_name(answer: str, shown: Sequence[str] = ()) -> str | None:
    """The object that an answer to ImageLabel names; None for none, a refusal, and for what repeats the prompt, which
    shows the texts `shown`."""
    return names.object_name(_own(answer[:4000], shown), (INSTRUCTIONS["image_label"],)).value


def marked_words(answer: str) -> tuple[str, ...] | None:
    """The words between <i> and </i>; None where there are none."""
    return tags.marked_words(answer).value


def explanation(answer: str, shown: Sequence[str] = ()) -> str | None:
    """The answer, stripped, without what it repeats of the prompt, which shows the texts `shown`; None for one without
    a word of its own, and for a refusal."""
    text = _own(answer, shown).strip()
    repeated = " ".join(text.lower().split()).strip(" .,;:!?") in INSTRUCTIONS["explanation"].lower()
    return None if repeated or not re.search(r"\w", text) or _REFUSES.match(text) else text


_FIELDS = ("is_met", "conceptual_metaphor", "image_hl", "text_hl")
_FIELD = re.compile(
    r"(?:^[\s*_`#\-\"'{]{0,12}(?:\d{1,2}[.)]\s{0,4})?[*_`\"']{0,4}|[,;|{]\s{0,5}[*_`\"']{0,4})"
    r"(is_met|conceptual_metaphor|image_hl|text_hl)[*_`\"']{0,4}\s{0,4}[:=][*_`]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_IS_MET = re.compile(r"[\s*_`\"']{0,8}(Yes|No|WIDLII|Discard)\b(?!\s{0,2}(?:,|/|or\b)\s{0,2}\w)", re.IGNORECASE)
_OBJECT = re.compile(r"\{(?=\s{0,20}\")")
JOINT_CHARACTERS = 20_000  # of a joint answer that are read as JSON


_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: dict(reversed(pairs)))  # of several the first counts


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
        if fields := {name: _as_text(by_name[name]) for name in _FIELDS if name in by_name}:
            return fields
    return {}


def joint_fields(answer: str) -> dict[str, str]:
    """The text of each field of a joint answer, of a JSON object or up to the next field; of a field that comes twice
    the first counts."""
    if fields := _json_fields(answer[:JOINT_CHARACTERS]):
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


def text_pairs(task: str, found: Sequence[str], gold: Gold) -> list[list[tuple[str, str]]]:
    """(candidate, reference) for each text of an answer and each of gold; a list for each text of the answer."""
    references = gold.values["metaphors" if task == "naming" else "objects"]
    return [list(dict.fromkeys((plain(one), plain(reference)) for reference in references)) for one in found]


def _shown(item: Item) -> tuple[str, str]:
    """The texts that prompts show: the caption, and the description of the image or ""."""
    return str(item.fields["caption"]), str(item.fields.get("description") or "")


def reading(task: str, text: str, gold: Gold, item: Item, model: str = "") -> tuple[Any, ...] | None:
    """What is read out of one answer of a model, as a tuple; None where nothing is."""
    known = [one.lower() for one in gold.values.get("metaphors", ())]
    size = (item.images[0].width, item.images[0].height) if item.images else None
    return read(task, text, item.item_id, known, _shown(item), size, model)


def read(
    task: str,
    text: str,
    item_id: str,
    known: Sequence[str] = (),
    shown: Sequence[str] = (),
    size: tuple[int, int] | None = None,
    model: str = "",
) -> tuple[Any, ...] | None:
    """What is read out of the text of an answer, thoughts apart; None where nothing is. `known`: gold metaphors, in
    lower case: one that is the prompt's example may be repeated. `shown`: the caption and the description that the
    prompt shows. `size`: the image's width and height."""
    text = thoughts.without(text)
    if task == "naming":
        found = named(text, shown)
        return None if found is None or (repeats_example(found) and not {*known} & {*map(str.lower, found)}) else found
    if task == "image_bbox":
        return box_list(text, size, model)
    if task == "caption_hl":
        return marked_words(text)
    if task == "classification_a_b":
        one = a_or_b(text, "A" if involves_is_a(item_id) else "B")
    elif task.startswith("classification"):
        one = yes_or_no(text)
    else:
        one = object_name(text, shown) if task == "image_label" else explanation(text, shown)
    return None if one is None else (one,)


def joint_readings(text: str, gold: Gold, item: Item, model: str = "") -> dict[str, tuple[Any, ...] | None]:
    """What is read out of a joint answer, by task. The three other tasks are there only where it says Yes or WIDLII:
    the guidelines end there otherwise."""
    fields = joint_fields(thoughts.without(text))
    label = is_met(fields.get("is_met", ""))
    if label is None or label == "Discard":
        return {"classification": None}
    found: dict[str, tuple[Any, ...] | None] = {"classification": ("Yes" if label in POSITIVE else "No",)}
    if label in POSITIVE:
        for task, field in (("naming", "conceptual_metaphor"), ("image_bbox", "image_hl"), ("caption_hl", "text_hl")):
            found[task] = reading(task, fields.get(field, ""), gold, item, model)
    return found


def graded_tasks(condition: str) -> dict[str, str]:
    """{task that is graded: task that is asked} of a condition."""
    if condition == JOINT:
        return dict.fromkeys(JOINT_TASKS, JOINT)
    if condition == "prompts":
        return {task: task for task in PROMPT_TASKS}
    return {task: task for task in LIMITS if (condition, task) != ("description", "image_bbox")}
