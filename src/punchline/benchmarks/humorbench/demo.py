"""HumorBench's part of the demo corpus: cartoons in words, with captions and elements, all of the project's own making.

Written in the released file formats, quirks included: an `idx` that occurs twice, a line break inside a text.
"""

from __future__ import annotations

from pathlib import Path

from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES
from punchline.core.storage import csv_text, write_text

# (description, caption, [(element, categories)]); categories by initial: w(ordplay), c(ultural reference), t(oxic).
CARTOONS: list[tuple[str, str, list[tuple[str, str]]]] = [
    (
        "Two snails sit in deck chairs outside their shells, which stand side by side like houses. A removal van is "
        "parked in front of one of them. The other snail is speaking.",
        "I told you not to rent.",
        [
            ("A snail carries its house, so renting one makes no sense", ""),
            ("Plays on snails having homes, as people have, with landlords and moving vans", ""),
        ],
    ),
    (
        "A ghost stands at the desk of a bank. The clerk holds a form and looks straight through the ghost at the "
        "person behind it. The ghost is speaking.",
        "It's not that I lack transparency.",
        [
            ("Wordplay on transparency: openness about money, and being see-through", "w"),
            ("The clerk overlooks the ghost because it cannot be seen", ""),
        ],
    ),
    (
        "A chess king lies in bed, very pale. A bishop, a knight and a pawn stand around. The bishop is speaking to "
        "the pawn, who wears a crown that is much too large.",
        "You made it to the other side just in time.",
        [
            ("Refers to promotion: a pawn that reaches the last row of the board becomes another piece", "c"),
            ("Getting to the other side also suggests death, and the king is the one who is dying", "wt"),
        ],
    ),
    (
        "An alarm clock lies on a psychiatrist's couch. The psychiatrist, a calendar, takes notes. The clock speaks.",
        "Every morning somebody hits me, and I keep going off.",
        [
            ("Wordplay on going off: an alarm that sounds, and a person who loses their temper", "w"),
            ("Hitting the clock is how people silence an alarm in the morning", ""),
        ],
    ),
    (
        "A knight in armour kneels before a dragon that sits behind an office desk with a name plate. The dragon "
        "reads a sheet of paper and is speaking.",
        "It says here you left your last position to spend more time with a princess.",
        [
            ("Plays on the phrase of leaving a job to spend more time with one's family", "c"),
            ("The dragon holds a job interview with the knight who would usually fight it", ""),
        ],
    ),
    (
        "Noah's ark at the foot of the gangway. Two wolves in sheep's wool stand in line between two sheep and two "
        "giraffes. One sheep is speaking to the other.",
        "I'm sure they only want to save on the fare.",
        [
            ("Wolf in sheep's clothing: the wolves are in disguise", "c"),
            ("The sheep is naive: the wolves mean to eat them", "t"),
        ],
    ),
    (
        "A snowman and a snowwoman stand in a kitchen before an open oven. She wears mittens. He holds a cake tin and "
        "is speaking.",
        "One of us has to look whether it's done.",
        [("Whoever opens the oven melts, so the chore is deadly for a snowman", "t")],
    ),
    (
        "A mime stands in the dock of a court, hands flat against a wall that is not there. The judge leans forward "
        "and is speaking to the lawyer.",
        "Your client has the right to remain, well, you know.",
        [
            ("Plays on the right to remain silent, which is what a mime does anyway", "c"),
            ("The mime's invisible box stands for a prison cell", ""),
        ],
    ),
    (
        "Two goldfish in a bowl. One holds a diary with empty pages. The other is speaking.",
        "Dear diary, have we met?",
        [("Refers to the belief that goldfish forget everything within seconds", "c")],
    ),
    (
        "A vampire sits in a blood donation centre with his sleeve rolled up. The nurse holds a biscuit and a carton "
        "of juice. He is speaking.",
        "Actually, I'm here to make a withdrawal.",
        [("Wordplay on a blood bank: one donates to it, and a vampire takes from it as from a bank account", "w")],
    ),
    (
        "A tortoise in running clothes lies asleep under a tree near a finishing line. A hare walks past with a cup of "
        "coffee. A bird is speaking to another bird.",
        "He's been impossible since the book came out.",
        [("Refers to the fable of the tortoise and the hare, whose roles are exchanged", "c")],
    ),
    (
        "A robot on one knee holds out a small box with a battery in it to another robot, in a restaurant. The second "
        "robot is speaking.",
        "Does it come with a charger?",
        [
            ("The battery stands for an engagement ring", ""),
            ("She worries about being left without power, as one does about gadgets sold without accessories", ""),
        ],
    ),
]

# (cartoon, element, explanation, label): explanations with a verdict as people might give it.
LABELLED = [
    (
        0,
        0,
        "A snail's shell is its house and it always carries it, so paying rent to live somewhere is absurd.",
        "PASS",
    ),
    (0, 1, "The snail has lost its home, which is sad, and its friend is being smug about it.", "FAIL"),
    (1, 0, "Transparency means being open about your finances, but a ghost is literally see-through.", "PASS"),
    (3, 0, "The clock is unhappy because people hit it every day, like a victim in therapy.", "FAIL"),
    (
        9,
        0,
        "One donates to a blood bank, but the vampire treats it like a bank account and wants to take blood.",
        "PASS",
    ),
    (6, 0, "If one of the two opens the oven to look at the cake, the heat will melt them.", "PASS"),
]


def draw(folder: Path) -> None:
    """Write the annotations, the category files and the labelled explanations in the released formats."""
    annotations: list[dict[str, str | int | float]] = []
    flags: list[tuple[int, str]] = []
    row_of: dict[tuple[int, int], int] = {}
    for cartoon, (description, caption, elements) in enumerate(CARTOONS):
        for at, (element, marks) in enumerate(elements):
            row_of[cartoon, at] = len(annotations)
            idx = len(annotations) + 1 - (len(annotations) >= 5)  # one idx occurs twice, as in the released file
            annotations.append(
                {
                    "idx": idx,
                    "cartoonstock_id": f"DEMO{cartoon:03d}" if cartoon % 4 == 3 else "",
                    "contest_number": "" if cartoon % 4 == 3 else float(cartoon + 1),
                    "description": description,
                    "caption": caption,
                    "element": element.replace(", and", ",\r\nand") if len(annotations) == 2 else element,
                }
            )
            flags.append((idx, marks))
    columns = ("idx", "cartoonstock_id", "contest_number", "description", "caption", "element")
    write_text(folder / ANNOTATIONS, csv_text(columns, annotations))
    for name, column in CATEGORIES.values():
        rows = [{"idx": idx, column: column[0] in marks} for idx, marks in flags]
        write_text(folder / name, csv_text(("idx", column), rows))
    labelled = [
        {
            **{key: annotations[row_of[cartoon, at]][key] for key in ("idx", "caption", "element")},
            "explanation": explanation,
            "explainer_model": "demo",
            "label": label,
        }
        for cartoon, at, explanation, label in LABELLED
    ]
    columns = ("idx", "caption", "element", "explanation", "explainer_model", "label")
    write_text(folder / "rubric" / "gpt_4o_rubric.csv", csv_text(columns, labelled))
