"""Forgeries that are consistent with themselves: all after them is made again. What tells, without a root and with.

`FORGERIES` says of each what docs/audit.md says: whether the audit alone catches it. With a root that was
taken before, it must be caught always.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from benchmarks.torture.ground import LABELS, Ground, Row
from tests.asked import answers_in
from tests.e2e.project import ROOT, Project

from punchline.artifacts.lineage import Lineage, document, root_of
from punchline.benchmarks.pixelhumor import METRICS
from punchline.core.storage import read_table
from punchline.files import sha256_file
from punchline.journal import Journal
from punchline.schema import Request, Response
from punchline.scores import read_scores, write_scores

FULL = 60
TABLE = "results/table8.csv"
ANSWERS, VERDICTS = "data/responses/pixelhumor", "data/responses/humorbench/judge"
Forge = Callable[[Project, random.Random], None]


def rewrite(folder: Project, model: str, change: Callable[[Response], Response], where: str = ANSWERS) -> None:
    """A respondent's journal with changed answers, each with its hash; the folder's views are gone."""
    path = folder.path / where / f"{model}.jsonl"
    answers = answers_in(path).values()
    path.unlink()
    with Journal(path) as journal:
        for answer in answers:
            journal.append(change(answer))
    for view in path.parent.glob("*.parquet*" if where != ANSWERS else f"{model}.parquet*"):
        view.unlink()


def answers_of(model: str, folder: Project) -> dict[str, Response]:
    path = folder.path / ANSWERS / f"{model}.jsonl"
    return {one.request_id: one for one in answers_in(path).values()}


def _answer(model: str) -> Forge:
    """One of a model's answers about the order of panels is another one."""

    def forge(folder: Project, draw: random.Random) -> None:
        requests = read_table(folder.path / "data/requests/pixelhumor.parquet", Request)
        answered = {name for name, answer in answers_of(model, folder).items() if answer.text}
        chosen = draw.choice(sorted(answered & {one.request_id for one in requests if one.task == "Q7"}))
        rewrite(
            folder,
            model,
            lambda one: msgspec.structs.replace(one, text=f"{one.text}, 9") if one.request_id == chosen else one,
        )

    return forge


def _swap(one: str, other: str) -> Forge:
    """Two models' answers, each under the other's name and key."""

    def forge(folder: Project, draw: random.Random) -> None:
        texts = {one: answers_of(other, folder), other: answers_of(one, folder)}
        for model, own in texts.items():
            rewrite(
                folder,
                model,
                lambda answer, own=own: msgspec.structs.replace(
                    own[answer.request_id], model_key=answer.model_key, engine_version=answer.engine_version
                ),
            )

    return forge


def _as_made(folder: Project, name: str) -> None:
    """A changed file is what its record says that was made."""
    for record in [folder.path / f"{name}.made.json", (folder.path / name).parent / "annotations.made.json"]:
        if record.is_file() and name in (result := json.loads(record.read_bytes()))["outputs"]:
            result["outputs"][name] = sha256_file(folder.path / name)
            record.write_text(json.dumps(result))


def _score(folder: Project, draw: random.Random) -> None:
    """A row of scores, with its record; cells and tables follow from it."""
    name = f"results/pixelhumor/scores/{draw.choice(('first', 'second', 'served'))}.parquet"
    scores = list(read_scores(folder.path / name))
    chosen = draw.choice([one for one in scores if "panel_acc" in one.metrics])
    metrics = chosen.metrics | {"panel_acc": 1 - chosen.metrics["panel_acc"]}
    both = {n for n, one in enumerate(scores) if (one.item_id, one.task) == (chosen.item_id, chosen.task)}
    scores = [msgspec.structs.replace(one, metrics=metrics) if n in both else one for n, one in enumerate(scores)]
    write_scores(folder.path / name, scores, METRICS)
    _as_made(folder, name)


def _left_out(folder: Project, draw: random.Random) -> None:
    """An item is gone from the selected ones, with the record of selecting."""
    name = "data/items/pixelhumor/selected.csv"
    head, *lines = (folder.path / name).read_text().splitlines()
    lines.pop(draw.randrange(len(lines)))
    (folder.path / name).write_text("\n".join([head, *lines, ""]))
    _as_made(folder, name)


def _label(folder: Project, draw: random.Random) -> None:
    """A label of the demo corpus, with the record of its copying."""
    text = (folder.path / LABELS).read_text()
    places = list(re.finditer(r'"(\d), (\d)', text))
    place = draw.choice(places)
    changed = text[: place.start()] + f'"{place[2]}, {place[1]}' + text[place.end() :]
    (folder.path / LABELS).write_text(changed)
    _as_made(folder, LABELS)


def _scorer(folder: Project, draw: random.Random) -> None:
    """The code that scores the order of panels."""
    path = folder.path / "src/punchline/benchmarks/pixelhumor/scoring.py"
    good = "float(parsed == _gold_order(gold))"
    text = path.read_text()
    assert good in text
    path.write_text(text.replace(good, draw.choice(("0.5", "1.0", "float(parsed != _gold_order(gold))"))))


