"""YesBut: are the two panels of a comic understood? Four tasks on 348 comics whose panels contradict each other.

Hu et al., "Cracking the Code of Juxtaposition: Can AI Models Understand the Humorous Contradictions" (NeurIPS 2024).
Released file: github.com/Tuo-Liang/YESBUT at 90186c127419110eb80fdce3f7336738da545303. Literal description and
contradiction are written, underlying philosophy and title are chosen of four options; three prompts for each, and
values are means over the prompts. An item's id is its `image_file`. docs/yesbut.md says how both rules score.
"""

from __future__ import annotations

from punchline.core.benchmark import DEFAULT, facets

NAME = "yesbut"
PROMPTS = (1, 2, 3)
WRITTEN = ("description", "contradiction")
CHOSEN = ("moral_mcq", "title_mcq")  # moral: the paper's underlying philosophy
KINDS = (*WRITTEN, *CHOSEN)
DESCRIBED = ("contradiction", *CHOSEN)  # what is asked with a description, too
TASKS = tuple(f"{kind}_{k}" for kind in KINDS for k in PROMPTS)
# Models whose descriptions others get (figure 4): {condition: file}. They were not released: the project's files are
# empty lists, to be filled by who has them (docs/yesbut.md).
LENT = {
    "text_llava_7b": "descriptions_llava-1.6-7b.json",
    "text_llava_13b": "descriptions_llava-1.6-13b.json",
}
CONDITIONS = (DEFAULT, "oracle", "chained", "text_oracle", *LENT)
CHAINED = ("chained",)
IMAGES = True
JUDGES = ("judge", "bertscore")

ANNOTATIONS = "Yesbut_data.json"
ITEM_FILES = (ANNOTATIONS, *LENT.values())
GOLD_FILES = (ANNOTATIONS,)

LIBRARIES = {"grade": ("rouge-score",), "pictures": ("pillow",)}  # whose version the results of a stage hang on

__getattr__ = facets(__name__)
