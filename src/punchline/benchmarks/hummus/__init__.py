"""Hummus: does a model see, name, locate and explain the metaphor in a captioned cartoon's humour?

Tong et al., "Hummus: A Dataset of Humorous Multimodal Metaphor Use" (2025, arXiv:2504.02983v3). Released files:
github.com/xiaoyuisrain/humorous-multimodal-metaphor-use at 0ea085e12cb83a210465021dd32aff23c7da3014. No scoring code is
released; the scripts that ask models are, and prompts, their order and the limits of tokens are theirs.

An item is one of 1,000 image-caption pairs, `nyc-combi-N`; a cluster is a contest, whose one image up to several
captions share. Labels come in two tables that differ on 13 pairs: rule `released` takes test_set.json, which the
released scripts read and which fits the published random baseline; rule `paper` takes met_class of hummus_dataset.json.
Yes and WIDLII are positive, Discard leaves. Annotations of both rules are those of hummus_dataset.json.

Classification is asked about every pair with a label, the other five tasks about positives only, as published. An
answer from which nothing can be read has no score: it leaves the mean (which the paper's 0.45 at a success rate of 5 %
implies) and counts against the success rate.

Conditions: `default` shows the image; `description` the released description in its place (figure 5; no ImageBbox);
`prompts` the three other prompts of table 4; `joint` asks four tasks at once (table 5). The paper prints the joint
prompt as a picture: prompts/joint.txt is a reconstruction from its section 6.3 and appendix A (persona, four tasks in
one go; steps, what counts, boxes), so that table 5's published values were measured with another prompt. The others are
as table 1 and the released prompts.py have them.
"""

from __future__ import annotations

from punchline.benchmarks.task import Task
from punchline.core.benchmark import DEFAULT, load_on_demand

NAME = "hummus"
JOINT, DESCRIPTION = "joint", "description"  # conditions; description is also the field that stands for a cartoon
LIMITS = {"classification": 50, "naming": 50, "image_bbox": 200}  # in tokens: RE_TOKENS_* of the released prompts.py
LIMITS |= {"image_label": 10, "caption_hl": 200, "explanation": 200}
PROMPT_TASKS = ("classification_glossed", "classification_no_yes", "classification_a_b")
ASKED = (
    *(Task(name, limit) for name, limit in LIMITS.items()),
    *(  # the released monomodal.py: classification with "No or Yes", no ImageBbox
        Task(name, limit, DESCRIPTION, "classification_no_yes" if name == "classification" else "", picture=False)
        for name, limit in LIMITS.items()
        if name != "image_bbox"
    ),
    *(Task(name, 50, "prompts") for name in PROMPT_TASKS),
    Task(JOINT, 1024, JOINT),  # the limit is ours: more than the four tasks' own together
)
TASKS = (*LIMITS, *PROMPT_TASKS, JOINT)
METAPHOR_TASKS = tuple(LIMITS)[1:]  # asked about positives only
JOINT_TASKS = ("classification", "naming", "image_bbox", "caption_hl")  # what one joint answer is scored as
CONDITIONS = (DEFAULT, DESCRIPTION, "prompts", JOINT)
JUDGES = ("cosine",)
COMPARED = {"cosine": ("table8", "table9")}  # and terms of the annotations (compared.py)

DATASET = "hummus_dataset.json"
TEST_SET = "test_set.json"
DESCRIPTIONS = "image_descriptions.csv"
ITEM_FILES = (DATASET, TEST_SET, DESCRIPTIONS)
GOLD_FILES = (DATASET, TEST_SET)

POSITIVE = ("Yes", "WIDLII")
LABELS = (*POSITIVE, "No", "Discard")

SCORERS = {"labse": "cosine", "minilm": "cosine_minilm"}  # scorer: its value; two embedders never share one
SIMILAR = ("naming", "image_label")  # tasks whose answers a scorer compares with gold
CLOSED = ("classification", *PROMPT_TASKS, "image_bbox")  # answered by a choice or boxes
COUNTS = ("tp", "fp", "fn", "tn")
METRICS = ("success", *COUNTS, "precision", "recall", "iou", "jaccard", "rouge1", "rouge2", *SCORERS.values())
LIBRARIES = {"score": ("rouge-score",), "pictures": ("pillow",)}  # whose versions the results of a stage depend on

__getattr__ = load_on_demand(__name__)
