"""StripCipher: silent comic strips to be put in order, understood, and completed.

"Beyond Single Frames: Can LMMs Comprehend Implicit Narratives in Comic Strip?" (anonymous ACL submission, 2025).
Nothing is released, neither strips nor questions nor code: items are made here of comics themselves, in a format of our
own (strips.py). Frames come from splitting a strip into its panels or from given boxes; reordering needs no annotation;
prediction and comprehension are asked of strips with reviewed texts only. With no released code the rules `released`
and `paper` are one: what the paper says.

Prompts are those of table 2, whose left edge is cut off in the text at hand ("[predi]ction", "[strip]",
"[under]standing" are completed), and of figure 10 (meaning, choose).
"""

from __future__ import annotations

from punchline.benchmarks.task import Task
from punchline.core.benchmark import DEFAULT, load_on_demand

NAME = "stripcipher"
TASKS = ("prediction", "comprehension", "reordering_choice", "reordering_generation")
CHOICES = OPTIONS = TASKS[:3]  # tasks with four options
REVIEWED = TASKS[:2]  # tasks that need reviewed texts
COMPREHENSION = "comprehension"
SEQUENCE, SHUFFLED, MEANING, ROW, WEAK = "sequence", "shuffled", "meaning", "row", "weak"
CONDITIONS = (DEFAULT, SEQUENCE, SHUFFLED, MEANING, ROW, WEAK)
# Limit and temperature are ours: the paper prints none and takes each model's default temperature (appendix C).
ASKED = (
    *(Task(name, 512, prompt=name.partition("_")[0]) for name in TASKS),
    Task("comprehension", 512, SEQUENCE),
    Task("comprehension", 512, SHUFFLED),
    Task("reordering_choice", 512, MEANING, prompt="meaning"),
    *(Task(name, 512, ROW, prompt=name.partition("_")[0]) for name in TASKS if name != "comprehension"),
    *(Task(name, 512, WEAK) for name in REVIEWED),
)

STRIPS = "strips.json"
METADATA, OBJECTIVE = "metadata.csv", "objective_label.csv"  # PixelHumor's: boxes and reading order of its comics
ITEM_FILES = (STRIPS, METADATA, OBJECTIVE)
GOLD_FILES = (STRIPS,)

FEWEST, MOST = 3, 8  # frames of a strip, section 3
LETTERS = "ABCD"

CLOSED = TASKS  # answered by an option or an order
METRICS = ("correct", "correct_as_places")  # of scores
LIBRARIES = {"pictures": ("opencv-python-headless",)}  # whose version the results of a stage hang on

__getattr__ = load_on_demand(__name__)
