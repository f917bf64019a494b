"""A run as one folder for a static host: its report, its tables, and of what they rest on all that may be passed on.

Files lie where they lie in the project, so that the audit walks the folder as it walks a project. What may not be
passed on is named in the folder's index, with its digest in the lineages: whoever has it can put it in its place.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from punchline import paths
from punchline.artifacts.lineage import Lineage, lineage_path
from punchline.artifacts.project import Project
from punchline.audit.published import INDEX, Published, beside, read_published
from punchline.audit.state import check_shown, table_states
from punchline.config.runs import making
from punchline.core.benchmark import facet
from punchline.core.pages import templates
from punchline.core.storage import digests_in
from punchline.errors import PunchlineError
from punchline.files import parse_csv, records_in, sha256_file, write_bytes
from punchline.journal import read_lines
from punchline.paths import RECORD
from punchline.report.pictures import holds, right_of, rights
from punchline.report.shards import script, unscripted
from punchline.report.site import ELSEWHERE, HERE, OWN
from punchline.schema import FetchEntry, Item, Response, canonical
from punchline.workflow.provenance import Status

OPEN = re.compile(r"CC[ -]?0|CC[ -]BY|public domain|MIT|Apache|BSD|of the project", re.IGNORECASE)
MODE = "open"  # of pictures: report/pictures.py

# What the tables of others' data rest on, by role in the lineages: whether it holds their texts.
TEXTS = ("raw annotation", "items", "gold")
ANSWERS = ("journal", "snapshot")
NEVER_PUBLISHED = dict.fromkeys(("model", "adapter"), "weights: built or trained again from what is named")
NEVER_PUBLISHED["user's file"] = "a file of the user's own"


class Rights:
    """Files of one benchmark that may be shared."""

    def __init__(self, project: Project, name: str) -> None:
        self.project, self.name = project, name
        self.drawn = project.selection.corpus.drawn
        self.annotations, self.released = self._licences(name), self._licences(paths.runs_of(name))
        self.replays = {card.name for card in project.cards.values() if card.engine == "replay"}
        self.pictures = set(self._pictures()) if not self.drawn and project.illustrated(name) else set()

    def _licences(self, name: str) -> dict[str, str]:
        """Licences of the files of a manifest, by path."""
        file = Path(paths.manifest(name))
        if self.drawn or not file.is_file():
            return {}
        rows = parse_csv(file.read_bytes(), ("path", "licence"), file=file)
        return {self.project.paths.raw(name, row["path"]): row["licence"] for _, row in rows}

    def _pictures(self) -> Iterator[str]:
        """Paths of pictures, as published and as models see them, that may be passed on."""
        where, known = self.project.paths, rights(self.project, self.name)
        items, ledger = records_in(where.items(self.name), Item), records_in(where.ledger(self.name), FetchEntry)
        images = ((item.item_id, image.path) for item in items for image in item.images)
        for item_id, path in chain(images, ((entry.item_id, entry.path) for entry in ledger)):
            if path is not None and holds(MODE, right_of(self.project, known, item_id)):
                yield path

    def texts(self) -> str:
        """Reason why the annotations may not be passed on; "" if they may."""
        return closed(self.annotations.values())

    def withheld(self, path: str, role: str) -> str:
        """Why a file that a table depends on may not be passed on; "" where it may."""
        if role in NEVER_PUBLISHED or self.drawn:
            return NEVER_PUBLISHED.get(role, "")
        if (licence := {**self.annotations, **self.released}.get(path)) is not None:
            return closed([licence])
        if role in ("image", "picture"):
            return "" if path in self.pictures else "a picture under no licence to pass it on: fetch it"
        if role in TEXTS or role.endswith("requests"):
            return self.texts()
        if role.endswith(ANSWERS) and Path(path).stem in self.replays:
            return closed(self.released.values() or [""])
        return ""


def closed(licences: Iterable[str]) -> str:
    """Reason why files built from files under these licences may not be passed on; "" if they may."""
    shut = sorted({licence or "none stated" for licence in licences if not OPEN.match(licence)})
    return f"made of files under this licence: {', '.join(shut)}" if shut else ""


def without_texts(part: dict[str, Any], why: str, blurred: Collection[str]) -> None:
    """Take what the annotations say out of a part of a report: the index of items, some items, or answers.

    `blurred`: what a picture is blurred for stays, so that it stays blurred.
    """
    said = f"not passed on: {why}"
    if "facets" in part:
        part["facets"] = {name: of for name, of in part["facets"].items() if name in ("source", *blurred)}
        part |= {"titles": ["" for _ in part["ids"]], "texts": part["ids"]}
    for one in [one for one in part.values() if isinstance(one, dict)]:
        if "gold" in one:
            one["gold"] = {name: value for name, value in one["gold"].items() if name in blurred}
            one |= {"fields": {"annotation": said}, "boxes": [[] for _ in one["boxes"]]}
            one["asked"] = [[*place, said] for *place, _ in one["asked"]]
        for heard in one.get("heard", ()):
            heard["question"] = said


def _answers(project: Project, lineage: Lineage) -> dict[str, set[str]]:
    """Digests of the answers that count, by journal: a journal is of all runs."""
    found = defaultdict[str, set[str]](set)
    where, of = project.paths, lineage.benchmark
    for name in (model.card.name for model in lineage.models):
        found[paths.journal(of, name)] = set(digests_in(where.snapshot(of, name)))
        for pass_ in project.passes(of, name):
            answers = set(digests_in(where.snapshot(of, name, pass_)))
            for _, path, _ in project.answers(of, pass_, name).journals():
                found[path] |= answers
    return found


def _lines(path: str, wanted: set[str]) -> bytes:
    """The lines of a journal and its shards that hold these answers, each once."""
    lines: dict[str, bytes] = {}
    for journal in filter(os.path.isfile, paths.with_shards(path)):
        with Path(journal).open("rb") as file:
            for at, size, found in read_lines(file, file=journal):
                if isinstance(found, Response) and found.digest in wanted:
                    lines.setdefault(found.digest, os.pread(file.fileno(), size, at))
    return b"".join(lines.values())


class Folder:
    """The folder that is written."""

    def __init__(self, project: Project, root: Path) -> None:
        self.project, self.root = project, root
        self.tables: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.withheld: dict[str, str] = {}
        self.closed: dict[str, str] = {}  # why the report's items have no gold, by benchmark
        self.journals = defaultdict[str, set[str]](set)  # digests of answers
        self.rights = cache(lambda benchmark: Rights(project, benchmark))

    def put(self, path: str, content: bytes | None = None) -> None:
        """A file of the project, at its own place; or one of other content."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.write_bytes(Path(path).read_bytes() if content is None else content)
        except OSError as error:
            error.filename = error.filename or str(target)  # a full disk names no file
            raise
        self.files[path] = sha256_file(target)

    def table(self, path: str) -> None:
        """A table, its lineage, and what it depends on as far as that may be passed on."""
        lineage = check_shown(path)
        allowed = self.rights(lineage.benchmark)
        self.tables[path] = lineage.root
        self.put(lineage_path(path).as_posix())
        self.put(f"config/corpus/{lineage.selection.corpus.name}.yaml")
        manifests = [paths.manifest(name) for name in (lineage.benchmark, paths.runs_of(lineage.benchmark))]
        besides = [Path(paths.folder_of(manifest)).glob("*.csv") for manifest in manifests]
        if allowed.drawn:  # the audit compares all of it
            besides.append(Path(self.project.paths.raw(lineage.benchmark)).rglob("*"))
        there = [file.as_posix() for file in chain(*besides) if file.is_file() and not file.name.endswith(RECORD)]
        answers = _answers(self.project, lineage)
        for file in lineage.files:
            if why := allowed.withheld(file.path, file.role):
                self.withheld[file.path] = why
            elif file.role.endswith("journal"):
                self.journals[file.path] |= answers[file.path]
            else:
                there.append(file.path)
        for file_path in there:
            if file_path not in self.files:
                self.put(file_path)

    def report(self) -> bool:
        """The report, where there is one. Raises PunchlineError for one that is not current, or holds too much."""
        folder = Path(self.project.paths.report)
        if not (folder / OWN).is_file():
            return False
        step = self.project.report()
        mode, why = json.loads(Path(step.record).read_bytes())["parameters"]["pictures"], None
        if mode == "all":
            mode, why = MODE, "it holds pictures that may not be passed on"
        if why := why or Status().of_all(step):
            hint = f"Make it again: {making(self.project.selection.run, 'report', pictures=mode)}"
            raise PunchlineError(f"the report cannot be published: {why}", file=folder, hint=hint)
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.name.endswith((RECORD, ".part")):
                self.put(file.as_posix(), self._shown(file, file.relative_to(folder).parts))
        return True

    def _shown(self, file: Path, parts: tuple[str, ...]) -> bytes | None:
        """A part of the report's data as it may be passed on; None: as it is."""
        if parts[0] == "tables" and file.stem == "votes" and (why := self.rights(parts[1]).texts()):
            return f"not passed on: {why}\n".encode()  # people's labels of each item
        if f"{parts[0]}/" not in ELSEWHERE or file.suffix != ".js" or not (why := self.rights(parts[1]).texts()):
            return None
        key, value = unscripted(file.read_bytes())
        without_texts(value, why, getattr(facet(parts[1], "shown"), "BLURRED", {}))
        self.closed[parts[1]] = why
        return script(key, value)

    def start(self, reported: bool) -> None:
        """Write the first page, which links to all others."""
        page = (
            templates(HERE / "templates")
            .get_template("published.html")
            .render(
                run=self.project.selection.run,
                report=f"{self.project.paths.report}/index.html" if reported else "",
                index=INDEX,
                tables={path.removesuffix(".csv"): root for path, root in self.tables.items()},
                withheld=len(self.withheld),
            )
        )
        self.put("index.html", page.encode())


