"""StripCipher's item format: the records of strips.json, and how they are read.

The authors have released no data. docs/stripcipher.md describes the format, docs/stripcipher.schema.json is its schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

import msgspec

from punchline.benchmarks.annotations import Filled, json_rows
from punchline.benchmarks.stripcipher import FEWEST, MOST, REVIEWED, STRIPS
from punchline.benchmarks.stripcipher.words import plain
from punchline.schema import Record

Category = Literal["Satirical", "Inspiring", "Touching", "Philosophical", "Critical", "Humorous"]  # table 9
CATEGORIES: tuple[str, ...] = get_args(Category)


def _text(description: str, **more: Any) -> msgspec.Meta:
    """The JSON schema's description of a field."""
    return msgspec.Meta(description=description, **more)


# Not empty, and of one line: options are shown one a line.
Option = Annotated[str, msgspec.Meta(pattern=r"^[^\r\n]*\S[^\r\n]*$(?!\n)")]


class Choice(Record, frozen=True, kw_only=True):
    """A question with four options."""

    question: Annotated[str | None, _text("Asked after the published instruction; null: only that.")] = None
    options: Annotated[tuple[Option, Option, Option, Option], _text("All different; they are shown in seeded order.")]
    answer: Annotated[str, _text("The right one of the options, letter by letter.")]
    weak: Annotated[
        tuple[Option, Option, Option] | None,
        _text("Distractors that are easily told from the answer, for condition weak; null: it is not asked so."),
    ] = None

    def __post_init__(self) -> None:
        options = (*self.options, *(self.weak or ()))
        if len({plain(option) for option in options}) < len(options):
            raise ValueError("two options say the same")
        if self.answer not in self.options:
            raise ValueError("the answer is none of the options")


class Texts(Record, frozen=True, kw_only=True):
    """Texts that people wrote or accepted for one strip; drafts of models only after review."""

    prediction: Annotated[Choice | None, _text("What happens in the second-to-last frame.")] = None
    comprehension: Annotated[Choice | None, _text("What the strip tells and means.")] = None
    meaning: Annotated[Filled | None, _text("The implicit meaning; null: the comprehension answer (table 7).")] = None
    category: Annotated[Category | None, _text("Table 9.")] = None


Side = Annotated[int, msgspec.Meta(ge=0)]
_BOXES = (
    "The frames in reading order, [x1, y1, x2, y2] in pixels of the published image, x2 and y2 exclusive; null: the"
    " strip is split; pixelhumor: the boxes that PixelHumor's metadata.csv has for this item_id."
)
Boxes = list[tuple[Side, Side, Side, Side]] | Literal["pixelhumor"] | None


class Strip(Record, frozen=True, kw_only=True):
    """One strip: where it comes from, how many frames it has, and what people wrote about it."""

    item_id: Annotated[
        str, _text("Unique; survives as a file name.", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$(?!\n)", max_length=100)
    ]
    source: Annotated[str, _text("The series, for tables by source.", min_length=1)]
    url: Annotated[str, _text("Of the strip's page, or of the image itself; empty where there is none.")] = ""
    frames: Annotated[int, _text("How many frames the strip has.", ge=FEWEST, le=MOST)]
    boxes: Annotated[Boxes, _text(_BOXES)] = None
    texts: Annotated[Texts | None, _text("Reviewed texts; without them only reordering is asked.")] = None
    credit: Annotated[str, _text("To be shown wherever the strip is.")]
    licence: Annotated[str, _text("Of the strip.")]

    def __post_init__(self) -> None:
        if isinstance(self.boxes, list) and len(self.boxes) != self.frames:
            raise ValueError(f"{len(self.boxes)} boxes for {self.frames} frames")

    @property
    def reviewed(self) -> Texts:
        """Its texts; empty ones where none are reviewed."""
        return self.texts or Texts()


@lru_cache(maxsize=4)
def read_strips(content: bytes) -> dict[str, Strip]:
    """The strips of a strips.json by item id, in the file's order; with or without a byte order mark.

    Raises PunchlineError naming file, record and field.
    """
    hint = "docs/stripcipher.md describes the format, docs/stripcipher.schema.json checks it"
    return json_rows(content, Strip, file=STRIPS, key="item_id", hint=hint)


def strips_of(files: Mapping[str, bytes]) -> dict[str, Strip]:
    """The strips by item id, in the file's order. Raises PunchlineError as read_strips does."""
    return read_strips(files[STRIPS])


def choices(strip: Strip) -> dict[str, Choice]:
    """By task, the strip's reviewed questions."""
    return {task: choice for task in REVIEWED if (choice := getattr(strip.reviewed, task)) is not None}
