"""YesBut's part of the demo corpus: two-panel comics of the project's own making, drawn and annotated here.

Written in the released file format, quirks included: a title that is an option twice, an answer at any letter.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import cv2

from punchline.benchmarks.yesbut import ANNOTATIONS, LENT
from punchline.comics.shuffle import permutation
from punchline.core.storage import write_bytes, write_text
from punchline.demo.comics import page, picture
from punchline.demo.scripts import Panel, Script

SEED = 0


class Comic(NamedTuple):
    """One comic: its two panels as demo_scripts writes them, and what is annotated of it."""

    yes: Panel
    but: Panel
    caption: str
    contradiction: str
    moral: str
    wrong_morals: tuple[str, str, str]
    title: str
    wrong_titles: tuple[str, str, str]
    theme: str


COMICS: tuple[Comic, ...] = (
    Comic(
        Panel("sun@80,30 ann.cheer.happy@34 fern*1.2@66", ("_ YES",)),
        Panel("indoor window.night@84,70 ann.work@26 desk>@48 fern.dry.droop*1.2@82", ("_ BUT",)),
        "In the first panel a woman throws up her arms beside a healthy plant under a bright sun. In the second panel "
        "she types at a desk in a dark room, and the same plant stands behind her with hanging, dry leaves.",
        "She is delighted to own a plant, yet once she is busy she lets the very same plant dry out.",
        "Joy at getting something living is easy; the daily care that it needs afterwards is what counts.",
        (
            "Plants grow best in offices, where somebody is always near them.",
            "Working at night is the surest way to find time for a hobby.",
            "It is wiser to own many plants than to own a single one.",
        ),
        "Love at First Leaf",
        ("The Midnight Gardener", "Sunshine Pays the Rent", "A Forest on Every Desk"),
        "enthusiasm and neglect",
    ),
    Comic(
        Panel("bob.point.happy@30 sign*1.2@70", ("sign= QUIET PLEASE", "_ YES")),
        Panel("bob.shout.angry@34 cat.sleep.lie*1.2@74", ("bob! I SAID QUIET!", "_ BUT")),
        "On the left a smiling man points at a sign that asks for quiet. On the right the man shouts with an angry "
        "face at a sleeping cat, which makes no sound at all.",
        "The man demands silence from everybody, while he alone makes all the noise.",
        "People who enforce a rule the loudest are at times the ones who break it.",
        (
            "Animals should not be allowed in places where people want to read.",
            "A friendly sign is always obeyed, so that nobody has to say a word.",
            "Anger is a fair answer to those who sleep during the day.",
        ),
        "The Loudest Silence",
        ("Nine Lives, No Manners", "Signs of Friendship", "The Cat Who Could Read"),
        "hypocrisy about rules",
    ),
    Comic(
        Panel("mountain*1.3@70 ann.point@30 sun@24,26", ("_ YES",)),
        Panel("mountain*1.3@78 ann.hold@26 phone.blank*0.45@43,72 kim.hold@60", ("_ BUT",)),
        "A woman points at a large mountain in the sunshine. In the next picture two women stand before the mountain, "
        "both with their eyes on a phone, and neither looks at the view.",
        "They have come all the way to see a mountain and then look at a small screen in front of it.",
        "Recording or checking a moment can replace the moment that one came for.",
        (
            "Mountains are more dangerous than they look from far away.",
            "Friends are the only reason why people travel at all.",
            "A good camera lets people remember what they have truly watched.",
        ),
        "Peak Attention",
        ("Friends at the Summit", "Call of the Valley", "The Long Way Down"),
        "technology and nature",
    ),
    Comic(
        Panel("indoor bob.cheer.happy@34 book*1.3@64", ("bob: TODAY I START!", "_ YES")),
        Panel("indoor bed.bob.sleep*1.2@42 book*1.1@84", ("_ BUT",)),
        "A man lifts his arms next to a big book and says that today he will start. In the second panel he lies "
        "asleep in bed while the book lies on the floor beside him.",
        "He announces with great energy that he will read, and the only thing that he does with the book is sleep "
        "near it.",
        "Announcing a good habit feels like progress, but nothing has been done yet.",
        (
            "Books should be read aloud so that others may profit from them.",
            "Furniture decides how much a person learns in a day.",
            "Whoever sleeps well needs no books to be clever.",
        ),
        "Chapter Zero",
        ("A Library of Pillows", "The Book That Slept", "Reading Between the Springs"),
        "good intentions",
    ),
    Comic(
        Panel("house*0.8@82 fence@54 dog.happy@28", ("_ YES",)),
        Panel("house*0.8@84 fence@52 dog.sad@22 hole*0.8@52 cat.smirk.orange@74", ("_ BUT",)),
        "A happy dog guards a house with a fence around it. In the second panel the dog looks sad: a cat sits smiling "
        "on the other side, next to a hole through which it has come.",
        "The fence is there to keep others out, and all it does is keep the guard from the intruder.",
        "A protection with a single gap may hold back its owner more than anyone else.",
        (
            "Dogs and cats get along once they share a garden.",
            "High fences make a neighbourhood friendlier.",
            "A house without windows is the safest house of all.",
        ),
        "Guarded on the Wrong Side",
        ("Good Fences, Good Dogs", "Good Fences, Good Dogs", "The Cat Digs Deep"),
        "security that fails",
    ),
    Comic(
        Panel("indoor chef.happy@30 table@64 cake*1.1@64,66", ("_ YES",)),
        Panel("indoor chef.sad@26 table@54 plate@54,65 kid.happy@84", ("_ BUT",)),
        "A smiling cook stands beside a table with a tall cake. In the second panel the plate on the table is empty, "
        "the cook looks sad, and a child grins at the edge of the picture.",
        "The cook has worked for hours on a cake that is gone before he has tasted it.",
        "What takes long to make may be used up in a moment, and not by those who made it.",
        (
            "Children should learn to cook before they are allowed to eat.",
            "Cakes are best when they are baked without any help.",
            "An empty plate shows that the cook has forgotten his work.",
        ),
        "Gone in One Birthday",
        ("The Chef's Secret Diet", "A Table for None", "Rising to the Occasion"),
        "effort and reward",
    ),
    Comic(
        Panel("car@60 max.happy@22", ("max: SO FAST!", "_ YES")),
        Panel("car.smoke@66 snail.happy@34 max.angry@14", ("_ BUT",)),
        "A man admires a car and calls it fast. In the second panel the car stands still in its own smoke, the man is "
        "angry, and a snail passes in front of it with a smile.",
        "The car was bought for its speed, and a snail overtakes it because it does not move.",
        "Power on paper is worth nothing when it cannot be used.",
        (
            "Snails are the most dangerous animals on a road.",
            "Whoever walks will always arrive later than whoever drives.",
            "A car becomes faster when its driver shouts at it.",
        ),
        "Zero to Snail",
        ("The Road Less Smoky", "A Shell of a Ride", "Speed Is a State of Mind"),
        "expectation and reality",
    ),
    Comic(
        Panel("indoor boss.happy@24 kim.hold@52 clock@84,62", ("boss: TIME IS PRECIOUS.", "_ YES")),
        Panel("indoor board*0.9@22 boss.point.open@52 kim.sleep@74 ann.flat@92", ("board= SLIDE 97", "_ BUT")),
        "A manager smiles near a clock and says that time is precious. In the second panel he points at slide "
        "ninety-seven while one listener sleeps and another stares ahead.",
        "He praises the value of time and then wastes the time of everybody in the room.",
        "Respect for other people's time shows in what one does, not in what one says.",
        (
            "Meetings should be held in rooms without a clock.",
            "Long talks help listeners to rest for the important work.",
            "Whoever sleeps in a meeting has understood it best.",
        ),
        "A Minute of Your Day",
        ("The Clock Strikes Back", "Slides of Genius", "Precious Little to Say"),
        "work and time",
    ),
)


def _script(comic: Comic) -> Script:
    return Script("strip", ("11",), (comic.yes, comic.but), None, "NA", (), "Absent", None, False)


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
        _, frames = page(_script(comic))
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
        image, _ = picture(_script(comic), f"yesbut:{name}", SEED)
        done, png = cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 6])
        if not done:
            raise RuntimeError(f"OpenCV could not encode {name} as PNG")
        write_bytes(folder / "images" / f"{name}.png", png.tobytes())
