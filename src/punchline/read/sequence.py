"""An order over given labels: a run, a numbered list, places, a table, a story told frame by frame."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence

from punchline.read import normalize, words
from punchline.read.languages import english
from punchline.read.number import number_of
from punchline.read.resolve import resolve
from punchline.read.result import NOTHING, Read, reader
from punchline.read.words import Texts, preceding

_DIGITS = re.compile(r"\A\W*(?:[a-z ]{3,30}[:=] ?)?([1-9]{3,9})\W*\Z")
_CUED_DIGITS = words.pattern(r"\b(?:{order_cue}|order|sequence)\b[^\d\n]{0,40}?\b([1-9]{3,9})\b(?![.,]\d)")
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9}
_IN_ROMAN = words.pattern(r"(?:\W*\b(?:{frame_noun}|and|then|i{1,3}|iv|vi{0,3}|ix)\b)+\W*")
_PIECE = re.compile(r"[^\n.!?。]+|(?<=\d)\.(?=\d)")
_NO_LINK = words.pattern("{no_link}")
_LONGEST_LINK = 12  # letters of a token that stands before every number
_HAN = str.maketrans("一二三四五六七八九", "123456789")
_WORD = words.pattern(r"\b(?:{ordinal_or_nth}|{cardinal})\b")
_NAMED = words.pattern(r"\b({frame_noun} )({cardinal})\b")
_SPELT = words.pattern(
    r"(?:\W*(?:\b(?:{ordinal_or_nth}|{cardinal})\b|and|then|the|{frame_noun}))+\W*"
)  # nothing but words for numbers
_TOKEN = re.compile(r"\n|[0-9]{1,40}+|[^\W\d_]{1,40}+|\S")
_LINKS = words.pattern("{between_frames}")
_JOINS = frozenset(",;،|/>→⇒➔➡=-[](){}\"'#&<•+")
_NTH = words.pattern("{nth_frame}")  # "the third frame", but for "the third frame is frame 2"
_ROW = words.pattern(r"\b{row}:")
_FIRST = re.compile(r"(?<=\d) (?:comes|is|goes) first(?=,? (?:then|next|followed by)\b)")  # "3 comes first, then 1, 2"
_COMMENT = re.compile(r"\([^()\d]{2,300}\)")
# Places: "Frame 2: 1", "Panel 3 should be number 2", "Frame 1 is first"; behind an arrow a place is no next frame.
_RANK = words.pattern("{frame_with_place}")
_ITEM = words.pattern("{place_with_frame}")  # "1. Frame 3", "First: 3", "2nd - panel 1"
_MENTION = words.pattern(r"\b{frame_noun} ?(?:number |labell?ed |#)?\"?\(?({frame_number})\b(?!%)")
_OWN_LINE = words.pattern(r"{frame_noun} ?#?\d{1,3} ?[:(-]|\s*$")
_LED = re.compile(r"\W{0,3}(\d{1,2}) ?[-:.)] [^\d\n]*\Z")
_BARE_MENTION = re.compile(r"(?<![\w.])(\d{1,3})(?![\w%]|\.\d)")
_STORY = words.pattern(r"\b{told}\b")
_NO_STORY = re.compile(r"\b(?:before|preced\w+|prior to|not|n't|earlier than|or)\b")
_CUE = words.pattern(r"\b{order_cue}\b")
_CUED = words.pattern(r"\b{order_cue}\b[^.\n]{0,60}$")
_GIVEN = words.pattern(r"\b{order_given}\b[^.;\n]{0,40}$")
_COUNTED = re.compile(r"\b(?:there (?:are|is)|consists? of|contains?|has|have|labell?ed|numbered|named)\b[^.\n]{0,40}$")
_GIVEN_AFTER = words.pattern("{order_not_meant}")
_NOT_KNOWN = re.compile(r"\b(?:not|n't|cannot) (?:\w+ )?(?:know|sure|certain)\b")
_EXAMPLE = re.compile(r"\b(?:example|e\.g|such as|for instance|will mean)\b[^\n]*$|\b(?:like|format):? $")
_SURE = re.compile(r"\b(?:correct|right|answer|final)\b(?! (?:order|sequence) is not)[^.;\n]{0,20}$")
_ALREADY = words.pattern(r"\b{already_in_order}")


Order = Read[Texts]  # labels in an order, and its span in a plain text
Item = tuple[int, int, int, str]  # start, end, place, label


def _place(word: str, before: int, size: int) -> int:
    """A place, of a numeral, an ordinal, or a word that says next; "last" is the last one."""
    if word in ("last", "lastly", "finally", "and finally", "final", "end"):
        return size
    return number_of(word) or before + 1


def _complete(start: int, end: int, order: Sequence[str], labels: frozenset[str]) -> list[Order]:
    """The order as a list of one; an empty list where it is not all labels, each once."""
    return [Read(tuple(order), start, end)] if len(order) == len(labels) and frozenset(order) == labels else []


def _windows(items: Sequence[Item], labels: frozenset[str]) -> Iterator[Order]:
    """Orders of as many items in a row as there are labels, whose places are all there."""
    size = len(labels)
    for at in range(len(items) - size + 1):
        window = sorted(items[at : at + size], key=lambda item: item[2])
        if [place for _, _, place, _ in window] == list(range(1, size + 1)):
            yield from _complete(items[at][0], items[at + size - 1][1], [label for *_, label in window], labels)


def ranked(low: str, labels: frozenset[str]) -> Iterator[Order]:
    """Frames with their places are an order: "Frame 1 is third, frame 2 is first, frame 3 is second"."""
    matches = [m for m in list(_RANK.finditer(low))[:200] if m["link"] or not m["place"].isdigit()]
    items = [(*m.span(), _place(m["place"], 0, len(labels)), str(number_of(m["label"]))) for m in matches]
    return _windows(items, labels)


def numbered(low: str, labels: frozenset[str]) -> Iterator[Order]:
    """Places with their frames are an order: "1. Frame 3"; but not "1: 3", which could be a frame and its place."""
    items: list[Item] = []
    for match in list(_ITEM.finditer(low))[:200]:
        label = match["label"] or ""
        bare = label and not match["unit"]
        listed = match["mark"] in (".", ")") and low[match.end() - len(label) - 1] in ' [("'
        if match["place"].isdigit() and not match["noun"] and (match["own"] or (bare and not listed)):
            continue
        before = items[-1][2] if items else 0
        name = str(number_of(label or match["nth"]))
        items.append((match.start(), match.end(), _place(match["place"], before, len(labels)), name))
    return _windows(items, labels)


def run(low: str, labels: frozenset[str], across_lines: bool = False) -> Iterator[Order]:
    """A run of all labels, each once, with nothing but links between them, is an order: "3 -> 1 -> 2"."""
    text = words.blanked(_FIRST, words.blanked(_COMMENT, low))
    if _ROW.search(text):
        text, across_lines = words.blanked(_ROW, text).replace(".", " "), True
    runs: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] in "0123456789":
            runs[-1].append(token)
        elif not ((across_lines if word == "\n" else word in _JOINS) or _LINKS.fullmatch(word)):
            runs.append([])
    for tokens in filter(None, runs):
        order = [token[0].lstrip("0") or "0" for token in tokens]
        yield from _complete(tokens[0].start(), tokens[-1].end(), order, labels)


def linked(low: str, labels: frozenset[str]) -> Iterator[Order]:
    """All labels behind the same token are an order, with one word more before the last: "P3, P1 et P2"."""
    for piece in _PIECE.finditer(low):
        numbers = list(re.finditer(r"[0-9]{1,3}", piece[0]))
        order = [str(int(number[0])) for number in numbers]
        if len(order) < 3 or len(order) != len(labels) or frozenset(order) != labels:
            continue
        gaps = [piece[0][one.end() : other.start()] for one, other in itertools.pairwise(numbers)]
        *tokens, last = [re.sub(r"[\W_]", "", gap) for gap in gaps]
        same = (
            len(set(tokens)) == 1
            and len(tokens[0]) <= _LONGEST_LINK
            and not re.search(r"[<+*=()]|\d ?-", " ".join(gaps))
        )
        one_more = last.startswith(tokens[0]) or last.endswith(tokens[0])
        links = not _NO_LINK.search(" ".join(gaps)) and len(gaps[-1].split()) <= 3
        if same and one_more and links and len(last) <= 2 * _LONGEST_LINK:
            yield from _complete(piece.start() + numbers[0].start(), piece.start() + numbers[-1].end(), order, labels)


def story(low: str, labels: frozenset[str]) -> Iterator[Order]:
    """A story that names each frame once is told in order, if its words say so: "begins with", "then"."""
    for offset, paragraph in [*((line.start(), line[0]) for line in normalize.LINE.finditer(low)), (0, low)]:
        mentions = list(_MENTION.finditer(paragraph))
        bare = list(_BARE_MENTION.finditer(paragraph)) if len(mentions) != len(labels) else mentions
        if not bare or not (mentions or re.search(r"\b(?:begin|start)s?\b", paragraph)):
            continue
        start, end, order = bare[0].start(), bare[-1].end(), [str(number_of(match[1])) for match in bare]
        if ordered := _complete(offset + start, offset + end, order, labels):
            between = paragraph[max(0, start - 60) : end]
            each = len(paragraph) == len(low) and all(map(_OWN_LINE.match, low[start:].split("\n")))
            listed = each and order != sorted(order, key=int)
            in_order = listed or _STORY.search(between) or between.count(";") >= len(labels) - 1
            yield from ordered if in_order and not _NO_STORY.search(between) else ()


def by_line(low: str, labels: frozenset[str]) -> Iterator[Order]:
    """Numbered lines with one frame each are an order, wherever they name it: "1. Top left: Panel 3"."""
    lines = [line for line in normalize.LINE.finditer(low) if re.match(r"\W{0,3}\d{1,2}[.):] ", line[0])]
    named = [_MENTION.findall(line[0]) for line in lines]
    places = [re.findall(r"\d+", line[0])[0] for line in lines]
    if places == [str(place + 1) for place in range(len(labels))] and all(len(set(one)) == 1 for one in named):
        yield from _complete(lines[0].start(), lines[-1].end(), [str(number_of(one[0])) for one in named], labels)
    led = [(line, label) for line in normalize.LINE.finditer(low) if (label := _LED.match(line[0]))]
    order = [str(number_of(label[1])) for _, label in led]
    if order != sorted(order, key=int):  # "3 - He waits": lines in the order of the list say nothing
        yield from _complete(led[0][0].start(), led[-1][0].end(), order, labels)


def run_of_lines(low: str, labels: frozenset[str]) -> Iterator[Order]:
    """A run of labels, one a line, is an order."""
    return run(low, labels, True)


def digits(low: str, labels: frozenset[str]) -> list[Order]:
    """Digits that are all labels are an order, by themselves or behind "order": "The order should be 312."."""
    found = itertools.chain(_DIGITS.finditer(low), _CUED_DIGITS.finditer(low))
    return next(filter(None, (_complete(*match.span(1), match[1], labels) for match in found)), [])


LISTS = (ranked, numbered, by_line)  # with places; the first of these that finds orders counts
RUNS = (run, linked, run_of_lines, story, digits)  # without places, where there is no list


def _orders(low: str, labels: frozenset[str]) -> list[Order]:
    """The orders that a plain text gives, by the first way of writing that it uses."""
    if _SPELT.fullmatch(low):
        low = _WORD.sub(lambda word: f"{number_of(word[0])},".ljust(len(word[0])), low)
    if _IN_ROMAN.fullmatch(low):
        low = re.sub(r"\b[ivx]+\b", lambda word: str(_ROMAN[word[0]]).ljust(len(word[0])), low)
    low = _NAMED.sub(lambda named: f"{named[1]}{number_of(named[2])}".ljust(len(named[0])), low.translate(_HAN))
    low = _NTH.sub(lambda nth: f"{nth['noun']} {number_of(nth['nth'])}".ljust(len(nth[0])), low)  # "frame 3", as long
    for rule in LISTS:
        if orders := [*rule(low, labels)]:
            return sorted({*orders, *run(low, labels)}, key=lambda one: (one.start, one.end, one.value))
    return next(filter(None, ([*rule(low, labels)] for rule in RUNS)), [])


def _denied(low: str, order: Order) -> bool:
    """True if an order is an example, the one given, or said to be wrong."""
    before = _NOT_KNOWN.sub(" ", preceding(low, order.start, 70))
    if _EXAMPLE.search(before) or _GIVEN_AFTER.match(low, order.end):
        return True
    if list(order.value or ()) == sorted(order.value or (), key=int) and _COUNTED.search(before):
        return True
    if _SURE.search(before) and not re.search(r"\bnot?\b|n't", before):
        return False
    of_given = re.search(r"\b(?:not|given|shown|current|original|shuffled)\w*[^:\d]{0,20}: ?$", before)
    cut = max(map(before.rfind, (" but ", "; ", " should be ", " it's ", " it is ", *([] if of_given else [": "]))))
    return _GIVEN.search(before[cut + 1 :]) is not None


def _single_order(text: normalize.Plain, labels: frozenset[str]) -> Order:
    """The one order that a plain text commits itself to."""
    text = english(text)
    low = text.low
    orders = [one for one in _orders(low, labels) if not _denied(low, one)]
    for match in words.CORRECTION.finditer(low):
        orders = [one for one in orders if one.start >= match.start()] or orders
    already = _ALREADY.search(low) if not orders and len(labels) > 1 else None
    if already and not words.NEGATION.search(low, max(0, already.start() - 30), already.start()):
        orders = [Read(tuple(sorted(labels, key=int)), *already.span())]
    if len({one.value for one in orders}) > 1:
        cued = [one for one in orders if _CUED.search(preceding(low, one.start, 120))]
        cue = max((match.end() for match in _CUE.finditer(low)), default=len(low))
        orders = cued or [one for one in orders if one.start >= cue][:1]
    if len({one.value for one in orders}) != 1:
        return NOTHING
    return Read(orders[-1].value, *text.span(orders[-1].start, orders[-1].end), True)


@reader
def sequence(answer: str, labels: Collection[str]) -> Read[Texts]:
    """The order of all labels that an answer commits itself to: labels in the order in which they are to be read.

    Args:
        answer: The whole answer of a model.
        labels: The frames' labels ("1", "2", …).

    Returns:
        The labels in order and their span; no value for an order that lacks a label or has another, for two orders, for
        the order given.

    >>> sequence("Frame 2, then frame 3, then frame 1.", ("1", "2", "3")).value
    ('2', '3', '1')
    """
    known = frozenset(str(int(label)) if label.isdecimal() and len(label) < 9 else label for label in labels)
    return resolve(answer, lambda text, _: _single_order(text, known)) if known else NOTHING
