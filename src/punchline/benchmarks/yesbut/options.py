"""Options of YesBut's questions, as the released file has them and prompts show them."""

from __future__ import annotations

import re

OPTION = re.compile(r"([A-E])\. (.+)")


def options(question: str) -> dict[str, str]:
    """{letter: text} of a question's options, one a line (`A. …`), letters from A on; {} for anything else."""
    lines = question.split("\n")
    found = [match for line in lines if (match := OPTION.fullmatch(line))]
    read = {match[1]: match[2].strip() for match in found}
    whole = len(found) == len(lines) >= 2 and "".join(read) == "ABCDE"[: len(lines)]
    return read if whole else {}
