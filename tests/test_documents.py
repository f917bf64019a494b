"""Every shell command of the documents is executed by a test or marked; what documents name and list is there."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from dvc.cli import parse_args as dvc
from snakemake.cli import get_argument_parser
from tests.documents import ALL, MARKS, MENTIONED, REASONS, ROOT, Command
from typer.core import TyperGroup

from punchline.cli.base import find_table, overrides
from punchline.cli.commands import app
from punchline.config.selection import read_selection
from punchline.core import benchmark as benchmarks

APP = typer.main.get_command(app)
SNAKEMAKE = get_argument_parser()
MAKEFILE = (ROOT / "Makefile").read_text()
OTHERWISE = ("people", "tests/e2e/test_new_benchmark.py")  # names what its reader makes
WORKFLOW = "".join(path.read_text() for path in (ROOT / "Snakefile", *ROOT.glob("rules/*")))
RULES = set(re.findall(r"^rule (\w+):", WORKFLOW, re.M))


def test_every_mark_is_of_one_command_and_has_a_reason_of_the_list() -> None:
    meant = Counter((command.page, command.mark) for command in ALL)
    given = [(page, start, reason) for page, starts in MARKS.items() for start, reason in starts.items()]
    assert [(page, start) for page, start, _ in given if meant[page, start] != 1] == []
    assert [reason for *_, reason in given if reason not in REASONS and not (ROOT / reason).is_file()] == []
    assert REASONS.keys() - {reason for *_, reason in given} == set()


def wrong_punchline(words: list[str], whole: bool) -> str:
    """What the real parser has against it. No option's own callback is called: one changes the shell's start file."""
    command: Any = APP
    while True:
        context = command.context_class(command, info_name=command.name)
        options, rest, _ = command.make_parser(context).parse_args(list(words))
        if not (isinstance(command, TyperGroup) and rest):
            break
        _, command, words = command.resolve_command(context, rest)
    absent = [each.name for each in command.params if each.required and not options.get(each.name)] if whole else []
    return f"unexpected {rest}" if rest else f"lacks {absent}" if absent else ""


def wrong_snakemake(words: list[str], proven: bool) -> str:
    """An option, a target or a word of --config that there is not; where it is proven by execution only the option."""
    arguments = SNAKEMAKE.parse_args(words)
    if proven or any(re.search("[…<]", word) for word in words):
        return ""
    for target in arguments.targets or ():
        if re.fullmatch(r"results/.*\.csv", target):
            find_table(target)
    if chosen := overrides(arguments.config):
        read_selection({key: value for key, value in chosen.items() if key != "pictures"})
    return ", ".join(target for target in arguments.targets or () if "/" not in target and target not in RULES)


def wrong_make(words: list[str]) -> str:
    there = {*re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.M)[1].split(), *re.findall(r"^(\w+) \??=", MAKEFILE, re.M)}
    return ", ".join(word for word in words if word.split("=")[0] not in there)


def wrong_python(words: list[str]) -> str:
    script = "" if words[0] in ("-m", "-c") else (ROOT / words[0]).read_text()
    return ", ".join(word for word in words[1:] if script and word.startswith("--") and f'"{word}"' not in script)


def wrong(command: Command, *, whole: bool) -> str:
    """What is no option, target, key, model or file of the programs that it calls; empty where all are.

    `whole`: a command to type, not one that prose mentions, perhaps without what it needs.
    """
    proven = whole and (command.why_not is None or MARKS[command.page][command.mark or ""] in OTHERWISE)
    readers: dict[str, Any] = {
        "punchline": lambda words: wrong_punchline(words, whole),
        "snakemake": lambda words: wrong_snakemake(words, proven),
        "make": wrong_make,
        "python": wrong_python,
        "python3": wrong_python,
        "dvc": lambda words: "" if not whole or dvc(words) else "no arguments",
    }
    output = (readers.get(program.rsplit("/", 1)[-1], lambda _: "")(words) for program, *words in command.parts())
    return "; ".join(filter(None, output))


@pytest.mark.parametrize("whole", [True, False], ids=["commands", "in prose"])
def test_what_commands_name(whole: bool, in_root: None, capsys: pytest.CaptureFixture[str]) -> None:
    result = []
    for command in ALL if whole else MENTIONED:
        try:
            what = wrong(command, whole=whole)
        except (Exception, SystemExit) as error:  # as the program's own parser refuses it
            what = f"{type(error).__name__} {error} {capsys.readouterr().err[-300:]}"
        if what:
            result.append(f"{command}: {what}")
    assert not result, "\n".join(result)


def commands_of(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """(name, command) of every command of the application."""
    if not isinstance(command, TyperGroup):
        yield " ".join(path), command
        return
    for name, own in command.commands.items():
        yield from commands_of(own, *path, name)


def test_the_help_of_every_command_has_an_example_that_it_takes() -> None:
    for name, command in commands_of(APP):
        result = re.search(rf"^Example: punchline ({name}\b.*)$", command.help, re.MULTILINE)
        assert result, f"punchline {name} --help has no example"
        assert wrong_punchline(shlex.split(result[1]), whole=True) == "", name


def test_docs_tables_lists_every_table(root: Path) -> None:
    parts = re.split(r"^## ", (root / "docs" / "tables.md").read_text(), flags=re.MULTILINE)
    listed = {part.split(" ", 1)[0].lower(): part for part in parts[1:]}
    assert set(listed) == set(benchmarks.names())
    for name in benchmarks.names():
        first_cells = [line.split("|")[1] for line in listed[name].splitlines() if line.startswith("| ")]
        there = {word for cell in first_cells for word in re.findall(r"[a-z_]+\d*", cell)} - {"table"}
        assert there == set(benchmarks.load(name).TABLES)


def test_files_that_documents_name_are_there(root: Path) -> None:
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    text = (root / "docs" / "architecture.md").read_text()
    source = root / "src" / "punchline"
    for name in re.findall(r"`([a-z_]+/[a-z_/]*[a-z_]+\.py)`", text):
        assert (source / name).exists() or (root / name).exists() or (source.parent / name).exists(), name


def test_docs_stay_short(root: Path) -> None:
    pages = [page.read_text() for page in (root / "docs").glob("*.md")]
    assert len(pages) <= 20
    assert sum(len(page.split()) for page in pages) <= 16_000
    assert len((root / "README.md").read_text().splitlines()) <= 130
