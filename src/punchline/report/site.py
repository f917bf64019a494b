"""The static site: results/report/. Works from any static host and from a folder; no request leaves its own origin."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import vl_convert

from punchline import __version__
from punchline.artifacts.contents import best_shortcuts
from punchline.artifacts.lineage import kind_of
from punchline.artifacts.run import Run
from punchline.config.runs import selected
from punchline.core import benchmark as benchmarks
from punchline.core.pages import templates
from punchline.core.storage import Stored, rows_in, values_in
from punchline.files import write_bytes, write_changed
from punchline.grouping import grouped
from punchline.report import figures, pictures, validity
from punchline.report.public import why_private
from punchline.report.standing import Ranks, Standing, standing
from punchline.report.tables import KINDS, Sheet, filled, parse_number, read_lines, read_sheet, shown_number
from punchline.schema import Request, sha256
from punchline.tables.latex import head
from punchline.workflow.processes import pictures_mode

HERE = Path(__file__).with_suffix("")  # its templates and static files: part of the digest of this module's code
OWN = "files.json"  # what the report consists of, by path from its root
READING = {"compare": "Compare", "answers": "Answers", "wall": "Comics", "item": "Comic"}  # pages that read answers
ELSEWHERE = ("answers/", "items/")  # written by jobs of their own


def _attempted(run: Run, benchmark: str) -> Iterator[tuple[str, str, str, str]]:
    """(benchmark, model, condition, task) of what baselines attempt, by the first request of each task."""
    file, places = run.paths.requests(benchmark), dict[tuple[str, str], int]()
    for place, (condition, task) in enumerate(rows_in(file, ["condition", "task"])):
        places.setdefault((condition, task), place)
    requests = Stored(file, Request)
    for (condition, task), place in places.items():
        for model, engine in run.engines.items():
            if engine.attempts(requests[place]):
                yield benchmark, model, condition, task


class Site:
    """The pages of one run."""

    def __init__(self, run: Run) -> None:
        self.run, self.root, self.mode = run, Path(run.paths.report), pictures_mode()
        self.files: dict[str, str] = {}  # sha256 by path
        self.why_private = partial(why_private, run)  # for templates
        self.templates = templates(HERE / "templates")
        self.templates.filters.update(head=head, title=title_of, shown=shown_number, number=parse_number, filled=filled)
        tables = {name: run.benchmark(name).TABLES.values() for name in run.selection.benchmarks}
        self.sheets = {name: [read_sheet(run, name, table) for table in of] for name, of in tables.items()}
        # The tables by which models are compared.
        self.mains = {name: next(sheet for sheet in of if sheet.table.main) for name, of in self.sheets.items()}
        self.validity = validity.read_lists(run)  # by benchmark and name
        unread = {name: pd.read_csv(run.paths.csv("unread", name), dtype={"model": str}) for name in self.sheets}
        frame = pd.concat(frame.assign(benchmark=name) for name, frame in unread.items()).query("rule == 'paper'")
        is_baseline = frame["model"].map(lambda name: name in run.cards and kind_of(run.cards[name]) == "baseline")
        tried = {key for name in self.sheets for key in _attempted(run, name)}
        keys = zip(frame["benchmark"], frame["model"], frame["condition"], frame["task"], strict=True)
        # A task without one answer, not for want of pictures.
        is_tried = pd.Series([key in tried for key in keys], index=frame.index)
        untried = is_baseline & (frame["missing"] == frame["answers"]) & ~is_tried
        frame["not_attempted"] = frame["missing"].where(untried, 0)
        by_model = frame.groupby(["benchmark", "model"], sort=False)
        counted = ["answers", "missing", "not_attempted", "failed", "refused", "unread"]
        self.states = by_model[counted].sum()  # numbers of answers; those not attempted are missing, too

    def rule(self, sheet: Sheet) -> str:
        """The rule that the run shows a table under."""
        return self.run.selection.scoring or sheet.table.published_rule

    def corrections(self, sheet: Sheet) -> validity.Lines:
        """Rows of corrected.csv for a main table, by rank: judged and corrected accuracy; none without labels."""
        is_main = sheet is self.mains[sheet.benchmark]
        lines = self.validity.get((sheet.benchmark, "corrected"), []) if is_main else []
        chosen = [line for line in lines if (line["rule"], line["method"]) == (self.rule(sheet), "ppi++")]
        return sorted(chosen, key=lambda line: parse_number(line["rank_judged"]) or 0)

    def standing(self, sheet: Sheet) -> Standing:
        """The models of a table in order."""
        cards, benchmark = self.run.cards, sheet.benchmark
        printed = {name: row for name in cards if (row := cards[name].printed_as(benchmark, sheet.name)) is not None}
        lines = [line for line in reversed(self.lines("ranks", benchmark)) if line["table"] == sheet.name]
        # Of a model, those of the first row that ranks it.
        ranks = {line["model"]: Ranks(int(line["rank_lo"]), int(line["rank_hi"])) for line in lines}
        shortcuts = best_shortcuts(self.run.paths.csv("shortcuts", benchmark), sheet.table)
        return standing(sheet, ranks, printed, shortcuts if self.rule(sheet) == sheet.table.published_rule else [])

    def lines(self, name: str, benchmark: str = "") -> list[dict[str, str]]:
        """The rows of one of the run's lists."""
        return read_lines(self.run.paths.csv(name, benchmark))

    def models(self, benchmark: str) -> list[str]:
        """The models that answered any of a benchmark's questions, in order of rank; all where none did."""
        counts = self.states[self.states.index.get_level_values("benchmark") == benchmark].droplevel("benchmark")
        answering = set(counts.index[counts["missing"] < counts["answers"]])
        ordered = [line["model"] for line in self.standing(self.mains[benchmark]).lines if line["kind"] != "published"]
        models = [name for name in dict.fromkeys([*ordered, *self.run.selection.models]) if name in self.run.cards]
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
        disagree = grouped(self.lines("discrepancies"), lambda line: (line["benchmark"], line["table"]))
        for name, sheets in self.sheets.items():
            for sheet in sheets:
                self._table(sheet, disagree.get((name, sheet.name), []))
            self.put(f"tables/{name}/ranks.csv", Path(self.run.paths.csv("ranks", name)).read_bytes())
            if self.run.illustrated(name):
                for image in pictures.held(self.run, name, self.mode):
                    self.put(pictures.file_of(image), pictures.content(image))
        items = {name: len({*values_in(self.run.paths.requests(name), "item_id")}) for name in self.sheets}
        self.page("index.html", "index.html", "Results", items=items, selection=selected(self.run.selection))
        for stem, title in READING.items():
            self.page(f"{stem}.html", f"{stem}.html", title, scripts=("mode.js", "run.js", "ui.js", f"{stem}.js"))
        self.page("tables/index.html", "tables.html", "Tables")
        for (benchmark, name), rows in self.validity.items():
            stem = "/".join(filter(None, ("tables", benchmark, name)))
            self.put(f"{stem}.csv", Path(self.run.paths.csv(name, benchmark)).read_bytes())
            title = f"{title_of(benchmark)} {head(name)}" if benchmark else head(name)
            self.page(f"{stem}.html", "list.html", title, name=name, rows=rows)
        for path in before:
            if path not in self.files and ".." not in path and not path.startswith((*ELSEWHERE, "/")):
                (self.root / path).unlink(missing_ok=True)
        write_bytes(self.root / OWN, (json.dumps(self.files, indent=0, sort_keys=True) + "\n").encode())

    def put(self, path: str, content: bytes) -> None:
        """A file of the report; one that is the same already is left as it is."""
        self.files[path] = sha256(content)
        write_changed(self.root / path, content)

    def page(self, path: str, template: str, title: str, **values: Any) -> None:
        """Write a page. `path` from the report's root; the page's own links begin with the way back there."""
        values = {"scripts": (), "here": path, "title": title, "version": __version__, "site": self} | values
        run, base = self.run.selection.run, "../" * path.count("/")
        self.put(path, self.templates.get_template(template).render(**values, run=run, base=base).encode())

    def _about(self) -> dict[str, Any]:
        """Data of the run for pages that read answers."""
        tables = {name: [sheet for sheet in sheets if sheet.table.of_models] for name, sheets in self.sheets.items()}
        flagged = {benchmark: rows for (benchmark, name), rows in self.validity.items() if name == "items"}
        return {
            "run": self.run.selection.run,
            "models": {name: self.models(name) for name in tables},
            "titles": {name: title_of(name) for name in tables},
            "main": {name: main_question(self.mains[name]) for name in tables},
            "rules": {name: self.rule(self.mains[name]) for name in tables},
            "tables": {name: [[s.name, s.table.tasks, s.table.conditions] for s in of] for name, of in tables.items()},
            "flags": {name: validity.flags(self.run, name, rows) for name, rows in flagged.items()},
        }

    def _table(self, sheet: Sheet, disagree: list[dict[str, str]]) -> None:
        table, stem = sheet.table, sheet.file.removesuffix(".html")
        if drawn := figures.drawn(sheet):
            self.put(f"{stem}.svg", figures.svg(figures.on_paper(drawn)).encode())
        for ending in ("csv", "md", "tex"):
            self.put(f"{stem}.{ending}", Path(sheet.path).with_suffix(f".{ending}").read_bytes())
        shown: dict[str, Any] = {"sheet": sheet, "disagree": disagree, "scripts": ("ui.js", "table.js")}
        shown["standing"] = self.standing(sheet) if table.of_models else None
        shown["chart"] = figures.svg(figures.figure(sheet, table.chart)) if table.chart else ""
        shown["kinds"] = [kind for kind in KINDS if any(row["kind"] == kind for row in sheet.rows)]
        self.page(sheet.file, "table.html", f"{sheet.benchmark} {sheet.name}: {table.title}", **shown)


def title_of(benchmark: str) -> str:
    """The name of a benchmark as its paper writes it."""
    return (inspect.getdoc(benchmarks.load(benchmark)) or benchmark).partition(":")[0]


def main_question(sheet: Sheet) -> str:
    """The first question, task@condition, of a benchmark's main table; "" if it reads all tasks."""
    return f"{sheet.table.tasks[0]}@{sheet.table.conditions[0]}" if sheet.table.tasks else ""


def write_report(run: Run) -> None:
    """Write the pages of a run to results/report/."""
    Site(run).write()


def write_figure(run: Run, benchmark: str, table: str) -> None:
    """Write one table as a figure for a paper: SVG and PDF."""
    sheet = read_sheet(run, benchmark, run.benchmark(benchmark).TABLES[table])
    drawn = figures.on_paper(figures.drawn(sheet) or figures.nothing(sheet.path))
    path = Path(run.paths.table(sheet.table.file))
    write_bytes(path.with_suffix(".svg"), figures.svg(drawn).encode())
    write_bytes(path.with_suffix(".pdf"), vl_convert.vegalite_to_pdf(drawn))
