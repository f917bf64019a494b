"""PixelHumor: eight questions on each of 2,800 online comics.

Yuriel Ryan, Rui Yang Tan, Kenny Tsu Wei Choo, Roy Ka-Wei Lee. Humor in Pixels: Benchmarking Large Multimodal Models
Understanding of Online Comics. 2025. Annotations: github.com/Social-AI-Studio/PixelHumor.
Prompts: appendix E, the text after "Question n:"; the line breaks of question 5, which print does not tell, are
those of the released prompts. The longest released text (question 8) has 501 words.

Two scoring rules: `released` is what the released evaluation code computes, its quirks included; `paper` is what the
paper's text says, with answers read sensibly. docs/pixelhumor.md says both precisely.
"""

from __future__ import annotations

from typing import Literal, get_args

from punchline.benchmarks.task import Task
from punchline.core.benchmark import load_on_demand

NAME = "pixelhumor"
# Tokens; the paper has none. A label with a sentence or two around it; an explanation; the text of all panels.
LIMITS = {**dict.fromkeys(("Q1", "Q2", "Q3", "Q4", "Q5"), 256), "Q6": 512, "Q7": 256, "Q8": 2048}
ASKED = tuple(Task(name, limit) for name, limit in LIMITS.items())  # section 4.2: temperature 0
TASKS = tuple(LIMITS)

COMICS = "comic_url.csv"
METADATA = "metadata.csv"
SUBJECTIVE = "subjective_label.csv"
OBJECTIVE = "objective_label.csv"
HARM = "harm_annotation.csv"
ANNOTATIONS = "annotation.csv"
ITEM_FILES = (COMICS, METADATA)
GOLD_FILES = (SUBJECTIVE, OBJECTIVE, HARM)

Style = Literal["Comparison", "Personification", "Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise", "Dark"]
Sound = Literal["Absent", "Present, contribute", "Present, do not contribute"]
Modality = Literal["Text", "Visual", "Both"]
STYLES: tuple[str, ...] = get_args(Style)
SOUND_EFFECTS: tuple[str, str, str] = get_args(Sound)
MODALITIES: tuple[str, str, str] = get_args(Modality)

CLOSED = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7")  # answered by labels or an order
METRICS = ("panel_acc", "text_acc", "wer", "cer")  # of scores
LIBRARIES = {"pictures": ("opencv-python-headless",), "score": ("jiwer", "rapidfuzz")}  # whose versions count

__getattr__ = load_on_demand(__name__)
