"""PixelHumor: eight questions on each of 2,800 online comics.

Yuriel Ryan, Rui Yang Tan, Kenny Tsu Wei Choo, Roy Ka-Wei Lee. Humor in Pixels: Benchmarking Large Multimodal Models
Understanding of Online Comics. 2025. Prompts: appendix E. Annotations: github.com/Social-AI-Studio/PixelHumor.

Two scoring rules: `released` is what the released evaluation code computes, its quirks included; `paper` is what the
paper's text says, with answers read sensibly. docs/pixelhumor.md says both precisely.
"""

from __future__ import annotations

from punchline.core.benchmark import DEFAULT, facets

NAME = "pixelhumor"
TASKS = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8")
CONDITIONS = (DEFAULT,)
CHAINED = ()
IMAGES = True
JUDGES = ()

COMICS = "comic_url.csv"
METADATA = "metadata.csv"
SUBJECTIVE = "subjective_label.csv"
OBJECTIVE = "objective_label.csv"
HARM = "harm_annotation.csv"
ANNOTATIONS = "annotation.csv"
ITEM_FILES = (COMICS, METADATA)
GOLD_FILES = (SUBJECTIVE, OBJECTIVE, HARM)

STYLES = ("Comparison", "Personification", "Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise", "Dark")
SOUND_EFFECTS = ("Absent", "Present, contribute", "Present, do not contribute")
MODALITIES = ("Text", "Visual", "Both")

LIBRARIES = {
    "pictures": ("opencv-python-headless",),
    "grade": ("jiwer",),
}  # whose version the results of a stage hang on

__getattr__ = facets(__name__)
