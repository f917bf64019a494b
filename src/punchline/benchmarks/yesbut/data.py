"""YesBut's released file read and checked: items, gold, and what is odd in it."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from punchline.benchmarks.yesbut import ANNOTATIONS, CHOSEN, LENT, NAME
from punchline.benchmarks.yesbut.options import options
from punchline.core.benchmark import Files
from punchline.core.errors import PunchlineError
from punchline.core.records import Gold, ImageRef, Item

SOURCE = "twitter"  # all addresses are of its image host

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
