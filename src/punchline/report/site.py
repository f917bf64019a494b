"""The static site: results/report/. Works from any static host and from a folder; no request leaves its own origin."""

from __future__ import annotations

import inspect
import json
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

from punchline import __version__
from punchline.audit.compare import main_table
from punchline.audit.state import read_lineage
from punchline.core import benchmark as benchmarks
from punchline.core.errors import PunchlineError
from punchline.core.outside import visible
from punchline.core.records import Item, sha256
from punchline.core.storage import records_in, write_bytes
from punchline.project.lineage import Lineage, kind_of
from punchline.project.needs import Project
from punchline.project.processes import pictures_mode
from punchline.project.runs import selection_text
from punchline.report import figures, pictures
from punchline.report.tables import KINDS, Sheet, differences, read_sheet
from punchline.stages.job import make

HERE = Path(__file__).parent
OWN = "files.json"  # what the report consists of, by path from its root
AGAIN = "Make it again: snakemake --cores all"
CARD = 320  # pixels of a plot on the first page
ELSEWHERE = ("answers/", "items/")  # written by jobs of their own


class Site:
    """The pages of one run."""

    def __init__(self, project: Project) -> None:
        self.project, self.root = project, Path(project.paths.report)
        self.mode = pictures_mode()
        self.files: dict[str, str] = {}  # sha256 by path
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.templates.filters["visible"] = visible

    @cached_property
    def sheets(self) -> dict[str, list[Sheet]]:
        """Every table of the run, by benchmark."""
        found: dict[str, list[Sheet]] = {}
        for name in self.project.selection.benchmarks:
            for table in self.project.benchmark(name).TABLES.values():
                lineage: Lineage = read_lineage(self.project.paths.table(table.file))
                found.setdefault(name, []).append(read_sheet(self.project, name, table, lineage))
        return found

    def main(self, benchmark: str) -> Sheet:
        """The table that a benchmark's models are compared by."""
        table = main_table(self.project.benchmark(benchmark))
        return next(sheet for sheet in self.sheets[benchmark] if sheet.name == table.name)

    @cached_property
    def ranks(self) -> dict[tuple[str, str], dict[str, str]]:
        """The range of each model's rank, by benchmark and table."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        return found

    def write(self) -> None:
        """All pages, and the list of them; pages of before that are not among them go."""
        before = self._listed()
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
        for name in self.sheets:
            self._pictures(name)
        for path in before - set(self.files):
            if not path.startswith(ELSEWHERE):
                (self.root / path).unlink(missing_ok=True)
        content = json.dumps(dict(sorted(self.files.items())), indent=0) + "\n"
        write_bytes(self.root / OWN, content.encode())

    def _listed(self) -> set[str]:
        try:
            listed = json.loads((self.root / OWN).read_bytes())
        except (OSError, ValueError):
            return set()
        return {path for path in listed if isinstance(path, str) and ".." not in Path(path).parts}

    def put(self, path: str, content: bytes) -> None:
        """A file of the report; one that is the same already is left as it is."""
        self.files[path] = sha256(content)
        file = self.root / path
        if not file.is_file() or file.read_bytes() != content:
            write_bytes(file, content)

    def _pictures(self, benchmark: str) -> None:
        """The pictures that this report may hold."""
        project = self.project
        if not project.illustrated(benchmark):
            return
        known = pictures.rights(project, benchmark)
        for item in records_in(project.paths.items(benchmark), Item):
            for image in item.images:
                if not pictures.holds(self.mode, pictures.right_of(project, known, item.item_id)):
                    continue
                file = pictures.file_of(image)
                content = Path(image.path).read_bytes()
                if sha256(content) != image.sha256:
                    raise PunchlineError("not the picture that was made", file=image.path, way_out=AGAIN)
                self.put(file, content)

    def page(self, path: str, template: str, title: str, **values: Any) -> None:
        """A page. `path` from the report's root; the page's own links begin with the way back there."""
        base = "../" * path.count("/")
        text = self.templates.get_template(template).render(
            base=base,
            title=title,
            run=self.project.selection.run,
            nav=self.nav,
            here=path,
            version=__version__,
            **values,
        )
        self.put(path, text.encode())

    @cached_property
    def nav(self) -> list[tuple[str, str]]:
        """(page, name) of what every page links to."""
        return [("index.html", "Start"), *((f"tables/{name}/index.html", name) for name in self.sheets)]

    # Pages

    def _table(self, sheet: Sheet, disagree: list[dict[str, str]]) -> None:
        table, stem = sheet.table, sheet.file.removesuffix(".html")
        ranks = self.ranks.get((sheet.benchmark, sheet.name), {})
        drawn = figures.drawn(sheet, ranks)
        if drawn:
            self.put(f"{stem}.svg", figures.svg(figures.on_paper(drawn)).encode())
        for ending in ("csv", "md", "tex"):
            self.put(f"{stem}.{ending}", Path(sheet.path).with_suffix(f".{ending}").read_bytes())
        self.page(
            sheet.file,
            "table.html",
            f"{sheet.benchmark} {sheet.name}: {table.title}",
            sheet=sheet,
            chart=figures.svg(drawn),
            said=figures.said(sheet.rows, sheet.main),
            disagree=disagree,
            kinds=[kind for kind in KINDS if any(row.kind == kind for row in sheet.rows)],
            name=sheet.name,
        )

    def _benchmark(self, name: str) -> None:
        main = self.main(name)
        self.page(
            f"tables/{name}/index.html",
            "benchmark.html",
            name,
            benchmark=name,
            about=about(name),
            main=main,
            chart=figures.svg(figures.forest(main, self.ranks.get((name, main.name), {}))),
            said=figures.said(main.rows, main.main),
            sheets=self.sheets[name],
        )

    def _start(self) -> None:
        mains = {name: self.main(name) for name in self.sheets}
        project = self.project
        models = {name: kind_of(project.cards[name]) for name in project.selection.models}
        values: dict[tuple[str, str], Any] = {}
        for name, sheet in mains.items():
            for row in figures.first_keys(sheet):
                if row.values["model"] in models:
                    values[row.values["model"], name] = row.cells[sheet.columns.index(sheet.main)]
        chosen = project.selection
        every = [sheet for sheets in self.sheets.values() for sheet in sheets]
        self.page(
            "index.html",
            "index.html",
            f"Punchline: {chosen.run}",
            selection=selection_text(chosen),
            corpus=chosen.corpus.name,
            made_at=max((sheet.made_at for sheet in every), default=""),
            mains=mains,
            models=sorted(models.items(), key=lambda item: (item[1] != "measured", item[0])),
            values=values,
            ranks=self.ranks,
            charts={name: figures.svg(figures.forest(sheet, {}, CARD)) for name, sheet in mains.items()},
            said={name: figures.said(sheet.rows, sheet.main) for name, sheet in mains.items()},
            about={name: about(name) for name in mains},
            every=every,
        )


def about(benchmark: str) -> list[str]:
    """What a benchmark says of itself: a sentence, and whose paper it is."""
    paragraphs = (inspect.getdoc(benchmarks.load(benchmark)) or "").split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs[:2]]


def write_report(project: Project) -> None:
    """The pages of a run, in results/report/."""
    make(project.report(), lambda: Site(project).write())


def write_figure(project: Project, benchmark: str, table: str) -> None:
    """One table as a picture for a paper: SVG and PDF."""
    step = project.figure(benchmark, table)

    def write() -> None:
        spec = project.benchmark(benchmark).TABLES[table]
        sheet = read_sheet(project, benchmark, spec, read_lineage(project.paths.table(spec.file)))
        drawn = figures.on_paper(figures.drawn(sheet, {}))
        if not drawn:
            raise PunchlineError("there is no value to draw", file=sheet.path, way_out=f"punchline print {sheet.path}")
        write_bytes(step.outputs[0], figures.svg(drawn).encode())
        write_bytes(step.outputs[1], figures.pdf(drawn))

    make(step, write)
