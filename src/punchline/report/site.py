"""The static site: results/report/. Works from any static host and from a folder; no request leaves its own origin."""

from __future__ import annotations

import inspect
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow.parquet as pq
import vl_convert

from punchline import __version__
from punchline.artifacts.lineage import kind_of
from punchline.artifacts.project import Project
from punchline.audit.compare import compare_somewhere, main_table
from punchline.config.runs import selected
from punchline.core import benchmark as benchmarks
from punchline.core.pages import templates
from punchline.errors import PunchlineError
from punchline.files import parse_csv, write_bytes
from punchline.report import figures, pictures
from punchline.report.items import pick_fields
from punchline.report.shards import write_changed
from punchline.report.tables import KINDS, Cell, Sheet, differences, head, parse_number, read_sheet
from punchline.schema import sha256
from punchline.text import escape_controls
from punchline.workflow.processes import pictures_mode

HERE = Path(__file__).with_suffix("")  # its templates and static files: part of the digest of this module's code
EXAMPLE = re.compile(r"([0-9a-f]{12}): ")  # an unread answer begins with its request
OWN = "files.json"  # what the report consists of, by path from its root
PAIRS = 6  # up to so many models, each is compared with each
UNREAD = (
    "How many answers were read, and what those say that were not: unexplained ones cast doubt on the reader."
    " An example begins with its request, as punchline show takes it, and leads to its item."
)
COST = "What answers and verdicts have cost, by the cards' prices."
RULES = "Cells that rule released and rule paper do not agree on."
AVAILABILITY = "Which images could be had, by source."
ELSEWHERE = ("answers/", "items/")  # written by jobs of their own

Lines = tuple[list[str], list[list[Cell]]]  # columns and rows of one of the project's lists


