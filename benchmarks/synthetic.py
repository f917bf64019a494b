"""A corpus of any size in PixelHumor's released format, and models' answers to it. Words are made of syllables.

Rows are written as they are made, so that a corpus of any size needs no memory. Sizes of texts, panels and labels are
about those of the released files; nothing of them is in here.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES

SOURCES = ("aaron", "birch", "cedar", "dune", "ember")
SYLLABLES = ("ba", "cho", "den", "fi", "gur", "la", "mo", "nes", "pi", "qua", "ri", "sto", "ta", "ul", "ven", "zo")
ANSWERS = {"Q1": ("Yes", "No"), "Q2": SOUND_EFFECTS, "Q4": MODALITIES, "Q5": STYLES}
OBJECTIVE = ("panel_sequence", "text", "number_of_panels")
QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
COLUMNS: dict[str, tuple[str, ...]] = {
    "annotation.csv": tuple(f"A{a}Q{q}" for a in range(1, 13) for q in range(1, 6)),
    "comic_url.csv": ("comic_url",),
    "full_label.csv": ("comic_url", *QUESTIONS, *OBJECTIVE, "potentially_harmful"),
    "harm_annotation.csv": ("potentially_harmful",),
    "human_explanation.csv": ("explanation",),
    "metadata.csv": ("metadata",),
    "objective_label.csv": OBJECTIVE,
    "subjective_label.csv": QUESTIONS,
}
EXPLAINED = 40  # one comic in so many has an explanation


class Comic(NamedTuple):
    """What a corpus says of one comic."""

    comic_id: str
    labels: dict[str, list[str]]  # Q1 … Q5
    sequence: list[str]  # panel labels in reading order
    texts: list[str]  # of panels 1 to N
    rng: random.Random


def vocabulary(size: int = 4000) -> list[str]:
    rng = random.Random("words")
    return ["".join(rng.choices(SYLLABLES, k=rng.choice((1, 1, 2, 2, 3)))) for _ in range(size)]


def comics(n: int) -> Iterator[Comic]:
    """n comics, each of its own seed: the first m are the same in every corpus of at least m."""
    words = vocabulary()
    for number in range(n):
        rng = random.Random(number)
        panels = rng.choice((1, 2, 3, 3, 4, 4, 4, 6, 8))
        sequence = [str(label) for label in range(1, panels + 1)]
        rng.shuffle(sequence)
        texts = [" ".join(rng.choices(words, k=rng.randint(0, 20))).upper() for _ in range(panels)]
        funny = rng.random() < 0.97
        labels = {"Q1": ["Yes" if funny else "No"], "Q2": [rng.choice(SOUND_EFFECTS) if funny else "Absent"]}
        labels["Q3"] = [rng.choice(sequence) if funny else "NA"]
        labels["Q4"] = [rng.choice(MODALITIES) if funny else "NA"]
        labels["Q5"] = rng.sample(STYLES, rng.choice((1, 1, 2, 3))) if funny else ["NA"]
        yield Comic(f"{SOURCES[number % len(SOURCES)]}_{number + 1}", labels, sequence, texts, rng)


def text_of(texts: list[str]) -> str:
    return " \n ".join(f"{number}: {text}" for number, text in enumerate(texts, start=1))


def cells(comic: Comic, place: float) -> dict[str, Any]:
    """A comic's cells in all files. Two annotators of one pair label it, as `place` in the corpus says."""
    first = 2 * int(4 * place) + 1
    votes = {
        f"A{annotator}{task}": str(["Text", "Visual"] if labels == ["Both"] else labels)
        for annotator in (first, first + 1)
        for task, labels in comic.labels.items()
    }
    side = 100
    boxes = [
        {"x1": side * i, "y1": 0, "x2": side * i + 90, "y2": side, "panel_number": label}
        for i, label in enumerate(comic.sequence)
    ]
    return {
        "comic_id": comic.comic_id,
        "comic_url": f"https://example.org/{comic.comic_id}",
        **{task: str(labels) for task, labels in comic.labels.items()},
        "panel_sequence": ", ".join(comic.sequence),
        "text": text_of(comic.texts),
        "number_of_panels": len(comic.sequence),
        "potentially_harmful": "harm" if comic.rng.random() < 0.1 else "non-harm",
        "metadata": str(boxes),
        "explanation": " ".join(comic.texts),
        **votes,
    }


def write_corpus(folder: Path, n: int, manifest: Path) -> None:
    """The eight released files of n comics in `folder`, and their manifest in place of the released ones'."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        writers = {}
        for name, columns in COLUMNS.items():
            file = stack.enter_context((folder / name).open("w", encoding="utf-8", newline=""))
            names = ("comic_id", *columns)
            writers[name] = csv.DictWriter(file, names, lineterminator="\n", restval="", extrasaction="ignore")
            writers[name].writeheader()
        for number, comic in enumerate(comics(n)):
            row = cells(comic, number / n)
            for name, writer in writers.items():
                if name != "human_explanation.csv" or number % EXPLAINED == 0:
                    writer.writerow(row)
    with manifest.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("path", "url", "sha256", "bytes", "licence", "mirror"))
        for name in COLUMNS:
            with (folder / name).open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            size = (folder / name).stat().st_size
            writer.writerow((name, f"https://example.org/{name}", digest, size, "none", f"pixelhumor/{name}"))


def misread(text: str, share: float, rng: random.Random) -> str:
    """Text as a poor reader would give it: words with characters lost, doubled or swapped."""
    words = []
    for word in text.split(" "):
        if rng.random() < share and len(word) > 1:
            at = rng.randrange(len(word) - 1)
            word = word[:at] + rng.choice(("", word[at] * 2, word[at + 1])) + word[at + 1 :]
        words.append(word)
    return " ".join(words)


def answer(comic: Comic, share: float, rng: random.Random) -> dict[str, str]:
    """One model's answers on a comic in the released form: gold, wrong in about that share."""
    given = {}
    for task, labels in comic.labels.items():
        if rng.random() < share:
            labels = [rng.choice(ANSWERS.get(task, comic.sequence))]
        given[task] = ", ".join(labels)
    order = list(comic.sequence)
    if rng.random() < share:
        rng.shuffle(order)
    given["Q6"] = "It is funny, because " + " ".join(comic.texts).lower()[:200] + "."
    given["panel_sequence"] = ", ".join(order)
    given["text"] = text_of([misread(text, share, rng) for text in comic.texts])
    return given


def write_answers(file: Path, n: int, share: float) -> None:
    """A model's answers to a corpus of n comics; one comic in a hundred has none."""
    rng = random.Random(str(share))
    with file.open("w", encoding="utf-8") as out:
        before = "{"
        for comic in comics(n):
            if rng.random() >= 0.01:
                out.write(f"{before}\n{json.dumps(comic.comic_id)}: {json.dumps(answer(comic, share, rng))}")
                before = ","
        out.write("\n}\n")
