"""YesBut's part of the demo corpus: two-panel comics of the project's own making, drawn and annotated here.

Written in the released file format, quirks included: a title that is an option twice, an answer at any letter.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from punchline.benchmarks.yesbut import ANNOTATIONS, LENT
from punchline.comics.number import encode
from punchline.comics.shuffle import permutation
from punchline.core.files import write_bytes, write_text
from punchline.demo.comics import page, picture
from punchline.demo.scripts import Script, words

SEED = 0


class Comic(msgspec.Struct, frozen=True):
    """One comic: its two panels, and what is annotated of it."""

    play: str
    caption: str
    contradiction: str
    moral: str
    wrong_morals: tuple[str, str, str]
    title: str
    wrong_titles: tuple[str, str, str]
    theme: str

    @property
    def script(self) -> Script:
        return Script(self.play)


COMICS = words(__file__, tuple[Comic, ...])


def _options(right: str, wrong: tuple[str, ...], key: str) -> tuple[str, str]:
    """(question's options as released, letter of the right one), in an order that hangs on the key."""
    texts = (right, *wrong)
    order = permutation(len(texts), SEED, key)
    lines = [f"{letter}. {texts[index]}" for letter, index in zip("ABCD", order, strict=True)]
    return "\n".join(lines), "ABCD"[order.index(0)]


def comics() -> list[dict[str, Any]]:
    """The records of Yesbut_data.json. Addresses are on a host that is reserved for examples."""
    records = []
    for number, comic in enumerate(COMICS, 1):
        name = f"{number:05d}.jpg"
        moral_mcq, moral_answer = _options(comic.moral, comic.wrong_morals, f"{name}:moral")
        title_mcq, title_answer = _options(comic.title, comic.wrong_titles, f"{name}:title")
        _, frames = page(comic.script)
        records.append(
            {
                "image_file": name,
                "description": f"{comic.caption} {comic.contradiction}",
                "caption": comic.caption,
                "contradiction": comic.contradiction,
                "moral": comic.moral,
                "title": comic.title,
                "neg_title": list(comic.wrong_titles),
                "neg_moral": list(comic.wrong_morals),
                "category": f"the theme of {comic.theme}",
                "moral_mcq": moral_mcq,
                "moral_mcq_answer": moral_answer,
                "title_mcq": title_mcq,
                "title_mcq_answer": title_answer,
                "url": f"https://example.org/yesbut/{name}",
                "bounding_box": [[[x1, y1], [x2, y2]] for x1, y1, x2, y2 in frames],
            }
        )
    return records


def _beginning(text: str, sentences: int) -> str:
    return ". ".join(text.split(". ")[:sentences]).rstrip(".") + "."


def draw(folder: Path) -> None:
    """Write the annotations in the released format, descriptions as of other models, and images/<image_file>.png."""
    write_text(folder / ANNOTATIONS, json.dumps(comics(), indent=4) + "\n")
    for sentences, name in enumerate(LENT.values(), 1):  # the smaller model sees less: the beginning of what is there
        described = [
            {"image_file": f"{number:05d}.jpg", "output": _beginning(comic.caption, sentences)}
            for number, comic in enumerate(COMICS, 1)
        ]
        write_text(folder / name, json.dumps(described, indent=4) + "\n")
    for number, comic in enumerate(COMICS, 1):
        name = f"{number:05d}.jpg"
        image, _ = picture(comic.script, f"yesbut:{name}", SEED)
        write_bytes(folder / "images" / f"{name}.png", encode(image))
