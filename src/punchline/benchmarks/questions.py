"""Questions of a benchmark of your own: rows of a CSV, checked, with all faults of a file in one error."""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase as LETTERS
from typing import NamedTuple

import msgspec

from punchline.benchmarks.annotations import FILE_NAME
from punchline.errors import PunchlineError, did_you_mean
from punchline.files import csv_cells, text_of
from punchline.read.normalize import normalize_unicode

COLUMNS = ("id", "question", "answer")
OPTIONAL = ("image", "options", "cluster")
YES_NO = {"yes": "Yes", "true": "Yes", "no": "No", "false": "No"}
SHORT = YES_NO | {"y": "Yes", "t": "Yes", "n": "No", "f": "No"}  # where all open answers are such
SHOWN = 20  # faults that a message lists
_BETWEEN = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
_LETTER = re.compile(r"\(?([A-Za-z])[.):]?")


class Question(msgspec.Struct):
    """One row; empty cells: no image, no options, a cluster of its own."""

    id: str
    question: str
    answer: str  # a letter, Yes, No, or a text
    image: str = ""
    options: str = ""  # separated by ` | `
    cluster: str = ""

    @property
    def choices(self) -> dict[str, str]:
        """Options by letter."""
        return choices(self.options)


class Fault(NamedTuple):
    """A fault of a cell, and the fix."""

    field: str
    what: str
    hint: str


def choices(options: str) -> dict[str, str]:
    """Options by letter; of more than 26 the first ones."""
    return dict(zip(LETTERS, _split(options), strict=False))


def _split(options: str) -> list[str]:
    return [" ".join(option.split()) for option in _BETWEEN.split(options)] if options.strip() else []


def plain(text: str) -> str:
    """A text without case and punctuation, in the form in which texts are compared."""
    return " ".join(re.findall(r"\w+", normalize_unicode(text).casefold()))


def read_questions(
    content: bytes, file: str, more: Callable[[Question], Iterable[Fault]] = lambda row: ()
) -> list[Question]:
    """Checked questions of a CSV. Raises PunchlineError with all its faults, each with its line and record.

    `more`: further faults of a row.
    """
    faults: list[str] = []
    numbered: list[tuple[int, Question]] = []
    for line, cells in _records(content, file, faults):
        texts = {name: cells.get(name, "").strip().replace("\r\n", "\n") for name in (*COLUMNS, *OPTIONAL)}
        numbered.append((line, Question(**texts)))
    rows = [row for _, row in numbered]
    _label(rows)
    lines_of = defaultdict[str, list[int]](list)
    for line, row in numbered:
        lines_of[row.id].append(line)
    kinds = {name for name in ("image", "options") if any(getattr(row, name) for row in rows)}
    for line, row in numbered:
        for fault in (*_faults(row, kinds, lines_of[row.id][0] != line), *more(row)):
            faults.append(f"line {line}, record {row.id}, field {fault.field}: {fault.what}. {fault.hint}")
    if not rows and not faults:
        raise PunchlineError("no rows", file=file, hint=f"One question a row. Columns: {', '.join(COLUMNS)}")
    if faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
        others = [f"and {len(faults) - SHOWN:,} more"] if len(faults) > SHOWN else []
        raise PunchlineError("\n  ".join([count, *faults[:SHOWN], *others]), file=file)
    return rows


def warnings(rows: Sequence[Question]) -> Iterator[str]:
    """Warnings about rows that are allowed and may be meant otherwise."""
    by_name = defaultdict[str, list[str]](list)
    for row in rows:
        by_name[row.id.casefold()].append(row.id)
    for ids in by_name.values():
        if len(ids) > 1:
            yield f"the ids {', '.join(ids)} differ in case only"


def check_images(rows: Sequence[Question], name: str, has_images: bool, file: str) -> None:
    """Raises PunchlineError for questions with images of a benchmark whose code shows none, and the reverse."""
    if bool(rows[0].image) != has_images:
        what = f"the questions have {'no images' if has_images else 'images'}, and the benchmark {name} shows "
        what += "images" if has_images else "none"
        hint = f"Write IMAGES = {not has_images} into src/punchline/benchmarks/{name}/__init__.py"
        raise PunchlineError(what, file=file, field="image", hint=hint)


def unused_columns(content: bytes, file: str) -> list[str]:
    """Columns of a CSV that no question has."""
    _, header = next(csv_cells(text_of(content, file), file))
    return [name for name in header if name.strip().lower() not in (*COLUMNS, *OPTIONAL, "")]


