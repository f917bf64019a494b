"""What is read out of answers and verdicts of HumorBench."""

from __future__ import annotations

from punchline.read import tags, verdict
from punchline.schema import Rule
from punchline.score.length import last_tokens

# Section 3.5. The main runs were not cut: 500 tokens are the default of truncate_and_regrade.py, a script of its own.
LAST_TOKENS: dict[Rule, int | None] = {"released": None, "paper": 1000}


def _between(text: str, tag: str, at: int = 0) -> tuple[int, int, str] | None:
    """(start, end, content) of the first <tag>…</tag> from `at` on; None where there is none."""
    start = text.find(f"<{tag}>", at)
    end = text.find(f"</{tag}>", start + len(tag) + 2) if start >= 0 else -1
    if end < 0:
        return None
    return start, end + len(tag) + 3, text[start + len(tag) + 2 : end]


def explanation(answer: str) -> str:
    """What is judged under rule `released`.

    All but <reasoning>…</reasoning>; of that the first <explanation>…</explanation>, if any.
    """
    kept, at = [], 0
    while (found := _between(answer, "reasoning", at)) is not None:
        kept.append(answer[at : found[0]])
        at = found[1]
    answer = "".join((*kept, answer[at:]))
    inside = _between(answer, "explanation")
    return (answer if inside is None else inside[2]).strip()


def explained(answer: str, rule: Rule) -> str | None:
    """What is judged. Rule `paper` takes off thoughts as well, and finds nothing, None, in thoughts without an answer
    and in the prompt's own placeholder; an answer that is empty is an empty explanation."""
    if rule == "released" or not answer.strip():
        return explanation(answer)
    return tags.explanation(answer).value


def judged_text(answer: str, rule: Rule) -> str:
    """The explanation, under rule `paper` its last 1000 tokens."""
    text, limit = explained(answer, rule) or "", LAST_TOKENS[rule]
    return text if limit is None else last_tokens(text, limit)


def parse_verdict(answer: str, rule: Rule = "released") -> str | None:
    """PASS or FAIL; None for anything else.

    Rule `released`: the first <judgement>…</judgement>, stripped. Rule `paper`: its content in any dress; without such
    a tag what the judge commits itself to.
    """
    if rule == "paper":
        return verdict.verdict(answer).value
    found = _between(answer, "judgement")
    word = found[2].strip() if found is not None else ""
    return word if word in ("PASS", "FAIL") else None
