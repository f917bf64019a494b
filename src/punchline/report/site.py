"""The static site: results/report/. Works from any static host and from a folder; no request leaves its own origin."""

from __future__ import annotations

import inspect
import json
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import vl_convert

from punchline import __version__
from punchline.artifacts.contents import best_shortcuts
from punchline.artifacts.lineage import kind_of
from punchline.artifacts.project import Project
from punchline.audit.compare import main_table
from punchline.config.runs import selected
from punchline.core import benchmark as benchmarks
from punchline.core.pages import templates
from punchline.files import parse_csv, write_bytes, write_changed
from punchline.report import figures, pictures, validity
from punchline.report.public import why_private
from punchline.report.standing import Ranks, Standing, standing
from punchline.report.tables import KINDS, Cell, Sheet, differences, head, parse_number, read_sheet, shown_number
from punchline.schema import sha256
from punchline.workflow.processes import pictures_mode

HERE = Path(__file__).with_suffix("")  # its templates and static files: part of the digest of this module's code
ROWS = 500  # that a page of a list shows
OWN = "files.json"  # what the report consists of, by path from its root
READING = {"compare": "Compare", "answers": "Answers", "wall": "Comics", "item": "Comic"}  # pages that read answers
ELSEWHERE = ("answers/", "items/")  # written by jobs of their own

Lines = tuple[list[str], list[list[Cell]]]  # columns and rows of one of the project's lists


