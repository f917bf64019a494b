"""StripCipher: silent comic strips to be put in order, understood, and completed.

"Beyond Single Frames: Can LMMs Comprehend Implicit Narratives in Comic Strip?" (anonymous ACL submission, 2025).
Nothing is released, neither strips nor questions nor code: items are made here of comics themselves, in a format of our
own (strips.py). Frames come from splitting a strip into its panels or
from given boxes; reordering needs no annotation; prediction and comprehension are asked of strips with reviewed texts
only. With no released code the rules `released` and `paper` are one: what the paper says.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from punchline.benchmarks.stripcipher import tables
from punchline.benchmarks.stripcipher.strips import FEWEST, STRIPS, Choice, Strip, choices, meaning, plain, strips_of
from punchline.comics import frames
from punchline.comics.shuffle import inverse
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
    Scalar,
    State,
    Text,
)

NAME = "stripcipher"
TASKS = ("prediction", "comprehension", "reordering_choice", "reordering_generation")
CHOICES = TASKS[:3]  # tasks with four options
REVIEWED = TASKS[:2]  # tasks that need reviewed texts
SEQUENCE, SHUFFLED, MEANING, ROW = "sequence", "shuffled", "meaning", "row"
CONDITIONS = (DEFAULT, SEQUENCE, SHUFFLED, MEANING, ROW)
CHAINED = ()
IMAGES = True
JUDGES = ()

METADATA, OBJECTIVE = "metadata.csv", "objective_label.csv"  # PixelHumor's: boxes and reading order of its comics
ITEM_FILES = (STRIPS, METADATA, OBJECTIVE)
GOLD_FILES = (STRIPS,)

LETTERS = "ABCD"

# Table 2; its left edge is cut off in the text at hand: "[predi]ction", "[strip]", "[under]standing" are completed.
INSTRUCTIONS = {
    "prediction": "Based on the overall story, what is happening in the blank frame (second-to-last)?",
    "comprehension": (
        "What is happening in this comic strip? What is the implicit meaning? Based on your understanding, answer the "
        "question."
    ),
    "reordering": (
        "The sequence of the comic strips provided below is incorrect. Your task is to find out the correct order of "
        "the comic strips based on the storyline and temporal logical relationship. Number each comic strip in the "
        "order they should appear, starting from 1."
    ),
}
# Figure 10, before and after the implicit meaning, which stands between single quotes.
MEANING_INSTRUCTION = (
    "The sequence of the comic strips provided below is incorrect. Your task is to determine the correct order based "
    "on the storyline, temporal relationships, and common-sense logic. Here is the depiction of the comic strips: '",
    "' Number each comic strip in the order they should appear, starting from 1.",
)
CHOOSE = "Please output the correct option ID without any additional text or explanation"  # figure 10
TEMPERATURE = 0.0  # ours, where a card has none: the paper takes each model's default (appendix C)
MAX_TOKENS = 512  # ours: the paper prints none


# ------------------------------------------------------------------------------------------------------- items, gold


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, source, URL) of every strip, in the file's order."""
    return [(strip.item_id, strip.source, strip.url) for strip in strips_of(files).values()]


