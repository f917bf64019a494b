"""What models are asked about HumorBench's elements."""

from __future__ import annotations

from punchline.benchmarks.humorbench.question import question
from punchline.core.benchmark import filled
from punchline.core.records import Item, Request

# Appendix A; the two lines of the cartoon, and the line breaks around, as the released prompts.py has them.
EXPLAIN_PROMPT = """
You are a humor expert extraordinaire, judging the New Yorker Cartoon Caption Contest. Your current task is to help us \
understand the humor in various submitted captions. Given a cartoon description and a caption submission, explain (in \
less than 200 words) *what* the joke is, focusing on the material substance of the joke.
STRICTLY use the format: <explanation>explanation goes here</explanation>

Cartoon description: {description}
Caption: {caption}
"""

MAX_TOKENS = 4096  # ours: the released code sets none


def requests(item: Item) -> list[Request]:
    """The one question on an element: explain the joke."""
    return [question(item, "explain", filled(EXPLAIN_PROMPT, item.fields), MAX_TOKENS)]