class Site:
    """The pages of one run."""

    def __init__(self, project: Project) -> None:
        self.project, self.root = project, Path(project.paths.report)
        self.mode = pictures_mode()
        self.files: dict[str, str] = {}  # sha256 by path
        self.templates = templates(HERE / "templates")
        self.templates.filters |= {"head": head, "values_in_words": figures.values_in_words}

    @cached_property
    def sheets(self) -> dict[str, list[Sheet]]:
        """Every table of the run, by benchmark."""
        return {
            name: [read_sheet(self.project, name, table) for table in self.project.benchmark(name).TABLES.values()]
            for name in self.project.selection.benchmarks
        }

    @cached_property
    def mains(self) -> dict[str, Sheet]:
        """The table by which a benchmark's models are compared, by benchmark."""
        names = {name: main_table(self.project.benchmark(name)).name for name in self.sheets}
        return {name: sheet for name, sheets in self.sheets.items() for sheet in sheets if sheet.name == names[name]}

    @cached_property
    def ranks(self) -> dict[tuple[str, str], dict[str, Ranks]]:
        """The possible ranks of each model, by benchmark and table: in the first row that ranks it."""
        by_table: dict[tuple[str, str], dict[str, Ranks]] = {}
        for name in self.sheets:
            path = self.project.paths.csv("ranks", name)
            for _, line in parse_csv(Path(path).read_bytes(), ("table", "model", "rank_lo", "rank_hi"), file=path):
                ranks = Ranks(int(line["rank_lo"]), int(line["rank_hi"]))
                by_table.setdefault((name, line["table"]), {}).setdefault(line["model"], ranks)
        return by_table

    @cached_property
    def validity_files(self) -> dict[tuple[str, str], validity.File]:
        """Files on the validity of scores that have rows, by benchmark ("" over all) and name."""
        return validity.read_files(self.project)

    def corrections(self, sheet: Sheet) -> str:
        """Accuracy and ranks of a main table's models by people's labels, as text."""
        file = self.validity_files.get((sheet.benchmark, "corrected"))
        if file is None or sheet is not self.mains[sheet.benchmark]:
            return ""
        return validity.corrections(file.lines, self.project.selection.scoring or sheet.table.published_rule)

    def standing(self, sheet: Sheet) -> Standing:
        """The models of a table in order."""
        cards, benchmark = self.project.cards, sheet.benchmark
        printed = {name: row for name in cards if (row := cards[name].printed_as(benchmark, sheet.name)) is not None}
        ranks = self.ranks.get((benchmark, sheet.name), {})
        scored_as_published = self.project.selection.scoring in (None, sheet.table.published_rule)
        shortcuts = self.project.paths.csv("shortcuts", benchmark)
        return standing(sheet, ranks, printed, best_shortcuts(shortcuts, sheet.table) if scored_as_published else [])

    @cached_property
    def states(self) -> pd.DataFrame:
        """Numbers of answers by benchmark and model: `answers`, `missing`, `failed`, `refused`, `unread`."""
        frames = []
        for name in self.sheets:
            frame = pd.read_csv(self.project.paths.csv("unread", name), dtype={"model": str})
            frames.append(frame[frame["rule"] == "paper"].assign(benchmark=name))
        counts = ["answers", "missing", "failed", "refused", "unread"]
        return pd.concat(frames).groupby(["benchmark", "model"], sort=False)[counts].sum()

    def models(self, benchmark: str) -> list[str]:
        """The models that answered any of a benchmark's questions, in order of rank; all where none did."""
        counts = self.states.loc[benchmark] if benchmark in self.states.index.get_level_values(0) else self.states[:0]
        answering = set(counts.index[counts["missing"] < counts["answers"]])
        ordered = [line.model for line in self.standing(self.mains[benchmark]).lines if line.kind != "published"]
        models = list(dict.fromkeys([*ordered, *self.project.selection.models]))
        models = [model for model in models if model in self.project.cards]
        return [model for model in models if model in answering] or models

    def write(self) -> None:
        """Write all pages and the list of them; remove pages of an earlier report that are not among them."""
        before: list[Any] = []
        with suppress(OSError, ValueError):
            before = json.loads((self.root / OWN).read_bytes())
        for file in sorted((HERE / "static").rglob("*")):
            if file.is_file():
                self.put(f"static/{file.relative_to(HERE / 'static').as_posix()}", file.read_bytes())
        self.put("static/mode.js", f'punchline.mode("{self.mode}");\n'.encode())
        self.put("static/run.js", f"punchline.about = {msgspec.json.encode(self._about()).decode()};\n".encode())
        disagree = differences(self.project.paths.csv("discrepancies"))
        for name, sheets in self.sheets.items():
            for sheet in sheets:
                self._table(sheet, disagree.get((name, sheet.name), []))
            if self.project.illustrated(name):
                for image in pictures.held(self.project, name, self.mode):
                    self.put(pictures.file_of(image), pictures.content(image))
        self.page("index.html", "index.html", "Results", **self._start())
        for stem, title in READING.items():
            self.page(f"{stem}.html", f"{stem}.html", title, scripts=("mode.js", "run.js", "ui.js", f"{stem}.js"))
        self.page("tables/index.html", "tables.html", "Tables", sheets=self._lists())
        for listed in self.validity_files.values():
            self._list(listed)
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
        """Write a page. `path` from the report's root; the page's own links begin with the way back there."""
        text = self.templates.get_template(template).render(
            **{"scripts": (), "base": "../" * path.count("/"), "title": title, "run": self.project.selection.run}
            | {"here": path, "version": __version__, "site": self}
            | values
        )
        self.put(path, text.encode())

    # Pages

    def _about(self) -> dict[str, Any]:
        """Data of the run for pages that read answers."""
        names = list(self.sheets)
        tables = {
            name: [[sheet.name, sheet.table.tasks, sheet.table.conditions] for sheet in sheets if sheet.table.of_models]
            for name, sheets in self.sheets.items()
        }
        chosen = self.project.selection.scoring
        flagged = [file for (_, name), file in self.validity_files.items() if name == "items"]
        return {
            "run": self.project.selection.run,
            "models": {name: self.models(name) for name in names},
            "kinds": {name: kind_of(card) for name, card in self.project.cards.items()},
            "titles": {name: title_of(name) for name in names},
            "main": {name: main_question(self.mains[name]) for name in names},
            "rules": {name: chosen or self.mains[name].table.published_rule for name in names},
            "tables": tables,
            "flags": {file.benchmark: validity.flags(self.project, file) for file in flagged},
        }

    def _table(self, sheet: Sheet, disagree: list[dict[str, str]]) -> None:
        table, stem = sheet.table, sheet.file.removesuffix(".html")
        if drawn := figures.drawn(sheet):
            self.put(f"{stem}.svg", figures.svg(figures.on_paper(drawn)).encode())
        for ending in ("csv", "md", "tex"):
            self.put(f"{stem}.{ending}", Path(sheet.path).with_suffix(f".{ending}").read_bytes())
        ranks = Path(self.project.paths.csv("ranks", sheet.benchmark))
        self.put(f"tables/{sheet.benchmark}/ranks.csv", ranks.read_bytes())
        self.page(
            sheet.file,
            "table.html",
            f"{sheet.benchmark} {sheet.name}: {table.title}",
            scripts=("ui.js", "table.js"),
            sheet=sheet,
            standing=self.standing(sheet) if table.of_models else None,
            chart=figures.svg(figures.figure(sheet, table.chart)) if table.chart else "",
            disagree=disagree,
            kinds=[kind for kind in KINDS if any(row["kind"] == kind for row in sheet.rows)],
        )

    def _list(self, file: validity.File) -> None:
        """A file on the validity of scores, as a page and as CSV."""
        self.put(f"{file.stem}.csv", Path(file.path).read_bytes())
        columns, rows = as_cells(file.lines[:ROWS])
        title = " ".join(text for text in (title_of(file.benchmark) if file.benchmark else "", head(file.name)) if text)
        self.page(f"{file.stem}.html", "list.html", title, file=file, columns=columns, rows=rows)

    def _start(self) -> dict[str, Any]:
        """Values of the first page."""
        total = self.states.groupby("benchmark", sort=False).sum()
        failed = self.states["failed"][self.states["failed"] > 0]
        return {
            "mains": {name: (sheet, self.standing(sheet)) for name, sheet in self.mains.items()},
            "titles": {name: title_of(name) for name in self.sheets},
            "items": {
                name: len(pd.read_parquet(self.project.paths.requests(name), columns=["item_id"]).item_id.unique())
                for name in self.sheets
            },
            "total": total.sum(),
            "failed": failed.reset_index().to_records(index=False).tolist(),
            "selection": {
                name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                for name, value in selected(self.project.selection).items()
            },
            "every": [sheet for sheets in self.sheets.values() for sheet in sheets],
            "private": {name: why for name in self.sheets if (why := why_private(self.project, name))},
        }

    def _lists(self) -> list[tuple[str, str, list[str], list[list[Cell]]]]:
        """(title, description, columns, rows) of the run's other lists."""
        where = self.project.paths
        differ = "Cells in which rules released and paper differ."
        lists = [
            ("Cost", "The cost of answers and verdicts, by the prices in the cards.", where.csv("cost")),
            ("Differences between the rules", differ, where.csv("discrepancies")),
        ]
        for name in filter(self.project.illustrated, self.sheets):
            images = where.csv("availability", name)
            lists.append((f"Images of {title_of(name)}", "Available images, by source.", images))
        return [(title, about, *lines(path)) for title, about, path in lists]


