"""Hummus's part of the demo corpus: cartoons that the project draws, with captions and annotations of its own making.

Written in the released file formats, quirks included: several captions of one cartoon, a pair whose two labels differ,
one that is in hummus_dataset.json only, <u> beside <i>, metaphors in both directions and in parentheses, keys that are
absent where they do not apply. Boxes are those of the things drawn.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from punchline.benchmarks.hummus import DATASET, DESCRIPTIONS, TEST_SET
from punchline.core.storage import csv_text, write_bytes, write_text
from punchline.demo.comics import picture
from punchline.demo.scripts import Panel, Script

SEED = 0

# contest: (scene in the words of punchline.comics.demo_scripts, description)
CARTOONS: dict[int, tuple[str, str]] = {
    901: (
        "indoor doc@18 couch@60 clock*1.2@60,70",
        "A therapist stands beside a couch. An alarm clock lies on the couch.",
    ),
    902: (
        "indoor boss@20 table@45 cat*1.3@72",
        "A man in a suit and a large cat face each other across a table in an office.",
    ),
    903: (
        "snow snowman@30 snowman@55 sun@85,30",
        "Two snowmen stand in the snow. A large sun rises beside them.",
    ),
    904: (
        "sheep@22 sheep@40 sheep@58 robot*1.1@82",
        "Three sheep stand in a row on a meadow and look at a robot.",
    ),
    905: (
        "indoor bob@25 tv.bird*1.4@70",
        "A man looks at a television that shows a bird.",
    ),
    906: (
        "night ghost@30 tomb@62 ann@84",
        "A ghost floats between a tombstone and a woman at night.",
    ),
    907: (
        "rocket*1.1@35 ann@72 planet@88,24",
        "A woman stands beside a rocket. A planet hangs in the sky.",
    ),
}


@dataclass(frozen=True)
class Pair:
    """One caption of a cartoon with its annotation; what is empty is left out of the file."""

    number: int  # nyc-combi-N
    contest: int
    caption: str
    label: str  # met_class
    tested: str | None = None  # is_met where it differs from the label; "" where the pair is not in test_set.json
    marked: str = ""  # caption_hl
    metaphor: str = ""
    things: tuple[str, ...] = ()  # drawn things that are boxed
    names: str = ""  # bbox_labels
    figures: str = ""
    explanation: str = ""


PAIRS = (
    Pair(
        9001,
        901,
        "Every morning somebody hits me, and then I go off.",
        "Yes",
        marked="Every morning somebody <i>hits</i> me, and then I <i>go off</i>.",
        metaphor="Objects Are People",
        things=("clock",),
        names="alarm clock",
        figures="personification; pun",
        explanation="The alarm clock is treated as a patient with a temper: going off is ringing and losing one's "
        "calm at the same time.",
    ),
    Pair(
        9002,
        901,
        "I am wound up all day long.",
        "WIDLII",
        marked="I am <i><u>wound up</u></i> all day long.",
        metaphor="Objects Are People; Tension Is A Spring (Mind Is A Machine)",
        things=("clock",),
        names="alarm clock",
        figures="personification; pun",
        explanation="A clock is wound up by its key, a person by stress, so the couch suits both.",
    ),
    Pair(
        9003,
        902,
        "You write here that you have nine lives of experience.",
        "Yes",
        marked="You write here that you have <i>nine lives</i> of experience.",
        metaphor="Animals Are Humans / Humans Are Animals",
        things=("cat",),
        names="cat",
        figures="personification",
        explanation="The cat applies for a job as a person would and counts its nine lives as years of work.",
    ),
    Pair(
        9004,
        902,
        "The salary is paid in cash, not in fish.",
        "No",
        tested="WIDLII",
        figures="satire",
    ),
    Pair(
        9005,
        903,
        "He is a warm person, so keep away from him.",
        "Yes",
        marked="He is a <i>warm</i> person, so <i>keep away</i> from him.",
        metaphor="Affection Is Warmth",
        things=("sun",),
        names="sun",
        figures="pun",
        explanation="Warmth is friendliness among people and death among snowmen.",
    ),
    Pair(
        9006,
        903,
        "The forecast was for snow until March.",
        "No",
    ),
    Pair(
        9007,
        904,
        "Somebody has to count us when the boss is asleep.",
        "WIDLII",
        marked="<i>Somebody</i> has to <i>count</i> us when the boss is asleep.",
        metaphor="Robots Are Shepherds; Animals Are Workers",
        things=("sheep", "sheep", "sheep"),
        names="sheep; sheep; sheep",
        explanation="The sheep speak of the robot as of a colleague on the night shift, and counting sheep is a "
        "job that it can do while others sleep.",
    ),
    Pair(
        9008,
        905,
        "It sings better with the sound turned off.",
        "No",
        tested="No",
    ),
    Pair(
        9009,
        906,
        "He never was a man of substance.",
        "Yes",
        tested="",
        marked="He never was a man of <i>substance</i>.",
        metaphor="Importance Is Weight",
        things=("ghost",),
        names="ghost",
        figures="pun; irony",
        explanation="Substance is character in the widow's words, and the ghost before her has no body left.",
    ),
    Pair(
        9010,
        907,
        "I only said that I needed space.",
        "Yes",
        marked="I only said that I needed <i>space</i>.",
        metaphor="Independence Is Space",
        things=("rocket",),
        names="rocket",
        figures="pun",
        explanation="The wish for distance in a relationship is taken at its word by whoever ordered the rocket.",
    ),
    Pair(
        9011,
        907,
        "It was this or the bus.",
        "Discard",
        explanation="Is the bus meant at all?",
    ),
)


def _drawn(contest: int) -> tuple[bytes, tuple[int, int], list[tuple[str, tuple[float, float, float, float]]]]:
    """(PNG, (width, height), things with their boxes x1, y1, x2, y2) of a contest's cartoon."""
    scene, _ = CARTOONS[contest]
    script = Script("single", ("1",), (Panel(scene, ()),), None, "NA", (), "Absent", None, False)
    image, panels = picture(script, f"hummus:{contest}", SEED)
    done, png = cv2.imencode(
        ".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 6, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_DEFAULT]
    )
    if not done:
        raise RuntimeError(f"OpenCV could not encode contest {contest} as PNG")
    return png.tobytes(), (image.shape[1], image.shape[0]), panels[0].bodies