class Site:
    """The pages of one run."""

    def __init__(self, project: Project) -> None:
        self.project, self.root = project, Path(project.paths.report)
        self.mode = pictures_mode()
        self.files: dict[str, str] = {}  # sha256 by path
        self.templates = templates(HERE / "templates")
        self.templates.filters |= {"head": head, "about": about, "said": figures.said}

    @cached_property
    def sheets(self) -> dict[str, list[Sheet]]:
        """Every table of the run, by benchmark."""
        found: dict[str, list[Sheet]] = {}
        for name in self.project.selection.benchmarks:
            for table in self.project.benchmark(name).TABLES.values():
                found.setdefault(name, []).append(read_sheet(self.project, name, table))
        return found

    @cached_property
    def mains(self) -> dict[str, Sheet]:
        """The table by which a benchmark's models are compared, by benchmark."""
        names = {name: main_table(self.project.benchmark(name)).name for name in self.sheets}
        return {name: sheet for name, sheets in self.sheets.items() for sheet in sheets if sheet.name == names[name]}

    def forest(self, sheet: Sheet, width: int = figures.WIDTH) -> str:
        """The forest plot of a table as SVG."""
        return figures.svg(figures.forest(sheet, self.ranks[sheet.benchmark, sheet.name], width))

    def answering(self, benchmark: str) -> list[str]:
        """The selected models that answered any of a benchmark's questions; all where none did."""
        path = self.project.paths.unread(benchmark)
        listed = parse_csv(Path(path).read_bytes(), ("model", "answers", "missing"), file=path)
        found = {line["model"] for _, line in listed if int(line["missing"]) < int(line["answers"])}
        models = self.project.selection.models
        return [model for model in models if model in found] or list(models)

    @cached_property
    def ranks(self) -> dict[tuple[str, str], dict[str, str]]:
        """The range of each model's rank, by benchmark and table."""
        found = defaultdict[tuple[str, str], dict[str, str]](dict)
        for name in self.sheets:
            path = self.project.paths.ranks(name)
            for _, line in parse_csv(Path(path).read_bytes(), ("table", "model", "rank_lo", "rank_hi"), file=path):
                span = line["rank_lo"] if line["rank_lo"] == line["rank_hi"] else f"{line['rank_lo']}-{line['rank_hi']}"
                found[name, line["table"]].setdefault(line["model"], span)
        return found

    def write(self) -> None:
        """All pages, and the list of them; pages of before that are not among them go."""
        before: list[Any] = []
        with suppress(OSError, ValueError):
            before = json.loads((self.root / OWN).read_bytes())
        for file in sorted((HERE / "static").rglob("*")):
            if file.is_file():
                self.put(f"static/{file.relative_to(HERE / 'static').as_posix()}", file.read_bytes())
        self.put("static/mode.js", f'punchline.mode("{self.mode}");\n'.encode())
        disagree = differences(self.project.paths.discrepancies)
        for name, sheets in self.sheets.items():
            for sheet in sheets:
                self._table(sheet, disagree.get((name, sheet.name), []))
            self._benchmark(name)
        self._start()
        self._items()
        self._overviews()
        for name in self.sheets:
            if self.project.illustrated(name):
                for image in pictures.held(self.project, name, self.mode):
                    self.put(pictures.file_of(image), pictures.content(image))
        for path in before:
            inside = isinstance(path, str) and ".." not in Path(path).parts
            if inside and path not in self.files and not path.startswith(ELSEWHERE):
                (self.root / path).unlink(missing_ok=True)
        write_bytes(self.root / OWN, (json.dumps(self.files, indent=0, sort_keys=True) + "\n").encode())

    def put(self, path: str, content: bytes) -> None:
        """A file of the report; one that is the same already is left as it is."""
        self.files[path] = sha256(content)
        write_changed(self.root / path, content)

    def page(self, path: str, template: str, title: str, **values: Any) -> None:
        """A page. `path` from the report's root; the page's own links begin with the way back there."""
        text = self.templates.get_template(template).render(
            base="../" * path.count("/"),
            title=title,
            run=self.project.selection.run,
            nav=self.nav,
            here=path,
            version=__version__,
            site=self,
            **values,
        )
        self.put(path, text.encode())

    @cached_property
    def nav(self) -> list[tuple[str, str]]:
        """(page, name) of what every page links to."""
        tables = [(f"tables/{name}/index.html", name) for name in self.sheets]
        more = [("compare.html", "Compare"), ("unread.html", "Unread"), ("overview.html", "Cost, availability, rules")]
        return [("index.html", "Start"), *tables, *more]

    # Pages

    def _table(self, sheet: Sheet, disagree: list[dict[str, str]]) -> None:
        table, stem = sheet.table, sheet.file.removesuffix(".html")
        if drawn := figures.drawn(sheet, self.ranks[sheet.benchmark, sheet.name]):
            self.put(f"{stem}.svg", figures.svg(figures.on_paper(drawn)).encode())
        for ending in ("csv", "md", "tex"):
            self.put(f"{stem}.{ending}", Path(sheet.path).with_suffix(f".{ending}").read_bytes())
        self.page(
            sheet.file,
            "table.html",
            f"{sheet.benchmark} {sheet.name}: {table.title}",
            sheet=sheet,
            chart=figures.svg(drawn),
            disagree=disagree,
            kinds=[kind for kind in KINDS if any(row.kind == kind for row in sheet.rows)],
        )

    def _benchmark(self, name: str) -> None:
        main = self.mains[name]
        self.page(f"tables/{name}/index.html", "benchmark.html", name, benchmark=name, about=about(name), main=main)

    def _items(self) -> None:
        """The pages that read items and answers, and what they ask about the run."""
        tables = {
            name: [[sheet.name, sheet.table.tasks, sheet.table.conditions] for sheet in sheets if sheet.table.of_models]
            for name, sheets in self.sheets.items()
        }
        run = {"models": {name: self.answering(name) for name in self.sheets}, "tables": tables}
        differences = {name: compared(self.project, name) for name in self.sheets}
        for file, name, value in (("run", "about", run), ("compared", "compared", differences)):
            self.put(f"static/{file}.js", f"punchline.{name} = {msgspec.json.encode(value).decode()};\n".encode())
        self.page("item.html", "item.html", "Item")
        self.page("compare.html", "compare.html", "Compare two models")
        for name in self.sheets:
            self.page(f"wall/{name}.html", "wall.html", f"Items of {name}", benchmark=name)

    def _overviews(self) -> None:
        """Answers that were not read, and what the run's other lists say."""
        where = self.project.paths
        unread = [(name, UNREAD, *self._unread(name)) for name in self.sheets]
        self.page("unread.html", "sheet.html", "Answers that were not read", sheets=unread)
        lists = [("Cost", COST, *lines(where.cost)), ("Where the two rules differ", RULES, *lines(where.discrepancies))]
        lists += [
            (f"Availability of {name}", AVAILABILITY, *lines(path))
            for name in self.sheets
            if Path(path := where.availability(name)).is_file()
        ]
        self.page("overview.html", "sheet.html", "Cost, availability, rules", sheets=lists)

    def _unread(self, benchmark: str) -> Lines:
        """Lines of what was not read; an example leads to its item."""
        columns, rows = lines(self.project.paths.unread(benchmark), lambda line: not _read(line))
        asked = pq.read_table(self.project.paths.requests(benchmark), columns=["digest", "item_id"])
        items = {one["digest"][:12]: one["item_id"] for one in asked.to_pylist()} if rows else {}

        def linked(cell: Cell) -> Cell:
            start = EXAMPLE.match(cell.text)
            item = items.get(start[1]) if start else None
            return cell if item is None else replace(cell, link=f"item.html#{benchmark}/{quote(item, safe='')}")

        return columns, [[linked(cell) for cell in row] for row in rows]

    def _start(self) -> None:
        project = self.project
        models = {name: kind_of(project.cards[name]) for name in project.selection.models}
        values: dict[tuple[str, str], Any] = {}
        for name, sheet in self.mains.items():
            for row in figures.first_keys(sheet):
                if row.values["model"] in models:
                    values[row.values["model"], name] = row.cells[sheet.columns.index(sheet.main)]
        chosen = selected(project.selection).items()
        self.page(
            "index.html",
            "index.html",
            f"Punchline: {project.selection.run}",
            selection={name: ", ".join(map(str, v)) if isinstance(v, list) else str(v) for name, v in chosen},
            models=sorted(models.items(), key=lambda item: (item[1] != "measured", item[0])),
            values=values,
            every=[sheet for sheets in self.sheets.values() for sheet in sheets],
        )