def title_of(benchmark: str) -> str:
    """The name of a benchmark as its paper writes it."""
    return (inspect.getdoc(benchmarks.load(benchmark)) or benchmark).partition(":")[0]


def main_question(sheet: Sheet) -> str:
    """The first question, task@condition, of a benchmark's main table; "" if it reads all tasks."""
    return f"{sheet.table.tasks[0]}@{sheet.table.conditions[0]}" if sheet.table.tasks else ""


def lines(path: str) -> Lines:
    """(columns, cells) of one of the project's lists."""
    return as_cells([cells for _, cells in parse_csv(Path(path).read_bytes(), (), file=path)])


def as_cells(rows: list[dict[str, str]]) -> Lines:
    """(columns, cells) of lines, without columns that are empty or 0 everywhere."""
    columns = [name for name in (rows[0] if rows else ()) if any(line[name] not in ("", "0") for line in rows)]
    return columns, [
        [Cell(shown_number(line[name]), line[name], number=parse_number(line[name]) is not None) for name in columns]
        for line in rows
    ]


def write_report(project: Project) -> None:
    """Write the pages of a run to results/report/."""
    Site(project).write()


def write_figure(project: Project, benchmark: str, table: str) -> None:
    """Write one table as a figure for a paper: SVG and PDF."""
    sheet = read_sheet(project, benchmark, project.benchmark(benchmark).TABLES[table])
    drawn = figures.on_paper(figures.drawn(sheet) or figures.nothing(sheet.path))
    svg, pdf = project.figure(benchmark, table).outputs
    write_bytes(svg, figures.svg(drawn).encode())
    write_bytes(pdf, vl_convert.vegalite_to_pdf(drawn))
