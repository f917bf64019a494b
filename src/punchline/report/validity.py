"""Files on the validity of scores as the report shows them: rows, and flags of items."""

from __future__ import annotations

from collections import defaultdict

from punchline.artifacts.project import SHARED, VALIDITY
from punchline.artifacts.run import Run
from punchline.files import records_in
from punchline.report.public import why_private
from punchline.report.tables import read_lines
from punchline.schema import Item

FLAGS = {"none_right": "1", "negative": "2", "all_right": "3"}  # in the order of the wall

Lines = list[dict[str, str]]


def read_lists(run: Run) -> dict[tuple[str, str], Lines]:
    """Rows of every validity file that has some, by benchmark ("": over all) and name."""
    names = [("", name) for name in SHARED]
    for benchmark in run.selection.benchmarks:
        private = {"votes"} if why_private(run, benchmark) else set()  # people's labels of each item
        names += [(benchmark, name) for name in VALIDITY if name not in private]
    lists = {(benchmark, name): read_lines(run.paths.csv(name, benchmark)) for benchmark, name in names}
    return {key: lines for key, lines in lists.items() if lines}


def flags(run: Run, benchmark: str, lines: Lines) -> dict[str, dict[str, str]]:
    """A character per item, of FLAGS or `.`, by rule and question (task@condition)."""
    place = {item.item_id: at for at, item in enumerate(records_in(run.paths.items(benchmark), Item))}
    marks: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(lambda: ["."] * len(place)))
    for line in lines:
        if line["flag"]:
            marks[line["rule"]][f"{line['task']}@{line['condition']}"][place[line["item_id"]]] = FLAGS[line["flag"]]
    return {rule: {name: "".join(own) for name, own in of.items()} for rule, of in marks.items()}