def _record(pair: Pair, size: tuple[int, int], bodies: list[tuple[str, tuple[float, ...]]]) -> dict[str, Any]:
    """The pair as hummus_dataset.json has it."""
    record: dict[str, Any] = {
        "caption": pair.caption,
        "contest_number": pair.contest,
        "met_class": pair.label,
    }
    width, height = size
    if pair.things:
        left = list(bodies)
        boxes = []
        for thing in pair.things:
            found = next(one for one in left if one[0] == thing)
            left.remove(found)
            x1, y1, x2, y2 = (round(side) for side in found[1])
            x1, y1, x2, y2 = max(x1, 0), max(y1, 0), min(x2, width), min(y2, height)
            boxes.append({"top": float(y1), "left": float(x1), "height": float(y2 - y1), "width": float(x2 - x1)})
        record |= {
            "image_attributes": {
                "height": height,
                "width": width,
                "asset_type": "image",
                "mime_type": "image/png",
                "exif_rotation": "1",
            },
            "bboxes": boxes,
            "caption_hl": pair.marked,
            "conceptual_metaphor": pair.metaphor,
            "bbox_labels": pair.names,
        }
    record |= {"figures": pair.figures} if pair.figures else {}
    return record | ({"explanation": pair.explanation} if pair.explanation else {})


def draw(folder: Path) -> None:
    """Write the annotations in the released formats and images/<item id>.png, one for every pair."""
    drawn = {contest: _drawn(contest) for contest in CARTOONS}
    dataset: dict[str, Any] = {}
    tested: list[dict[str, Any]] = []
    for pair in PAIRS:
        item_id = f"nyc-combi-{pair.number}"
        png, size, bodies = drawn[pair.contest]
        dataset[item_id] = _record(pair, size, list(bodies))
        label = pair.label if pair.tested is None else pair.tested
        if label and label != "Discard":
            tested.append(
                {
                    "combi_id": item_id,
                    "caption": pair.caption,
                    "contest_number": pair.contest,
                    "is_met": label,
                }
            )
        write_bytes(folder / "images" / f"{item_id}.png", png)
    write_text(folder / DATASET, json.dumps(dataset, indent=4, ensure_ascii=False) + "\n")
    write_text(folder / TEST_SET, json.dumps(tested[::-1], indent=4, ensure_ascii=False) + "\n")
    rows = [{"contest_number": number, "image_description": text} for number, (_, text) in CARTOONS.items()]
    write_text(folder / DESCRIPTIONS, csv_text(("contest_number", "image_description"), rows))
