"""StripCipher's part of the demo corpus: wordless strips that the project draws, with texts of its own making.

Written in the item format, each of its cases at least once: strips that are split, strips with boxes in the record,
one with PixelHumor's boxes, one without reviewed texts. Texts and categories are their author's opinion.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from punchline.benchmarks.stripcipher import METADATA, OBJECTIVE, STRIPS
from punchline.comics.number import encode
from punchline.core.storage import csv_text, write_bytes, write_text
from punchline.demo.comics import page, picture
from punchline.demo.scripts import Panel, Script

SOURCE = "demo"


class Drawn(NamedTuple):
    """One strip: its page as demo_scripts.py describes scenes, and its texts; the first option of each is right."""

    rows: tuple[str, ...]
    scenes: tuple[str, ...]
    boxes: str = ""  # "own": in the record; "pixelhumor": in PixelHumor's files; "": the strip is split
    category: str | None = None
    prediction: tuple[str, str, str, str] | None = None
    comprehension: tuple[str, str, str, str] | None = None
    question: str | None = None  # of comprehension
    meaning: str | None = None


DRAWN = (
    Drawn(
        rows=("111",),
        scenes=(
            "indoor girl.hold@28 cup<@43,74 plant@72",
            "indoor girl.happy@28 plant.tall@72",
            "indoor girl.cheer*0.8@24 plant.giant.happy@72",
        ),
        category="Inspiring",
        prediction=(
            "The girl smiles beside the plant, which has grown as tall as she is and has come into flower.",
            "The girl has knocked over the pot and looks at the broken stem on the floor.",
            "The girl carries the plant out of the room because there is no space left.",
            "The girl sleeps on the floor while the plant grows out of the window.",
        ),
        comprehension=(
            "A girl looks after a sprout until it towers over her. Small, steady care is repaid many times over.",
            "A girl is afraid of a plant that grows too fast. Nature takes back the rooms that people live in.",
            "A girl gives a plant away and misses it. One knows what one had only when it is gone.",
            "A girl and a plant compete in growing. Those who compare themselves with others are never content.",
        ),
    ),
    Drawn(
        rows=("1111",),
        scenes=(
            "snow kid.happy@26 snowman@70",
            "sun*0.8@84,34 kid.shock@24 snowman.sad@60",
            "sun*0.8@84,34 umbrella*1.5@58,52 snowman@58 kid.run>@24",
            "sun*0.8@84,34 umbrella*1.5@58,52 snowman@58 kid.sad@22",
        ),
        category="Touching",
        prediction=(
            "The kid runs up and an umbrella now gives the snowman shade.",
            "The kid runs away from the snowman, which has come to life.",
            "The kid takes the snowman apart to throw snowballs at the sun.",
            "The kid drags the snowman into the house and closes the door.",
        ),
        comprehension=(
            "When the sun comes out a kid shields the snowman and stands in the heat instead. To care for somebody can "
            "mean to give up one's own comfort.",
            "A kid is angry that the snowman has taken the umbrella. Guests who stay too long become a burden.",
            "A kid builds a snowman to win a contest and loses. It matters to take part, not to win.",
            "A kid learns that snow melts and stops playing. Growing up means no longer believing in such things.",
        ),
        question="What does the strip say about the kid and the snowman?",
    ),
    Drawn(
        rows=("11", "11"),
        scenes=(
            "bob.cheer@24 ball@52,40 dog@78",
            "bob.hips@22 dog<@58 ball*2@80",
            "bob.flat@22 dog<@52 ball*4@80",
            "bob.shock@18 dog.up.open<@42 ball*5@74 ball*3@90 ball*2@62",
        ),
        boxes="own",
        category="Humorous",
        prediction=(
            "The dog comes back with a ball that is far bigger than the one that was thrown.",
            "The dog refuses to fetch and lies down beside the man.",
            "The man throws a stick because the ball is lost in the bushes.",
            "The dog has buried the ball, and the man looks for it.",
        ),
        comprehension=(
            "A man throws one ball and his dog fetches ever larger ones, until he is surrounded by them. Who is too "
            "eager to please does more than was asked.",
            "A man sells balls, and his dog helps him in the shop. Work is lighter when it is shared.",
            "A man and his dog quarrel about a ball and part. Friendship ends where possession begins.",
            "A man trains his dog for a match, and they win it. Practice makes perfect.",
        ),
    ),
    Drawn(
        rows=("111", "11"),
        scenes=(
            "indoor max.happy@18 table*1.2@50 cake@50,74 ann.happy@82",
            "indoor max.hold@18 phone*0.4@32,66 table*1.2@50 cake@50,74 ann@82",
            "indoor max.hold@18 phone*0.4@32,66 table*1.2@50 cake@50,74 ann.hold@82 phone*0.4@68,66",
            "indoor max.hold@18 phone*0.4@32,66 table*1.2@50 cat.lie.happy@50,74 ann.hold@82 phone*0.4@68,66",
            "indoor max.shock@18 table*1.2@50 ann.shock@82 cat.lie.sleep<@60",
        ),
        category="Critical",
        prediction=(
            "The cat lies on the table where the cake was, while both people look at their phones.",
            "The woman puts her phone away and cuts the cake.",
            "The man takes a picture of the cat in front of the cake.",
            "Both people leave the room, and the cake stays behind on the table.",
        ),
        comprehension=(
            "Two people stare at their phones instead of sharing a cake, and a cat eats it unnoticed. Who is always "
            "looking at a screen misses what is in front of him.",
            "Two people order a cake by telephone and it never comes. Nothing promised online can be relied on.",
            "Two people film a cat that likes cake and become famous. Luck comes to those who do not look for it.",
            "Two people argue over who gets the last piece of cake. When two quarrel, both of them lose.",
        ),
        meaning="Absorbed in their phones, two people do not notice that the cat eats the cake they meant to share.",
    ),
    Drawn(
        rows=("111", "111"),
        scenes=(
            "pirate.hold@36 map@60,62",
            "mountain*0.7@74 pirate.run>@24",
            "hole@66 pirate.hold@30 spade@52,84",
            "hole@66 pirate.shock@24 bag*1.6@66",
            "pirate.hold.happy@36 book*1.3@60,62",
            "indoor pirate.sit.happy@26 book@44,66 kid@66 girl@86",
        ),
        category="Philosophical",
        prediction=(
            "The pirate holds the book that was the treasure, and smiles.",
            "The pirate throws the book back into the hole and fills it up.",
            "The pirate fights somebody who wants the treasure too.",
            "The pirate looks at the map once more, because he has dug in the wrong place.",
        ),
        comprehension=(
            "A pirate digs for treasure, finds a book, and reads it to children. What is worth most may be what can be "
            "shared.",
            "A pirate cannot read and has children read him the map. Nobody is too old to learn.",
            "A pirate hides a stolen book from the children it belongs to. Crime is found out in the end.",
            "A pirate gives up the sea because he is tired of it. Everybody longs for a home one day.",
        ),
    ),
    Drawn(
        rows=("111",),
        scenes=("ufo@56,34 sheep@56", "ufo@56,30 sheep*0.8@56,62", "ufo@56,34 alien.shrug@56"),
        category="Satirical",
        prediction=(
            "The sheep floats up from the meadow towards the flying saucer.",
            "The sheep runs away, and the flying saucer follows it.",
            "The flying saucer has crashed beside the sheep.",
            "The sheep talks to a shepherd, who looks at the sky.",
        ),
        comprehension=(
            "A flying saucer takes a sheep and leaves an alien standing in the meadow. In the hunt for strange "
            "creatures one may become the one that is looked at.",
            "A flying saucer brings a lost sheep back to its meadow. Help comes from where nobody expects it.",
            "A flying saucer shears a sheep for its wool. Even in space people want to be warm.",
            "A flying saucer races against a sheep and loses. Speed is not everything.",
        ),
    ),
    Drawn(
        rows=("1111",),
        scenes=(
            "girl.hold.happy@36 balloon*1.2@52,60",
            "girl.shock@30 balloon*1.2@66,34",
            "robot@22 girl.sad@60",
            "robot.hold@30 balloon*1.2@46,56 girl.cheer@76",
        ),
        boxes="pixelhumor",
        category="Touching",
        prediction=(
            "The girl is sad without her balloon, and a robot has come up to her.",
            "The girl climbs a tree to reach her balloon.",
            "The girl shouts at the robot, which has burst the balloon.",
            "The girl buys another balloon from a shop.",
        ),
        comprehension=(
            "A girl's balloon flies away, and a robot brings it back. Kindness is in what one does, not in what one is "
            "made of.",
            "A girl and a robot fight over a balloon until it flies off. Who will not share has nothing left.",
            "A girl builds a robot to keep her balloon safe. Machines take away what is fun about playing.",
            "A girl is tired of her balloon and lets it go. Children lose interest quickly.",
        ),
    ),
    Drawn(
        rows=("1111", "1111"),
        scenes=(
            "kid.hold@30 flower@62",
            "kid@26 plant.mid@62",
            "max@26 tree*0.5@64",
            "max.happy@26 tree*0.8@66",
            "bob@22 tree@66",
            "bob.sit@28 tree.autumn@68",
            "snow oldbob.sit.sad@28 tree.bare@68",
            "oldbob.happy@22 kid.cheer@44 tree@72",
        ),
    ),
)


def item_ids() -> list[str]:
    """One id a strip."""
    return [f"{SOURCE}_{number}" for number in range(1, len(DRAWN) + 1)]


def _script(strip: Drawn) -> Script:
    panels = tuple(Panel(scene, ()) for scene in strip.scenes)
    return Script("grid", strip.rows, panels, None, "NA", ("NA",), "Absent", None, False)


def _choice(options: tuple[str, str, str, str] | None, question: str | None = None) -> dict[str, Any] | None:
    return None if options is None else {"question": question, "options": list(options), "answer": options[0]}


def _record(item_id: str, strip: Drawn) -> dict[str, Any]:
    texts = {
        "prediction": _choice(strip.prediction),
        "comprehension": _choice(strip.comprehension, strip.question),
        "meaning": strip.meaning,
        "category": strip.category,
    }
    boxes: Any = strip.boxes or None
    if strip.boxes == "own":
        boxes = [list(frame) for frame in page(_script(strip))[1]]
    return {
        "item_id": item_id,
        "source": SOURCE,
        "url": "",
        "frames": len(strip.scenes),
        "boxes": boxes,
        "texts": texts if any(texts.values()) else None,
        "credit": "the Punchline project",
        "licence": "of the project",
    }


def draw(folder: Path) -> None:
    """Write strips.json, the two files of PixelHumor's that it refers to, and images/<item id>.png."""
    records, metadata, objective = [], [], []
    for item_id, strip in zip(item_ids(), DRAWN, strict=True):
        script = _script(strip)
        records.append(json.dumps(_record(item_id, strip), ensure_ascii=False))
        image, _ = picture(script, item_id)
        write_bytes(folder / "images" / f"{item_id}.png", encode(image))
        if strip.boxes == "pixelhumor":
            n = len(strip.scenes)  # labelled from the last panel to the first
            labelled = [dict(zip(("x1", "y1", "x2", "y2"), frame, strict=True)) for frame in page(script)[1]]
            panels = [box | {"panel_number": str(n - place)} for place, box in enumerate(labelled)]
            metadata.append({"comic_id": item_id, "metadata": str(panels)})
            objective.append({"comic_id": item_id, "panel_sequence": ", ".join(map(str, range(n, 0, -1)))})
    write_text(folder / STRIPS, "[\n" + ",\n".join(records) + "\n]\n")
    write_text(folder / METADATA, csv_text(("comic_id", "metadata"), metadata))
    write_text(folder / OBJECTIVE, csv_text(("comic_id", "panel_sequence"), objective))
