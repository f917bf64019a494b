"""The eight questions of PixelHumor."""

from __future__ import annotations

from punchline.benchmarks.pixelhumor import NAME, TASKS
from punchline.core.benchmark import DEFAULT
from punchline.core.records import Image, Item, Message, Request, Sampling, Text

# The prompts of appendix E, verbatim: the text after "Question n:". The line breaks of question 5, which print does not
# tell, are those of the released prompts.
SYSTEM_PROMPT = (
    "You are a humorous assistant that understands comics. "
    "You will be given comics and your task is to evaluate the comics."
)
QUESTIONS = {
    "Q1": 'Do you understand the humor of this comics? Please output only a single word answer "Yes" or "No".',
    "Q2": (
        "Analyze the comic and respond based on the following criteria regarding text-based sound effects: "
        '(a) If there are no sound effects present in the comic, output "Absent". '
        '(b) If sound effects are present and contributing to the humor, output "Present, contribute". '
        "(c) If sound effects are present but do not contribute to the humor, output "
        '"Present, do not contribute".'
    ),
    "Q3": ("Which panel contributes the most to the humor of this comic? Please output only the labeled panel number."),
    "Q4": (
        "Is the text or the visual modality more important to the humor in this comic? "
        'Output "Both" if both modalities contribute humor to the comic. '
        'Please output only a single word answer "Text", "Visual", "Both".'
    ),
    "Q5": (
        "Which humor styles best describe the comic? Here are some guidelines for each humor style.\n\n"
        "Comparison: This comic compares two or more objects/ideas to reference the differences or similarities. "
        "This comic is funny because of this comparison.\n"
        "Personification: This comic has at least one animal/creature/plant that acts like a human (talking, running "
        "on two legs etc.). This comic is funny because of this personified creature/plant.\n"
        "Exaggeration: This comic attempts to exaggerate (overemphasize or magnify) something out of proportion. "
        "This comic is funny because of this exaggeration/absurdity.\n"
        "Pun: This comic is funny because of the linguistic elements. Linguistic elements include: uncommon uses of "
        "language, double-meanings in phrases or words etc.\n"
        "Sarcasm: This comic expresses an idea/thought that is not the real intention of the character/comic. "
        "This comic is funny because of the sarcasm present.\n"
        "Silliness: There are elements in the comic which are absurd and/or ridiculous. The characters are or did "
        "something foolish. This comic is funny because of the silly elements.\n"
        "Surprise: There was a twist in the narrative or an unexpected element in the comic. This comic is funny "
        "because of the twist or unexpected elements.\n"
        "Dark: There are potentially sensitive, taboo or ideas that violate the norm in this comic where if taken out "
        "of context in this comic, might be offensive to others. This comic is because of these benign violations or "
        "the dark humor present.\n\n"
        'You may select multiple humor styles but output only the humor styles "Comparison", "Personification", '
        '"Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise" or "Dark".'
    ),
    "Q6": "Explain why this comic is funny or not funny in 3 sentences.",
    "Q7": (
        "In what order should the panels be read? Respond with the panel numbers only. "
        "Write the panel numbers followed by a comma. "
        'For example the answer "3,4,2,1" will mean that panels will be read in order of panel 3, then panel 4, '
        "then panel 2 and finally panel 1."
    ),
    "Q8": ("For each panel, what are the text inside? Respond as {panel_number}: {text_within_panel}."),
}
TEMPERATURE = 0.0  # section 4.2
# The paper names no limit. Q8: the longest released text has 501 words.
MAX_TOKENS = {"Q1": 16, "Q2": 32, "Q3": 16, "Q4": 16, "Q5": 64, "Q6": 256, "Q7": 128, "Q8": 2048}


def requests(item: Item) -> list[Request]:
    """The eight questions on a comic, as eight independent requests: system prompt; image, then question."""
    image = Image(sha256=item.images[0].sha256 if item.images else None)
    return [
        Request(
            benchmark=NAME,
            item_id=item.item_id,
            task=task,
            condition=DEFAULT,
            messages=(
                Message(role="system", content=(Text(text=SYSTEM_PROMPT),)),
                Message(role="user", content=(image, Text(text=QUESTIONS[task]))),
            ),
            sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS[task]),
        )
        for task in TASKS
    ]