def _write(project: Project, root: Path, before: Path) -> tuple[Published, dict[str, str]]:
    made, run = Folder(project, root), project.selection.run
    for table in table_states(project):
        if table.state == "stale":
            hint = f"Make it again: {making(run)}"
            raise PunchlineError(f"the table is not current: {table.reason}", file=table.path, hint=hint)
        if table.state == "current":
            made.table(table.path)
    if not made.tables:
        raise PunchlineError(f"run {run} has no table", hint=f"Make them: {making(run)}")
    for journal, answers in made.journals.items():
        made.put(journal, _lines(journal, answers))
    made.put("config/run.yaml")
    made.start(made.report())
    for path in beside(before, read_published(before)) if (before / INDEX).is_file() else ():
        if path in made.files:
            raise PunchlineError("a file of yours lies where one is published", file=before / path, hint="Move it")
        made.put(path, (before / path).read_bytes())
    withheld = {path: why for path, why in made.withheld.items() if path not in made.files}
    published = Published(run=run, tables=made.tables, files=made.files, withheld=withheld)
    write_bytes(root / INDEX, msgspec.json.format(canonical(published), indent=1) + b"\n")
    return published, made.closed


def publish(project: Project, folder: Path) -> None:
    """Write the folder whole, in place of one that was published before; files of other people's in it are kept.

    Raises PunchlineError, and changes nothing.
    """
    if folder.exists() and not (folder.is_dir() and ((folder / INDEX).is_file() or not any(folder.iterdir()))):
        raise PunchlineError(f"{folder} is there, and was not published", hint="Name a new folder, or an empty one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as work:
        new, old = Path(work) / "new", Path(work) / "old"
        new.mkdir()
        published, closed = _write(project, new, folder)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        if (old / ".git").exists():
            (old / ".git").rename(folder / ".git")
    report = "with its report" if (folder / project.paths.report).is_dir() else "without a report (none was made)"
    folder = folder.resolve()
    print(f"{folder}: {len(published.tables)} tables of run {published.run}, {report}, {len(published.files):,} files")
    for why, count in sorted(Counter(published.withheld.values()).items()):
        print(f"left out: {count:,} files: {why}")
    for benchmark, why in closed.items():
        print(f"left out of the report: gold, panels and questions of {benchmark}: {why}")
    print(f"punchline audit --published {shlex.quote(str(folder))} checks it")
