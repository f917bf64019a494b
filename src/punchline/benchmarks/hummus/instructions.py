"""Hummus's instructions, one a task: what is asked, and what readers of answers take for an echo of the prompt."""

from __future__ import annotations

from punchline.benchmarks.hummus import NAME
from punchline.core.records import sha256

# Table 1; the wording of the whole prompts, and those of table 4, as the released prompts.py has them.
_INVOLVES = "The humor of the given image-and-caption combination involves metaphor use. "
_DOES_IT = "Does the humor of the given image-and-caption combination involve metaphor use? "
INSTRUCTIONS = {
    "classification": _DOES_IT + "Answer the question with Yes or No.",
    "naming": _INVOLVES + "Which conceptual metaphor is used? "
    'Answer the question in "TARGET DOMAIN IS SOURCE DOMAIN" format (e.g., "LOVE IS A JOURNEY").',
    "image_bbox": _INVOLVES + "Which object in the image is related to the metaphor? "
    'Answer with its label and normalized bounding box coordinates in "label: [top, left, height, width]" format.',
    "image_label": _INVOLVES + "Which object in the image is related to the metaphor? "
    "Answer the question with a single word.",
    "caption_hl": _INVOLVES + "Which part of the caption is related to the metaphor? "
    "Surround it with a pair of <i></i> tag.",
    "explanation": "How does metaphor use contribute to the humor of the given image-and-caption combination? "
    "Explain in no more than 30 words.",
    "classification_glossed": _DOES_IT + "Answer the question with Yes (i.e., metaphor use is involved) or "
    "No (i.e., metaphor use is not involved).",
    "classification_no_yes": _DOES_IT + "Answer the question with No or Yes.",
    "classification_a_b": _DOES_IT + "Choose from the following options:\nA. {a}\nB. {b}\n"
    "Answer the question with A or B.",
}
OPTIONS = (  # of classification_a_b; the first is positive
    _INVOLVES.rstrip(),
    "The humor of the given image-and-caption combination does not involve metaphor use.",
)


def involves_is_a(item_id: str) -> bool:
    """Whether option A of classification_a_b says that metaphor use is involved: the released script draws this for
    each item without a seed; here the item's id decides."""
    return int(sha256(f"{NAME}|a_b|{item_id}".encode())[:8], 16) % 2 == 0