def _options(strip: Strip, task: str, choice: Choice) -> list[str]:
    return frames.in_order(choice.options, f"{strip.item_id}:{task}")


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the strips that are keys of `images`, in the file's order; a string says why there are no pictures.

    fields: frames; <task>_A … <task>_D (options as shown) and <task>_question of reviewed tasks; meaning, which a
    request of the condition `meaning` shows and no other: the paper gives away the comprehension answer there.
    Raises PunchlineError for a strip that is not in the file.
    """
    strips = strips_of(files)
    for item_id in images:
        if item_id not in strips:
            raise PunchlineError("no such strip", file=STRIPS, record=item_id, field="item_id")
    made = []
    for item_id, strip in strips.items():
        if item_id not in images:
            continue
        fields: dict[str, Scalar] = {"frames": strip.frames}
        for task, choice in choices(strip).items():
            fields |= {f"{task}_{letter}": o for letter, o in zip(LETTERS, _options(strip, task, choice), strict=True)}
            if choice.question:
                fields[f"{task}_question"] = choice.question
        told = meaning(strip)
        if told:
            fields["meaning"] = told
        shown = images[item_id]
        made.append(
            Item(
                benchmark=NAME,
                item_id=item_id,
                source=strip.source,
                cluster=item_id,
                fields=fields,
                images=() if isinstance(shown, str) else shown,
                missing=shown if isinstance(shown, str) else None,
            )
        )
    return made


def golds(files: Files) -> list[Gold]:
    """What is right, for every strip.

    values: reordering_generation, the places of the frames as shown in the order of the story, from 1;
    reordering_choice and, where reviewed, prediction and comprehension: the letter of the right option; frames;
    category, where known.
    """
    made = []
    for item_id, strip in strips_of(files).items():
        right = frames.right_sequence(strip.frames, item_id)
        offered = frames.sequences(strip.frames, item_id)
        values: dict[str, Any] = {
            "frames": strip.frames,
            "reordering_generation": [place + 1 for place in right],
            "reordering_choice": LETTERS[offered.index(right)],
        }
        for task, choice in choices(strip).items():
            values[task] = LETTERS[_options(strip, task, choice).index(choice.answer)]
        if strip.texts is not None and strip.texts.category is not None:
            values["category"] = strip.texts.category
        made.append(Gold(benchmark=NAME, item_id=item_id, values=values))
    return made


def oddities(files: Files) -> list[str]:
    """What strips.json leaves open."""
    strips = strips_of(files)
    without = {task: sum(task not in choices(strip) for strip in strips.values()) for task in REVIEWED}
    return [
        f"{STRIPS}: {count} of {len(strips)} strips have no reviewed text for {task}, which is not asked of them"
        for task, count in without.items()
        if count
    ]


# ----------------------------------------------------------------------------------------------------------- requests


def sequence_text(places: Iterable[int]) -> str:
    """Places, from 0, as people write a sequence: `2, 3, 1`."""
    return ", ".join(str(place + 1) for place in places)


def _listed(options: Sequence[str]) -> str:
    """Options as lines `A. …`, and what is to be answered."""
    lines = [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=True)]
    return "\n".join((*lines, CHOOSE))


def _asked(item: Item, condition: str) -> dict[str, tuple[str, tuple[str, ...], str]]:
    """By task, what an item is asked in a condition: text before the pictures, names of the pictures, text after."""
    n = int(str(item.fields["frames"]))
    order = frames.shown_order(n, item.item_id)
    in_sequence = tuple(f"frame{number}" for number in range(1, n + 1))
    shuffled = tuple(in_sequence[place] for place in order)
    masked = (*in_sequence[:-2], "masked", in_sequence[-1])
    sequences = _listed([sequence_text(places) for places in frames.sequences(n, item.item_id)])
    reviewed = {task: _reviewed(item, task) for task in REVIEWED if f"{task}_A" in item.fields}
    asked: dict[str, tuple[str, tuple[str, ...], str]] = {}
    # The reordering instruction speaks of strips "provided below", and so stands above them.
    if condition in (DEFAULT, ROW):
        one = condition == ROW
        if "prediction" in reviewed:
            asked["prediction"] = "", ("row_masked",) if one else masked, reviewed["prediction"]
        if "comprehension" in reviewed and not one:
            asked["comprehension"] = "", ("page",), reviewed["comprehension"]
        seen = ("row_shuffled",) if one else shuffled
        asked["reordering_choice"] = INSTRUCTIONS["reordering"], seen, sequences
        asked["reordering_generation"] = INSTRUCTIONS["reordering"], seen, ""
    elif condition in (SEQUENCE, SHUFFLED):
        if "comprehension" in reviewed:
            asked["comprehension"] = "", in_sequence if condition == SEQUENCE else shuffled, reviewed["comprehension"]
    elif condition == MEANING and "meaning" in item.fields:
        before, after = MEANING_INSTRUCTION
        asked["reordering_choice"] = f"{before}{item.fields['meaning']}{after}", shuffled, sequences
    return asked


def _reviewed(item: Item, task: str) -> str:
    """Instruction, question if there is one, options."""
    question = item.fields.get(f"{task}_question")
    options = [str(item.fields[f"{task}_{letter}"]) for letter in LETTERS]
    return "\n".join((INSTRUCTIONS[task], *([str(question)] if question else []), _listed(options)))


def requests(item: Item) -> list[Request]:
    """What is asked about a strip, in every condition; prediction and comprehension of reviewed strips only."""
    digests = {ref.name: ref.sha256 for ref in item.images}
    made = []
    for condition in CONDITIONS:
        for task, (before, names, after) in _asked(item, condition).items():
            images = tuple(Image(sha256=digests.get(name)) for name in names)
            content = (
                *((Text(text=before),) if before else ()),
                *images,
                *((Text(text=after),) if after else ()),
            )
            made.append(
                Request(
                    benchmark=NAME,
                    item_id=item.item_id,
                    task=task,
                    condition=condition,
                    messages=(Message(role="user", content=content),),
                    sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS),
                )
            )
    return made


# ------------------------------------------------------------------------------------------------- reading of answers

_OPEN, _CLOSE = r"[\s*_\"'`:(\[{]{0,8}+", r"[*_\"'`)\]}>.]{0,6}+"
_LETTER = r"(?P<letter>[A-Za-z])\b(?!['’]|-[A-Za-z]{2})(?P<on>\s{1,3}(?-i:[a-z]))?"
_CUE = re.compile(
    r"\b(?<!</)(?P<word>answer|option|choice)\b(?P<id>\s{0,3}id\b)?[\s*_\"'`]{0,6}+(?P<is>:|=|>|is\b)?"
    rf"{_OPEN}(?P<named>option\s{{1,3}})?[*_\"'`(\[{{]{{0,4}}+{_LETTER}",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s{0,3}\{\s{0,3}(?:\\[a-z]{1,10}\s{0,3}\{)?[\s(*]{0,3}+" + _LETTER, re.IGNORECASE)
_SAID = re.compile(  # "It's B", "Therefore, B", "I would choose D"
    r"\b(?:it(?:['’]s|\s{1,3}(?:is|(?:must|should|would|has\s{1,3}to)\s{1,3}be))|therefore|thus|hence|so"
    r"|choose|chose|pick|select|go\s{1,3}(?:with|for)|opt\s{1,3}for)\b,?"
    rf"{_OPEN}(?:the\s{{1,3}})?(?P<named>(?:option|letter)\s{{1,3}})?[*_\"'`(\[{{]{{0,4}}+{_LETTER}",
    re.IGNORECASE,
)
_BARE = re.compile(r"[\W_]*+([A-Za-z])[\W_]*+")
_LEAD = re.compile(r"^[\s*_\"'`(\[{<#-]{0,8}+([A-Z])[*_\"'`]{0,4}+(?:[.):\]}>]|\s{0,3}$)", re.MULTILINE)
_ENDS = re.compile(rf"{_CLOSE}[ \t]{{0,3}}+$", re.MULTILINE)  # after a letter: nothing more on its line
# After a letter, one more: joined to it, or standing alone too. An "A" or "a" before a word is an article.
_MORE = re.compile(
    rf"{_CLOSE}[ \t]{{0,3}}+(?P<join>(?:(?:[,;/|&+–-]|(?:or|and)\b)[ \t]{{0,3}}+){{0,2}})"
    r"(?:(?:maybe|perhaps|possibly|rather|also|either|(?:the[ \t]{1,3})?(?:option|choice|answer))[ \t]{1,3}){0,2}+"
    r"(?:\\boxed\{)?[*_\"'`(\[{]{0,6}+(?P<letter>[B-Hb-h]|[Aa](?![ \t]{1,3}(?!(?:or|and|is|are)\b)[a-z]))\b(?!['’])"
    r"(?P<alone>[*_\"'`]{0,4}+(?:[.):\]}]|[ \t]{0,3}$|[ \t]{1,3}[(\[]{0,2}+[A-Ha-h]\b))?",
    re.MULTILINE,
)
_DENIED_BEFORE = re.compile(  # at most two words stand between it and what is denied, and no punctuation
    r"(?:\b(?:not|never|neither|nor|cannot|rather[ \t]than|instead[ \t]of)|n['’ ]t)"
    r"(?:[ \t]{1,3}(?!but\b)\w{1,20}){0,2}[ \t*_\"'`(\[{]{0,8}\Z",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[*_\"'`)\]}>]{0,6}+[ \t]{0,3}+(?:(?:is|are|was|were|seems|looks)[ \t]{1,3}"
    r"(?!not[ \t]{1,3}(?:only|just|wrong|incorrect|false)\b)(?:\w{1,12}[ \t]{1,3})?"
    r"(?:not|wrong|incorrect|false|impossible|unlikely)\b|(?:isn|aren|wasn|can|doesn|couldn)['’]t\b|cannot\b"
    r"|(?:can|does|could)[ \t]{1,3}not\b)",
    re.IGNORECASE,
)


def _denied(text: str, start: int, end: int) -> bool:
    """Whether what stands at text[start:end] is said not to be so: "not B", "B is wrong"."""
    return (
        _DENIED_BEFORE.search(text[max(0, start - 60) : start]) is not None
        or _DENIED_AFTER.match(text, end) is not None
    )


def _listed_after(answer: str, end: int) -> tuple[int, str, bool]:
    """The letters listed after the one that ends there, as in "B or C", "A B C D".

    (where they end, what joins the first of them, whether the last is said to be wrong); (end, "", False) for none.
    """
    first, last = "", end
    for _ in range(len(LETTERS)):
        more = _MORE.match(answer, last)
        if more is None or not (more["join"] or more["alone"] is not None):
            break
        first = first or (more["join"] or " ").lower()
        last = more.end("letter")
    return last, first, last > end and _DENIED_AFTER.match(answer, last) is not None


def _says(text: str, option: str) -> bool:
    """Whether a plain text has a plain option in it that is not denied."""
    at = text.find(f" {option} ")
    while at >= 0:
        if not _denied(text, at + 1, at + 1 + len(option)):
            return True
        at = text.find(f" {option} ", at + 1)
    return False


def parse_option(answer: str, options: Sequence[str]) -> str | None:
    """The letter of the option that an answer names; None for none, for several, and for a letter that is not there.

    Read in this order: a letter alone, or an option's text alone; the last "answer: B", "answer is B", "option ID: B",
    `\\boxed{B}`; one letter that stands like `B.`, `B)`, `(B)` at the start of lines; one "option B", "it's B",
    "therefore, B", "choose B" in the text; the text of one option. "Not B" and "B is wrong" are passed over. An option
    that is "" has no text to be named by.
    """
    there = LETTERS[: len(options)]

    def valid(letters: Iterable[str | None]) -> str | None:
        named = set(letters)
        return next(iter(named)) if len(named) == 1 and named <= set(there) else None

    bare = _BARE.fullmatch(answer)
    if bare is not None:
        return valid([bare[1].upper()])
    said, texts = plain(answer), {letter: plain(option) for letter, option in zip(there, options, strict=True)}
    alone = [letter for letter, text in texts.items() if text and said in (text, f"{letter.lower()} {text}")]
    if alone:
        return valid(alone)
    firm: list[tuple[int, int, str | None]] = []  # (start, end of all its letters, letter or None for several)
    weak: list[str | None] = []
    for pattern in (_CUE, _BOXED, _SAID):
        for cue in pattern.finditer(answer):
            found, end = cue.groupdict(), cue.end("letter")
            letter, stated = cue["letter"], found.get("is") or ("{" if pattern is _BOXED else None)
            if not (letter.isupper() or stated) or _denied(answer, cue.start(), end):
                continue
            last, join, wrong = _listed_after(answer, end)
            if wrong and (join[0] not in ",; " or (pattern is _CUE and not stated)):
                continue  # "option A and option B are wrong"; but not "Answer: B, C is wrong"
            several = last > end and not wrong
            # "a" where a sentence goes on is an article: "the answer is a cat", "Answer: A cat", "It's A cat".
            written = stated in (":", ">", "{") or pattern is _SAID
            article = cue["on"] and not found.get("named") and (letter.islower() or (letter == "A" and written))
            if article and not several:
                continue
            said_so = None if several else letter.upper()
            if stated or found.get("id") or (found.get("word", "").lower() == "answer" and _ENDS.match(answer, end)):
                firm.append((cue.start(), last, said_so))
            else:
                weak.append(said_so)
    if firm:
        start, _, letter_said = max(firm, key=lambda one: one[0])
        within = any(said_so is None and start < last for _, last, said_so in firm)  # "\boxed{B} or \boxed{C}"
        return None if within else valid([letter_said])
    lead: set[str | None] = set()
    for match in _LEAD.finditer(answer):
        last, join, wrong = _listed_after(answer, match.end(1))
        if not _denied(answer, match.end(1), match.end(1)) and not (wrong and join[0] not in ",; "):
            lead.add(None if last > match.end(1) and not wrong else match[1])
    if lead:
        return valid(lead)
    if weak:
        return valid(weak)
    return valid(letter for letter, text in texts.items() if text and _says(f" {said} ", text))


_TOKEN = re.compile(r"\n|[0-9]{1,40}+|[^\W\d_]{1,40}+|\S")
_PICTURE = ("frame", "frames", "panel", "panels", "image", "images", "picture", "pictures", "comic", "strip", "strips")
_LINKS = frozenset((*_PICTURE, "then", "and", "next", "finally", "followed", "by", "to", "number", "no", "the"))
_JOINS = frozenset(",;|/>→⇒➔=-–—[](){}*_\"'`#&<")
_ORDER_CUE = re.compile(r"\b(?:answer|correct\s{1,3}order|order\s{1,3}is|sequence\s{1,3}is|final)\b", re.IGNORECASE)
_NOUN = r"(?:frame|panel|image|picture|comic\s{1,3}strip|strip)\s{0,3}#?\s{0,3}"
_RANK = re.compile(
    rf"\b{_NOUN}([0-9]{{1,2}})[\])*_\"']{{0,3}}\s{{0,3}}(?::|=|->|→|is\b|should\s{{1,3}}be\b)\s{{0,3}}"
    r"[\[(*_\"']{0,3}(?:position|number|place)?\s{0,3}#?([0-9]{1,2})\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(  # "1. Frame 3", "1) 3"
    rf"(?:^|(?<=[\s,;]))[*_-]{{0,3}}([0-9]{{1,2}})(?:[.):]\s{{0,3}}[*_]{{0,3}}{_NOUN}|[.)]\s{{1,3}})([0-9]{{1,2}})\b(?![.):])",
    re.IGNORECASE | re.MULTILINE,
)


def _runs(text: str, *, across_lines: bool) -> list[tuple[int, int, list[int]]]:
    """(start, end, numbers) of every run of numbers with nothing but links between them."""
    runs: list[tuple[int, int, list[int]]] = []
    start = end = 0
    run: list[int] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] in "0123456789":
            if not run:
                start = token.start()
            run.append(int(word))
            end = token.end()
        elif not ((across_lines if word == "\n" else word in _JOINS) or word.lower() in _LINKS):
            if run:
                runs.append((start, end, run))
            run = []
    return [*runs, (start, end, run)] if run else runs


def parse_sequence(answer: str, n: int) -> tuple[int, ...] | None:
    """The sequence that an answer gives: the numbers of the frames as shown, from 1, in the order of the story.

    Read as that: `3, 1, 2`, `[3,1,2]`, `Frame 3 -> Frame 1 -> Frame 2`, `312`, a numbered list `1. Frame 3`; and
    `Frame 1: 2`, which for every frame gives its place. None where there is no permutation of 1 … n, or where there are
    several and no "answer", "correct order", … to tell which. "Not 3, 1, 2" and "3, 1, 2 is wrong" are passed over.
    """
    whole = set(range(1, n + 1))

    def complete(numbers: Sequence[int]) -> bool:
        return len(numbers) == n and set(numbers) == whole

    pairs = [(int(left), int(right)) for left, right in _RANK.findall(answer)]
    if len(pairs) == n and complete([left for left, _ in pairs]) and complete([right for _, right in pairs]):
        return tuple(left for left, _ in sorted(pairs, key=lambda pair: pair[1]))
    numbered = [(int(left), int(right)) for left, right in _NUMBERED.findall(answer)]
    if [left for left, _ in numbered] == list(range(1, n + 1)) and complete([right for _, right in numbered]):
        return tuple(right for _, right in numbered)
    for across_lines in (False, True):
        found = [
            (start, tuple(run))
            for start, end, run in _runs(answer, across_lines=across_lines)
            if complete(run) and not _denied(answer, start, end)
        ]
        if len({run for _, run in found}) == 1:
            return found[0][1]
        if found:
            cue = max((match.start() for match in _ORDER_CUE.finditer(answer)), default=None)
            return next((run for at, run in found if cue is not None and at > cue), None)
    digits = re.fullmatch(r"[\W_]*+([1-8]{3,8})[\W_]*+", answer)
    together = [int(digit) for digit in digits[1]] if digits is not None else []
    return tuple(together) if complete(together) else None


# ------------------------------------------------------------------------------------------------------------- grades


def _read(task: str, answer: str, item: Item) -> tuple[str, ...] | None:
    """What an answer says: a letter, or the numbers of a sequence."""
    n = int(str(item.fields["frames"]))
    if task == "reordering_generation":
        sequence = parse_sequence(answer, n)
        return None if sequence is None else tuple(map(str, sequence))
    if task != "reordering_choice":
        letter = parse_option(answer, [str(item.fields[f"{task}_{letter}"]) for letter in LETTERS])
        return None if letter is None else (letter,)
    letter = parse_option(answer, [""] * len(LETTERS))  # "1, 3, 1, 2" has the text of the option 3, 1, 2 in it
    if letter is None:  # the sequence itself in place of its letter
        options = [sequence_text(places) for places in frames.sequences(n, item.item_id)]
        sequence = parse_sequence(answer, n)
        written = sequence_text(number - 1 for number in sequence) if sequence is not None else None
        letter = LETTERS[options.index(written)] if written in options else None
    return None if letter is None else (letter,)


def signature(task: str, rule: Rule) -> str:
    """What names all that changes a grade's values."""
    return f"{'sequence' if task == 'reordering_generation' else 'option'}|rule:{rule}|v:2"