def _cell(folder: Project, draw: random.Random) -> None:
    """A value in a table, in its lineage, and its root computed anew; nothing below."""
    path = (folder.path / TABLE).with_suffix(".lineage.json")
    result = msgspec.json.decode(path.read_bytes(), type=Lineage)
    at = draw.choice([n for n, cell in enumerate(result.cells) if cell.value is not None])
    better = msgspec.structs.replace(result.cells[at], value=draw.random())
    cells = [better if n == at else cell for n, cell in enumerate(result.cells)]
    forged = msgspec.structs.replace(result, cells=tuple(cells))
    path.write_bytes(document(msgspec.structs.replace(forged, root=root_of(forged))))


def _published(folder: Project, draw: random.Random) -> None:
    """A value that the paper prints."""
    path = folder.path / "config/published/pixelhumor.csv"
    lines = path.read_text().splitlines(keepends=True)
    at = draw.choice([n for n, line in enumerate(lines) if ",table8," in line])
    lines[at] = re.sub(r"(,panel_acc|,text_acc|,wer|,cer),([\d.]+),", r"\1,0.123,", lines[at])
    path.write_text("".join(lines))


def _verdict(folder: Project, draw: random.Random) -> None:
    """Verdicts of the judge that counts words."""
    better = draw.choice(("PASS", "FAIL"))
    rewrite(folder, "overlap", lambda one: msgspec.structs.replace(one, text=f"{one.text} {better}"), VERDICTS)


class Forgery(NamedTuple):
    """A forgery, and the table that is audited."""

    forge: Forge
    alone: bool  # the audit alone catches it
    again: bool = True  # a run follows that makes all again
    table: str = TABLE
    config: str = ""  # of a run that makes it before; "": that of the ground


JUDGED = "benchmarks=[humorbench] models=[echo] judge=overlap scorers=null limit=3"
FORGERIES = {
    "a value of the table in its lineage": Forgery(_cell, True, again=False),
    "a released answer, with its hash": Forgery(_answer("second"), True),
    "a server's answer, with its hash": Forgery(_answer("served"), False),
    "a baseline's answer, with its hash": Forgery(_answer("random"), True),
    "verdicts of the judge overlap, with their hash": Forgery(
        _verdict, True, table="results/humorbench/leaderboard.csv", config=JUDGED
    ),
    "two released models swapped": Forgery(_swap("first", "second"), True),
    "two served models swapped": Forgery(_swap("served", "other"), False),
    "a row of scores, with its record": Forgery(_score, True),
    "an item left out of the selected ones": Forgery(_left_out, True),
    "a label of the demo corpus": Forgery(_label, True),
    "a changed scorer": Forgery(_scorer, False),
    "a published value": Forgery(_published, False),
}


def _findings(folder: Project, table: str, *options: str, source: Path | None = None) -> set[str]:
    """Links that an audit says differ, with the code of a folder."""
    environment = folder.environment | ({"PYTHONPATH": str(source / "src")} if source else {})
    command = [sys.executable, "-m", "punchline.cli", "audit", table, "--json", *options]
    done = subprocess.run(command, cwd=folder.path, env=environment, capture_output=True, text=True, check=False)
    result = json.loads(done.stdout)
    assert done.returncode == (result["verdict"] == "differs"), done.stderr
    return {finding["link"] for finding in result["findings"]}


def run(ground: Ground, n: int, seed: int) -> Row:
    draw = random.Random(seed)
    row = Row("forgeries", "", "", seed)
    alone, caught = Counter[str](), Counter[str]()
    with ground.copied() as folder:  # an audit leaves its verdict behind
        root = folder.audit(TABLE)["root"]
    names = list(FORGERIES)
    for turn in range(n):
        name = names[turn % len(names)]
        forgery = FORGERIES[name]
        config, expected = forgery.config or ground.config, root
        with ground.copied() as folder:
            if forgery.config:
                folder.snakemake(forgery.table, config=config)
                expected = folder.audit(forgery.table)["root"]
            forgery.forge(folder, draw)
            if forgery.again:
                folder.snakemake(forgery.table, config=config)
            links = _findings(folder, forgery.table, "--expect", expected)
            without = links - {"root"}
            alone[name] += bool(without)
            caught[name] += "root" in links
            if bool(without) != forgery.alone:
                row.failures.append(f"{name}: alone {sorted(without) or 'equal'}, docs/audit.md says otherwise")
            if "root" not in links:
                row.failures.append(f"{name}: with the root, the audit names {sorted(links)}")
            if name == "a changed scorer" and not _findings(folder, TABLE, source=ROOT) - {"root"}:
                row.failures.append(f"{name}: the audit of who has the honest code says equal")
    row.done = f"{n} forgeries of {len(names)} kinds, all after them made again"
    texts = [f"{name} {alone[name]} of {min(n, -(-(n - at) // len(names)))}" for at, name in enumerate(names) if at < n]
    row.checked = f"caught with a root: {caught.total()} of {n}; alone: {', '.join(texts)}"
    return row
