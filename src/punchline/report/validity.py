"""Files on the validity of scores as the report shows them: rows, reference values of rankings, flags of items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from punchline.artifacts.project import SHARED, VALIDITY, Project
from punchline.files import parse_csv, records_in
from punchline.report.public import why_private
from punchline.report.tables import parse_number, shown_number
from punchline.schema import Item
from punchline.text import escape_controls

FLAGS = {"none_right": "1", "negative": "2", "all_right": "3"}  # in the order of the wall

Lines = list[dict[str, str]]


@dataclass(frozen=True)
class File:
    """A file with rows; `benchmark`: "" over all."""

    benchmark: str
    name: str
    path: str
    lines: Lines

    @property
    def stem(self) -> str:
        """Its page and its CSV without their endings, from the report's root."""
        return "/".join(part for part in ("tables", self.benchmark, self.name) if part)


def read_files(project: Project) -> dict[tuple[str, str], File]:
    """Every validity file that has rows, by benchmark and name."""
    where = project.paths
    paths = {("", name): where.csv(name) for name in SHARED}
    for benchmark in project.selection.benchmarks:
        private = {"votes"} if why_private(project, benchmark) else set()  # people's labels of each item
        paths |= {(benchmark, name): where.csv(name, benchmark) for name in VALIDITY if name not in private}
    read = {key: [line for _, line in parse_csv(Path(path).read_bytes(), (), file=path)] for key, path in paths.items()}
    return {key: File(*key, paths[key], lines) for key, lines in read.items() if lines}


def flags(project: Project, file: File) -> dict[str, dict[str, str]]:
    """A character per item, of FLAGS or `.`, by rule and question (task@condition)."""
    place = {item.item_id: at for at, item in enumerate(records_in(project.paths.items(file.benchmark), Item))}
    marks: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(lambda: ["."] * len(place)))
    for line in file.lines:
        if line["flag"]:
            marks[line["rule"]][f"{line['task']}@{line['condition']}"][place[line["item_id"]]] = FLAGS[line["flag"]]
    return {rule: {name: "".join(own) for name, own in of.items()} for rule, of in marks.items()}


def in_row(line: Mapping[str, str], values: Mapping[str, str]) -> bool:
    """True if a shortcut's value is of the row of a table with these values."""
    parts = (part.partition("=") for part in line["row"].split(";") if part)
    return all(values.get(key) == value for key, _, value in parts)


def corrections(lines: Lines, rule: str) -> str:
    """Judged and corrected accuracy and ranks of up to three models, as text; "" where no label tests a judge."""
    chosen = [line for line in lines if (line["rule"], line["method"]) == (rule, "ppi++")]
    chosen.sort(key=lambda line: parse_number(line["rank_judged"]) or 0)
    parts = [
        f"{line['model']} {shown_number(line['judged'])} → {shown_number(line['corrected'])}, "
        f"rank {line['rank_judged']} → {line['rank_corrected']}"
        for line in chosen[:3]
    ]
    return escape_controls("; ".join(parts)) + (f"; and {len(chosen) - 3} more" if len(chosen) > 3 else "")
