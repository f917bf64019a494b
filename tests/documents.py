"""The commands of the documents: where each stands, what it claims, and which are not executed, and why.

Commands stand in ```sh blocks, one a line, or are a whole ```python block. tests/e2e/test_documents.py executes what
documents.yaml does not mark.
"""

import itertools
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
DATA = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
REASONS: dict[str, str] = DATA["reasons"]
MARKS: dict[str, dict[str, str]] = DATA["not executed"]  # page: how a command begins: a reason, or the test that has it
LAST: list[str] = DATA["last"]

_NAMES = ("README.md", "docs/*.md", "CONTRIBUTING.md", "benchmarks/*.md", "data/replay/README.md")
PAGES = [path.relative_to(ROOT).as_posix() for name in _NAMES for path in sorted(ROOT.glob(name))]
PROGRAMS = "punchline|snakemake|make|dvc|git|python3?|pip|conda|source|export|ssh\\S*|cosign|vllm|huggingface-cli"
PROGRAM = rf"(?:\S*/)?(?:{PROGRAMS})\s"
COMMENT = r"(?:^|\s+)#\s*(.*)"


@dataclass(frozen=True)
class Command:
    """One command, as a reader would copy it, and the comment behind it."""

    page: str
    line: int
    text: str
    comment: str = ""
    python: bool = False

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text.splitlines()[0]}"

    @property
    def mark(self) -> str | None:
        """The longest beginning of it that documents.yaml marks."""
        return max((start for start in MARKS.get(self.page, {}) if self.text.startswith(start)), key=len, default=None)

    @property
    def why_not(self) -> str | None:
        """Why it is not executed; None where it is."""
        reason = None if self.mark is None else MARKS[self.page][self.mark]
        return reason and REASONS.get(reason, f"executed by {reason}")

    @property
    def claimed_path(self) -> str | None:
        """The file or folder with which the comment begins: it is there when the command has ended."""
        result = re.match(r"[\w.-]+/[\w./-]*", self.comment)
        return result[0] if result else None

    def parts(self) -> Iterator[list[str]]:
        """The words of each program that it calls, without variables before them, or brackets around options."""
        for part in [] if self.python else re.split(r"\s*(?:;|&&|\s\|\s)\s*", self.text):
            words = itertools.dropwhile(lambda word: re.fullmatch(r"[A-Z_]+=.*", word), shlex.split(part))
            plain = [word.removeprefix("[") if word.startswith("[-") else word for word in words]
            yield [word.removesuffix("]") if "[" not in word else word for word in plain]


def tokens(page: str) -> Iterator[tuple[Token, int]]:
    """Each part of a page, with the number of its first line."""
    for token in MarkdownIt().parse((ROOT / page).read_text()):
        yield token, token.map[0] + 1 if token.map else 0


def blocks(page: str) -> Iterator[tuple[str, int, list[str]]]:
    """Language, number of the first line, lines of each block; `file` is a language too."""
    before = ""  # the text above it: of a file's it begins with its name
    for token, line in tokens(page):
        if token.type == "fence":
            language = "file" if token.info == "python" and re.match(r"`[\w/.]+\.py`", before) else token.info
            yield language, line + 1, token.content.splitlines()
        before = token.content if token.type == "inline" else before


def commands(page: str) -> Iterator[Command]:
    """Those of a page, in their order; a backslash at a line's end joins the next."""
    for language, start, lines in blocks(page):
        content = "\n".join(lines)
        if language == "python":
            yield Command(page, start, content, python=True)
        for result in re.finditer(r"(?:.*\\\n)*.+", content) if language == "sh" else ():
            joined = re.sub(r"\\\n\s*", "", result[0]).strip()
            comment = re.search(COMMENT, joined)
            if text := re.sub(COMMENT, "", joined):
                line = start + content.count("\n", 0, result.start())
                yield Command(page, line, text, comment[1] if comment else "")


ALL = [command for page in PAGES for command in commands(page)]
MENTIONED = [  # in prose, between backquotes: read, for a name that is none, and never executed
    Command(page, line, part.content)
    for page in PAGES
    for token, line in tokens(page)
    for part in token.children or ()
    if part.tag == "code" and re.match(PROGRAM, part.content)
]