def _values(task: str, parsed: tuple[str, ...] | None, gold: Gold) -> dict[str, float]:
    """correct; for a generated sequence also correct_as_places: whether it is right if number k is frame k's place."""
    if task != "reordering_generation":
        return {"correct": float(parsed == (gold.values[task],))}
    right = [int(number) for number in gold.values[task]]
    places = [place + 1 for place in inverse([number - 1 for number in right])]
    said = [int(number) for number in parsed or ()]
    return {"correct": float(said == right), "correct_as_places": float(said == places)}


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = DEFAULT,
) -> list[Grade]:
    """Whether one model's answers on one strip are right. Both rules are the same.

    A refusal and an answer that cannot be read are wrong; a missing or failed one leaves the denominator.
    """
    graded = []
    for task in _asked(item, condition):
        response = responses.get(task)
        state: State = response.state if response is not None else "missing"
        parsed = None
        if response is not None and state == "ok":
            parsed = _read(task, response.text or "", item)
            state = "ok" if parsed is not None else "unparsable"
        scored = state in ("ok", "refused", "unparsable")
        graded.append(
            Grade(
                benchmark=NAME,
                item_id=item.item_id,
                task=task,
                condition=condition,
                sample=0,
                model=model,
                rule=rule,
                signature=signature(task, rule),
                responses=(response.digest,) if response is not None else (),
                gold=gold.digest,
                state=state,
                scored=scored,
                parsed=parsed,
                values=_values(task, parsed, gold) if scored else {},
            )
        )
    return graded


def baseline(name: str, request: Request, draw: random.Random) -> str | None:
    """`random`: an option, or a sequence of as many frames as there are images. `label-order`: the sequence as shown.

    A row of frames is one image: how many frames it holds cannot be told from the request, nor can its sequence.
    """
    content = [part for message in request.messages for part in message.content]
    if request.task == "reordering_generation":
        n = sum(isinstance(part, Image) for part in content)
        if n < FEWEST or name not in ("random", "label-order"):
            return None
        places = draw.sample(range(n), n) if name == "random" else range(n)
        return sequence_text(places)
    if name != "random" or request.task not in CHOICES:
        return None
    offered = re.findall(r"^([A-D])\. ", "\n".join(part.text for part in content if isinstance(part, Text)), re.M)
    return draw.choice(sorted(set(offered))) if offered else None


TABLES = tables.TABLES
