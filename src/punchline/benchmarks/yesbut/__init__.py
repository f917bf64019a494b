"""YesBut: are the two panels of a comic understood? Four tasks on 348 comics whose panels contradict each other.

Hu et al., "Cracking the Code of Juxtaposition: Can AI Models Understand the Humorous Contradictions" (NeurIPS 2024).
Released file: github.com/Tuo-Liang/YESBUT at 90186c127419110eb80fdce3f7336738da545303. Literal description and
contradiction are written, underlying philosophy and title are chosen of four options; three prompts for each, and
values are means over the prompts. An item's id is its `image_file`. docs/yesbut.md says how both rules score.

Prompts are those of figures 13-16, in the order in which they are printed there; line breaks, which print does not
tell, the blank lines around, and the same prompts with a description, which the paper does not print, are those of the
released instruction_generation_yesbut.py (descriptions: Prompts.sh). The judge's:
figure 9 and the released gpt_eval.py.
"""

from __future__ import annotations

from punchline.benchmarks.task import Task
from punchline.core.benchmark import DEFAULT, load_on_demand

NAME = "yesbut"
PROMPTS = (1, 2, 3)
WRITTEN = ("description", "contradiction")
CHOSEN = ("moral_mcq", "title_mcq")  # moral: the paper's underlying philosophy
KINDS = (*WRITTEN, *CHOSEN)
# Models whose descriptions others get (figure 4): {condition: file}. They were not released: the project's files are
# empty lists, to be filled by who has them (docs/yesbut.md).
LENT = {"text_llava_7b": "descriptions_llava-1.6-7b.json", "text_llava_13b": "descriptions_llava-1.6-13b.json"}
# Appendix B.2: default settings or greedy; the cards of the commercial models have the paper's temperature, 1. The
# limit is ours: the released code gives GPT-4 2048 and Claude-3 1024.
_IMAGE_ONLY = tuple(Task(f"{kind}_{k}", 1024) for kind in KINDS for k in PROMPTS)
TASKS = tuple(task.name for task in _IMAGE_ONLY)
# oracle: image and the annotated description; text_…: that, or another model's description, and no image; chained:
# image and the model's own description.
CONDITIONS = (DEFAULT, "oracle", "chained", "text_oracle", *LENT)
CHAINED = ("chained",)
ASKED = _IMAGE_ONLY + tuple(
    task._replace(condition=condition, prompt=f"{task.name}_described", picture=not condition.startswith("text_"))
    for condition in CONDITIONS[1:]
    for task in _IMAGE_ONLY
    if not task.name.startswith("description")
)
JUDGED = Task("judge", 2048, picture=False, temperature=1.0)  # as gpt_eval.py has it
JUDGES = ("judge", "bertscore")

ANNOTATIONS = "Yesbut_data.json"
ITEM_FILES = (ANNOTATIONS, *LENT.values())
GOLD_FILES = (ANNOTATIONS,)

CLOSED = OPTIONS = tuple(f"{kind}_{k}" for kind in CHOSEN for k in PROMPTS)  # answered by an option
METRICS = ("correct", "r2", "bert", "bert_minilm", "gpt")  # of scores
LIBRARIES = {"score": ("rouge-score",), "pictures": ("pillow",)}  # whose version the results of a stage hang on

__getattr__ = load_on_demand(__name__)
