"""PixelHumor's part of the demo corpus: comics that the project draws itself, in the released file formats.

PixelHumor (Ryan et al., "Humor in Pixels", 2025) publishes annotations and addresses but no images. `draw` writes a
corpus of the same shape that anyone may have: 8 CSVs with the released columns, quoting and quirks (Python list
literals in cells, texts in label order, another row order in some files) and one PNG a comic. Jokes, drawings and
labels are the project's own; see docs/demo-corpus.md.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from punchline.benchmarks.pixelhumor import (
    ANNOTATIONS,
    COMICS,
    HARM,
    METADATA,
    OBJECTIVE,
    SOUND_EFFECTS,
    STYLES,
    SUBJECTIVE,
)
from punchline.comics.number import encode
from punchline.core.files import write_bytes, write_text
from punchline.core.storage import csv_text
from punchline.demo.comics import generator, page, panel_texts, picture
from punchline.demo.scripts import Script, words

LAYOUTS = ("borderless", "column", "grid", "single", "strip", "uneven")
SCRIPTS = words(__file__, tuple[Script, ...])
EXPLANATIONS = "human_explanation.csv"
FULL_COLUMNS = ("comic_id", "comic_url", "Q1", "Q2", "Q3", "Q4", "Q5")
OBJECTIVE_COLUMNS = ("panel_sequence", "text", "number_of_panels")
COLUMNS: dict[str, tuple[str, ...]] = {
    ANNOTATIONS: ("comic_id", *(f"A{a}Q{q}" for a in range(1, 13) for q in range(1, 6))),
    COMICS: ("comic_id", "comic_url"),
    "full_label.csv": (*FULL_COLUMNS, *OBJECTIVE_COLUMNS, "potentially_harmful"),
    HARM: ("comic_id", "potentially_harmful"),
    EXPLANATIONS: ("comic_id", "explanation"),
    METADATA: ("comic_id", "metadata"),
    OBJECTIVE: ("comic_id", *OBJECTIVE_COLUMNS),
    SUBJECTIVE: ("comic_id", "Q1", "Q2", "Q3", "Q4", "Q5"),
}
Vote = tuple[list[str], list[str], list[str], list[str], list[str]]  # one annotator's Q1 .. Q5


def _order(seed: int, name: str, values: Iterable[Any]) -> list[Any]:
    """The values in an order that hangs on the seed and the name only."""
    return sorted(values, key=lambda value: hashlib.sha256(f"{seed}:{name}:{value}".encode()).hexdigest())


def comic_ids() -> list[str]:
    """One id a script, `<layout>_<number>`, numbered within the layout."""
    seen: dict[str, int] = {}
    ids = []
    for script in SCRIPTS:
        seen[script.layout] = seen.get(script.layout, 0) + 1
        ids.append(f"{script.layout}_{seen[script.layout]}")
    return ids


def labels(script: Script, name: str, seed: int = 0) -> list[int]:
    """The random label of each panel, in reading order: a permutation of 1 .. N that hangs on seed and name only."""
    order: list[int] = _order(seed, name, range(1, len(script.panels) + 1))
    return order


def _gold(script: Script, sequence: Sequence[int]) -> Vote:
    """What consolidated votes should say; both modalities as two labels, as the annotators wrote it."""
    if script.peak is None:
        return ["No"], [script.sound], ["NA"], ["NA"], ["NA"]
    modality = ["Text", "Visual"] if script.by == "Both" else [script.by]
    return ["Yes"], [script.sound], [str(sequence[script.peak - 1])], modality, script.styles.split()


def _dissent(gold: Vote, sequence: Sequence[int], rng: random.Random, away: Sequence[str] = ()) -> Vote:
    """A vote that differs from the gold in panel, styles and sometimes more, shares no style with it, and names none
    of the panels and styles in `away`. It never parts Text from Visual where the gold has both: two votes would then
    outweigh the tie."""
    q1, q2, q3, q4, q5 = gold
    if q1 == ["No"]:
        return ["Yes"], q2, [str(sequence[0])], ["Text"], [rng.choice(STYLES)]
    if not away and rng.random() < 0.3:
        return ["No"], ["Absent"], ["NA"], ["NA"], ["NA"]
    panels = [str(label) for label in sequence if str(label) not in (*q3, *away)]
    styles = [style for style in STYLES if style not in (*q5, *away)]
    sound = rng.choice([s for s in SOUND_EFFECTS if s not in q2]) if not away and rng.random() < 0.3 else q2[0]
    modality = rng.choice([["Text"], ["Visual"]]) if len(q4) == 1 and not away else q4
    return q1, [sound], [rng.choice(panels)] if panels else q3, modality, rng.sample(styles, rng.choice((1, 2)))


def _votes(gold: Vote, sequence: Sequence[int], pair: int, rng: random.Random) -> dict[int, Vote]:
    """Votes by annotator, 1 .. 12, whose consolidation is the gold.

    Two main annotators, and where they differ a third one or an expert (9 .. 12), as in the released file.
    """
    first, second = 2 * pair + 1, 2 * pair + 2
    third = rng.choice([a for a in range(1, 9) if a not in (first, second)])
    expert = rng.randint(9, 12)
    chance = rng.random()
    if chance < 0.5:
        return {first: gold, second: gold}
    if chance < 0.7 and gold[0] == ["Yes"]:  # the second sees more styles in it than are kept
        more = rng.choice([style for style in STYLES if style not in gold[4]])
        return {first: gold, second: (*gold[:4], [*gold[4], more])}
    wrong = _dissent(gold, sequence, rng)
    if chance < 0.85:
        return {first: gold, second: wrong, third: gold}
    if chance < 0.93 and gold[0] == ["Yes"] and len(sequence) > 2:  # three opinions: only the expert settles it
        one = _dissent(gold, sequence, rng, ("-",))
        two = _dissent(gold, sequence, rng, (*one[2], *one[4]))
        return {first: gold, second: one, third: two, expert: gold}
    return {first: gold, second: wrong, expert: gold}


def tables(seed: int = 0) -> dict[str, str]:
    """The 8 CSV files: name to content."""
    rows: dict[str, dict[str, Any]] = {}
    golds: dict[str, tuple[Vote, list[int]]] = {}
    why: list[dict[str, Any]] = []
    for name, script in zip(comic_ids(), SCRIPTS, strict=True):
        sequence = labels(script, name, seed)
        _, frames = page(script)
        panels = sorted(zip(sequence, frames, script.panels, strict=True), key=lambda panel: panel[0])
        gold = _gold(script, sequence)
        golds[name] = gold, sequence
        q4 = ["Both"] if len(gold[3]) == 2 else gold[3]
        boxes = [
            {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "panel_number": str(label)}
            for label, (x1, y1, x2, y2), _ in panels
        ]
        rows[name] = {
            "comic_id": name,
            "comic_url": f"demo:{name}",
            **{f"Q{q}": str(value) for q, value in enumerate((*gold[:3], q4, gold[4]), start=1)},
            "panel_sequence": ", ".join(map(str, sequence)),
            "text": " \n ".join(f"{label}: " + " \n ".join(panel_texts(panel)) for label, _, panel in panels).replace(
                ":  \n", ": \n"
            ),
            "number_of_panels": len(sequence),
            "potentially_harmful": "harm" if script.harm else "non-harm",
            "metadata": str(boxes),
        }
        if script.why:
            why.append({"comic_id": name, "explanation": script.why})

    by_number = sorted(rows, key=lambda name: (name.rsplit("_", 1)[0], int(name.rsplit("_", 1)[1])))
    # as released: two files have the sources in another order, and one is by annotators
    by_source = sorted(by_number, key=lambda name: _order(0, "sources", LAYOUTS).index(name.rsplit("_", 1)[0]))
    by_annotator = _order(seed, "annotators", rows)
    for place, name in enumerate(by_annotator):
        gold, sequence = golds[name]
        for annotator, vote in _votes(gold, sequence, place * 4 // len(rows), generator(seed, f"votes:{name}")).items():
            rows[name] |= {f"A{annotator}Q{q}": str(value) for q, value in enumerate(vote, start=1)}
    order = {ANNOTATIONS: by_annotator, METADATA: by_source, OBJECTIVE: by_source}
    files = {}
    for file, columns in COLUMNS.items():
        chosen = why if file == EXPLANATIONS else [rows[name] for name in order.get(file, by_number)]
        files[file] = csv_text(columns, ({column: row.get(column) for column in columns} for row in chosen))
    return files


def draw(folder: Path, seed: int = 0) -> None:
    """Write the corpus to `folder`: 8 CSVs in PixelHumor's released formats and images/<comic_id>.png.

    The same seed gives the same bytes under the same OpenCV. The seed decides labels, votes, row order and the wobble
    of the lines; jokes, layouts and gold do not hang on it (but for Q3, which names a label).
    """
    for file, content in tables(seed).items():
        write_text(folder / file, content)
    for name, script in zip(comic_ids(), SCRIPTS, strict=True):
        image, _ = picture(script, name, seed)
        write_bytes(folder / "images" / f"{name}.png", encode(image))