def _read(line: Mapping[str, str]) -> bool:
    """True if all of a task's answers that are there were read, so that there is nothing to look at."""
    return int(line["read"]) + int(line["missing"]) == int(line["answers"]) and line["truncated"] == "0"


def lines(path: str, is_shown: Callable[[Mapping[str, str]], bool] = lambda line: True) -> Lines:
    """(columns, cells) of one of the project's lists."""
    found = [cells for _, cells in parse_csv(Path(path).read_bytes(), (), file=path) if is_shown(cells)]
    columns = [name for name in (found[0] if found else ()) if any(line[name] not in ("", "0") for line in found)]
    texts = [[line[name] for name in columns] for line in found]
    return columns, [
        [Cell(escape_controls(text), text, number=parse_number(text) is not None) for text in row] for row in texts
    ]


def compared(project: Project, benchmark: str) -> list[dict[str, Any]]:
    """Paired differences in the main table: of all pairs of a few models, of many of the first with the others."""
    models, loaded = project.selection.models, project.benchmark(benchmark)
    pairs = list(combinations(models, 2)) if len(models) <= PAIRS else [(models[0], other) for other in models[1:]]
    found = []
    for pair in pairs:
        with suppress(PunchlineError):  # no answers that both have: the page says so
            made = compare_somewhere(loaded, pair, project)
            differences = [
                {name: one[name] for name in ("row", "column", "difference", "low", "high")}
                | {"n": one["n"][0], "p": one["p_holm"]}
                for one in made.differences
            ]
            found.append(pick_fields(made, "models", "title") | {"differences": differences})
    return found


def about(benchmark: str) -> list[str]:
    """A benchmark's description: a sentence, and its paper."""
    paragraphs = (inspect.getdoc(benchmarks.load(benchmark)) or "").split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs[:2]]


def write_report(project: Project) -> None:
    """Write the pages of a run to results/report/."""
    Site(project).write()


def write_figure(project: Project, benchmark: str, table: str) -> None:
    """Write one table as a figure for a paper: SVG and PDF."""
    sheet = read_sheet(project, benchmark, project.benchmark(benchmark).TABLES[table])
    drawn = figures.on_paper(figures.drawn(sheet, {}) or figures.nothing(sheet.path))
    svg, pdf = project.figure(benchmark, table).outputs
    write_bytes(svg, figures.svg(drawn).encode())
    write_bytes(pdf, vl_convert.vegalite_to_pdf(drawn))