def _records(content: bytes, file: str, faults: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, cells by column) of the rows that are not blank; rows of another length are faults."""
    if content.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[") or content.startswith(b"PK\x03\x04"):
        what = "JSON or a spreadsheet's own format, not CSV"
        raise PunchlineError(what, file=file, hint=f"Save it as CSV with the columns {', '.join(COLUMNS)}")
    records = csv_cells(text_of(content, file), file)
    _, header = next(records, (1, []))
    header = [name.strip().lower() for name in header]
    _check_header(header, file)
    for line, cells in records:
        if any(cell.strip() for cell in cells[len(header) :]) or len(cells) < len(header):
            if any(cell.strip() for cell in cells):
                what = f"{len(cells)} cells where the header has {len(header)}"
                faults.append(
                    f"line {line}, record {cells[0]}: {what}. Put a text that holds a comma in quotation marks"
                )
        elif any(cell.strip() for cell in cells):
            yield line, dict(zip(header, cells, strict=False))


def _check_header(header: Sequence[str], file: str) -> None:
    """Raises PunchlineError for an absent, repeated or mistyped column, and for another separator than a comma."""
    for separator, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "`|`")):
        if set(COLUMNS) <= {part.strip(' "') for part in separator.join(header).split(separator)} != set(header):
            what = f"the columns are separated by {name}"
            raise PunchlineError(what, file=file, line=1, hint="Save the file with commas")
    for column in header:
        if column and header.count(column) > 1:
            raise PunchlineError("the column appears twice", file=file, line=1, field=column)
    known = (*COLUMNS, *OPTIONAL)
    for column in COLUMNS:
        if column not in header:
            hint = f"{did_you_mean(column, header)}Expected: {', '.join(COLUMNS)}; found: {', '.join(header)}"
            raise PunchlineError("missing column", file=file, line=1, field=column, hint=hint)
    for column in header:
        if column and column not in known and (near := did_you_mean(column, set(known) - set(header))):
            raise PunchlineError("unknown column", file=file, line=1, field=column, hint=f"{near}Or rename it")


def _label(rows: Sequence[Question]) -> None:
    """Write answers as they are scored: capital letters, Yes and No."""
    answers = {row.answer.casefold() for row in rows if not row.options}
    words: Mapping[str, str] = SHORT if answers <= SHORT.keys() else YES_NO
    for row in rows:
        if not row.options:
            row.answer = words.get(row.answer.casefold(), row.answer)
        elif letter := _LETTER.fullmatch(row.answer):
            row.answer = letter[1].upper()


def _faults(row: Question, kinds: set[str], is_repeated: bool) -> Iterator[Fault]:
    if not FILE_NAME.fullmatch(row.id):
        yield Fault("id", f"expected a name for a file, got {row.id!r}", "Letters, digits, `.`, `_`, `-`")
    elif is_repeated:
        yield Fault("id", "the record is there twice", "Keep one")
    for name in ("question", "answer"):
        if not getattr(row, name):
            yield Fault(name, "expected a text, got ''", "Fill the cell or remove the row")
    if "image" in kinds and not row.image:
        yield Fault("image", "some rows have image and others have none", "Make two benchmarks of them")
    if row.options:
        yield from _option_faults(row)
    elif _LETTER.fullmatch(row.answer) and "options" in kinds:
        yield Fault("options", f"no options, and the answer is the letter {row.answer}", "Give options, or a text")
    elif row.answer and not plain(row.answer):
        yield Fault("answer", f"{row.answer!r} has neither letters nor digits to compare", "Give options")


def _option_faults(row: Question) -> Iterator[Fault]:
    texts = _split(row.options)
    compared = [normalize_unicode(text) for text in texts]
    if "" in compared:
        place = compared.index("") + 1
        yield Fault("options", f"option {place} of {len(texts)} is empty", "Fill it, or remove its ` | `")
    if len(texts) > len(LETTERS):
        yield Fault("options", f"{len(texts)} options, and there are {len(LETTERS)} letters", "Give at most 26")
    letters = LETTERS[: len(texts)]
    seen: dict[str, str] = {}
    for letter, text in zip(LETTERS, compared, strict=False):
        if text and seen.setdefault(text, letter) != letter:
            yield Fault("options", f"options {seen[text]} and {letter} are the same", "Keep one")
    if len(texts) < 2:
        hint = "Separate options by ` | `, a bar between blanks"
        yield Fault("options", f"one option alone: {row.options!r:.100}", hint)
    elif row.answer and row.answer not in list(letters):
        meant = [letter for letter, text in zip(letters, texts, strict=False) if plain(text) == plain(row.answer)]
        hint = f"Write {meant[0]}, the letter of that option" if meant else "Write the letter of the right option"
        yield Fault("answer", f"expected one of the letters {', '.join(letters)}, got {row.answer!r:.100}", hint)
