"""What every artefact of a selection rests on: the one place that says it.

The rules of Snakemake take their inputs from here, records of what was made (provenance.py) and lineages name what is
said here, and the audit walks it. One method an artefact; its name is the rule's, its parameters are the rule's
wildcards. Cheap: cards and manifests are read, and of engines their identity. Who is asked: asking.py.
"""

from __future__ import annotations

import functools
import inspect
from pathlib import Path

import msgspec

from punchline.core import benchmark as benchmarks
from punchline.core.records import ModelCard
from punchline.project import paths
from punchline.project.answered import Answered
from punchline.project.asking import role_of, shown
from punchline.project.contents import files_beside, listed_files, printed
from punchline.project.hops import CHAINED, DATA, RELEASED, card_of_released
from punchline.project.prepared import once
from punchline.project.processes import pictures_mode
from punchline.project.provenance import Need, Step, walk

ASKING_RULES = ("infer", "infer_chained", "judge")  # a job of which makes a step a benchmark
SHARD_RULES = tuple(f"{name}_shard" for name in ASKING_RULES)
DRAWING = ("altair", "vl-convert-python")


class Project(Answered):
    """The artefacts of one selection."""

    def steps_of(self, rule: str, *wildcards: str) -> list[Step]:
        """What one job of a rule makes: one step, or those of all benchmarks that one start of an engine serves."""
        if rule == "infer":
            return [self.snapshot(benchmark, *wildcards) for benchmark in self.selection.benchmarks]
        if rule in SHARD_RULES:
            *names, shard = wildcards
            return [self.shard(step, shard) for step in self.steps_of(rule.removesuffix("_shard"), *names)]
        if rule == "infer_chained":
            (model,) = wildcards
            chained = [name for name in self.selection.benchmarks if CHAINED in self.hops(name, model)]
            return [self.hop_snapshot(benchmark, CHAINED, model) for benchmark in chained]
        if rule == "judge":
            return [self.hop_snapshot(*names) for names in self.judged.get(wildcards[0], [])]
        return [getattr(self, rule)(*wildcards)]

    @staticmethod
    def wildcards(rule: str) -> tuple[str, ...]:
        """Names of a rule's wildcards, in order."""
        special: dict[str, tuple[str, ...]] = {
            "infer": ("model",),
            "infer_chained": ("model",),
            "judge": ("judge",),
        }
        special |= {name: (*special[name.removesuffix("_shard")], "shard") for name in SHARD_RULES}
        return special.get(rule) or tuple(inspect.signature(getattr(Project, rule)).parameters)[1:]

    # Grades and tables

    @once
    def grade(self, benchmark: str, model: str) -> Step:
        judged = {hop: who for hop, who in self.hops(benchmark, model).items() if hop != CHAINED}
        loaded = self.benchmark(benchmark)
        return Step(
            "grade",
            (benchmark, model),
            (self.paths.grades(benchmark, model),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *self._own(benchmark, model),
                *(need for hop in judged for need in self._hop(benchmark, hop, model)),
            ),
            {"judges": judged},
            ("punchline.stages.grade", benchmarks.module_of(benchmark, "grade")),
            benchmarks.libraries(loaded, "grade"),
        )

    def _grades(self, benchmark: str, model: str) -> Need:
        grade = functools.partial(self.grade, benchmark, model)
        return Need("grades", self.paths.grades(benchmark, model), grade)

    @once
    def cells(self, benchmark: str, model: str) -> Step:
        """A model's part of all tables: its rows under both rules, and who answered."""
        loaded, selection = self.benchmark(benchmark), self.selection
        hops = (need for hop in self.hops(benchmark, model) for need in self._hop(benchmark, hop, model)[1:])
        answers = {need.path: need for need in (*self._own(benchmark, model)[1:2], *hops)}.values()
        released = self._released(self.engines[model])
        released += self._raw(benchmark, loaded.ITEM_FILES) if released else []
        return Step(
            "cells",
            (benchmark, model),
            (self.paths.cells(benchmark, model),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                self._grades(benchmark, model),
                *answers,
                *released,
            ),
            {"scoring": selection.scoring},
            ("punchline.stages.cells", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
        )

    def _cells(self, benchmark: str, model: str) -> Need:
        return Need("cells", self.paths.cells(benchmark, model), functools.partial(self.cells, benchmark, model))

    @once
    def table(self, benchmark: str, table: str) -> Step:
        loaded = self.benchmark(benchmark)
        spec = loaded.TABLES[table]
        models = self.selection.models if spec.graded else []
        published = paths.published(benchmark)
        own = [paths.own(benchmark, name) for name in spec.own]
        names = [*spec.files, *(loaded.ITEM_FILES if spec.graded else ())]
        needs = [
            Need("published values", published, content=lambda: printed(published, table)),
            *self._raw(benchmark, list(dict.fromkeys(names))),
            *self._raw(paths.runs_of(benchmark), self.runs(benchmark, table)),
            *(Need("user's file", path) for path in own if Path(path).is_file()),
        ]
        if spec.graded:
            needs += [self._items(benchmark), self._gold(benchmark), self._selected(benchmark)]
        shown: dict[str, Need] = {}
        for hop, who in self.hops(benchmark, DATA).items() if spec.compared is not None else ():
            needs += self._hop(benchmark, hop, DATA)
            shown[who] = self._card(self.judges[who], benchmark, spec.prices, f"{role_of(hop)} card")
        for model in models:
            needs += [self._cells(benchmark, model)]
            needs += [self._grades(benchmark, model)] if spec.across is not None else []
            shown[model] = self._card(self.cards[model], benchmark, spec.prices, "model card")
            for hop, who in self.hops(benchmark, model).items():  # without keys: a judge's weights may not be there yet
                if hop != CHAINED:
                    gives = card_of_released(self.engines[model]) if who == RELEASED else self.judges[who]
                    if gives is not None:
                        shown[gives.file] = self._card(gives, benchmark, spec.prices, f"{role_of(hop)} card")
        needs += shown.values()
        csv = self.paths.table(spec.file)
        stem = csv.removesuffix(".csv")
        step = Step(
            "table",
            (benchmark, table),
            (csv, f"{stem}.md", f"{stem}.tex", f"{stem}.lineage.json"),
            tuple({need.path: need for need in needs}.values()),
            {"selection": msgspec.to_builtins(self.part(benchmark, table))},
            ("punchline.stages.tabulate", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
            names=lambda: [need for need, _ in walk(step)],  # its lineage names every file that it rests on
        )
        return step

    def _card(self, card: ModelCard, benchmark: str, prices: bool, role: str) -> Need:
        return Need(role, card.file, content=lambda: msgspec.to_builtins(shown(card, benchmark, prices)))

    def tables(self) -> list[Step]:
        """Every table of the selected benchmarks."""
        return [self.table(name, table) for name in self.selection.benchmarks for table in self.benchmark(name).TABLES]

    @once
    def unread(self, benchmark: str) -> Step:
        needs = tuple(self._cells(benchmark, model) for model in self.selection.models)
        return Step("unread", (benchmark,), (self.paths.unread(benchmark),), needs, {}, ("punchline.stages.tabulate",))

    @once
    def ranks(self, benchmark: str) -> Step:
        """How sure the order of models in each table is."""
        loaded, selection = self.benchmark(benchmark), self.selection
        tables = [spec for spec in loaded.TABLES.values() if spec.graded]
        files = dict.fromkeys(name for spec in tables for name in spec.files)
        runs = dict.fromkeys(name for spec in tables for name in self.runs(benchmark, spec.name))
        own = dict.fromkeys(paths.own(benchmark, name) for spec in tables for name in spec.own)
        cards = (
            Need("model card", card.file, content=functools.partial(lambda one: [one.asked(), one.base], card))
            for card in self.cards.values()
        )
        return Step(
            "ranks",
            (benchmark,),
            (self.paths.ranks(benchmark),),
            (
                self._items(benchmark),
                self._gold(benchmark),
                *(self._grades(benchmark, model) for model in selection.models),
                *cards,
                *self._raw(benchmark, list(files)),
                *self._raw(paths.runs_of(benchmark), list(runs)),
                *(Need("user's file", path) for path in own if Path(path).is_file()),
            ),
            {"scoring": selection.scoring},
            ("punchline.stages.ranks", *(benchmarks.module_of(benchmark, name) for name in ("tables", "data"))),
            benchmarks.libraries(loaded, "tables"),
        )

    @once
    def discrepancies(self) -> Step:
        selected = self.selection.benchmarks
        needs = [self._cells(name, model) for name in selected for model in self.selection.models]
        code = [benchmarks.module_of(name, "tables") for name in selected]
        return Step(
            "discrepancies", (), (self.paths.discrepancies,), tuple(needs), {}, ("punchline.stages.tabulate", *code)
        )

    @once
    def cost(self) -> Step:
        """What all answers have cost: of models, and of judges on them."""
        asked = self.asked()
        prices = [[b, m, hop, card.name, msgspec.to_builtins(card.price)] for b, m, hop, card, _ in asked]
        needs = tuple((self._own(b, m) if hop == "answer" else self._hop(b, hop, m))[1] for b, m, hop, *_ in asked)
        return Step("cost", (), (self.paths.cost,), needs, {"asked": prices}, ("punchline.stages.cost",))

    @once
    def metrics(self) -> Step:
        """The main column of every table that models are compared by."""
        code = [benchmarks.module_of(name, "tables") for name in self.selection.benchmarks]
        needs = [
            Need("table", step.outputs[0], functools.partial(self.table, *step.wildcards)) for step in self.tables()
        ]
        return Step(
            "metrics", (), (self.paths.metrics, self.paths.plots), tuple(needs), {}, ("punchline.stages.metrics", *code)
        )

    @once
    def figure(self, benchmark: str, table: str) -> Step:
        """A table as a picture for a paper."""
        made = self.table(benchmark, table)
        stem = made.outputs[0].removesuffix(".csv")
        need = Need("table", made.outputs[0], functools.partial(self.table, benchmark, table))
        code = ("punchline.report.site", benchmarks.module_of(benchmark, "tables"))
        return Step("figure", (benchmark, table), (f"{stem}.svg", f"{stem}.pdf"), (need,), {}, code, DRAWING)

    @once
    def report_items(self, benchmark: str) -> Step:
        """Items, what models were asked about them, and gold, for pages."""
        illustrated = self.illustrated(benchmark)
        index = Need("picture index", self.paths.index(benchmark), functools.partial(self.pictures, benchmark))
        pins = [Need("manifest", paths.manifest(benchmark, "images_pinned.csv"))] if self.pinned(benchmark) else []
        output = self.paths.report_items(benchmark)
        return Step(
            "report_items",
            (benchmark,),
            (output,),
            (
                *(self._items(benchmark), self._gold(benchmark), self._requests(benchmark)),
                *([index, self._ledger(benchmark), *pins] if illustrated else []),
            ),
            {},
            ("punchline.report.items", *self._shown(benchmark)),
            extra=lambda: files_beside(output),
        )

    def _shown(self, benchmark: str) -> list[str]:
        module = benchmarks.shown(benchmark)
        return [] if module is None else [module.__name__]

    @once
    def report_answers(self, benchmark: str, model: str) -> Step:
        """A model's answers and their grades, for pages."""
        hops = (need for hop in self.hops(benchmark, model) for need in self._hop(benchmark, hop, model))
        needs = [self._items(benchmark), self._gold(benchmark), *self._own(benchmark, model), *hops]
        output = self.paths.report_answers(benchmark, model)
        return Step(
            "report_answers",
            (benchmark, model),
            (output,),
            tuple({need.path: need for need in (*needs, self._grades(benchmark, model))}.values()),
            {},
            ("punchline.report.answers", benchmarks.module_of(benchmark, "grade"), *self._shown(benchmark)),
            extra=lambda: files_beside(output),
        )

    @once
    def report(self) -> Step:
        """Pages to look at, of all that the run has made."""
        needs = [
            Need("table", step.outputs[0], functools.partial(self.table, *step.wildcards)) for step in self.tables()
        ]
        for name in self.selection.benchmarks:
            needs += [Need("unread answers", self.paths.unread(name), functools.partial(self.unread, name))]
            needs += [self._items(name), self._requests(name)]
            needs += [Need("ranks", self.paths.ranks(name), functools.partial(self.ranks, name))]
        needs += [
            Need("discrepancies", self.paths.discrepancies, self.discrepancies),
            Need("cost", self.paths.cost, self.cost),
        ]
        specs = (self.benchmark(benchmark).TABLES[table] for benchmark, table in (s.wildcards for s in self.tables()))
        verdicts = [paths.audited(self.selection.run, spec.file) for spec in specs]
        needs += [Need("verdict", path) for path in verdicts if Path(path).is_file()]
        folder, selected = self.paths.report, self.selection.benchmarks
        for name in selected:
            needs += [Need("pages", self.paths.report_items(name), functools.partial(self.report_items, name))]
            for model in self.selection.models:
                answers = functools.partial(self.report_answers, name, model)
                needs += [Need("pages", self.paths.report_answers(name, model), answers), self._grades(name, model)]
        return Step(
            "report",
            (),
            (f"{folder}/index.html", f"{folder}/files.json"),
            tuple(needs),
            {"pictures": pictures_mode(), "run": self.selection.run},
            (
                "punchline.report.site",
                *(benchmarks.module_of(name, part) for name in selected for part in ("tables", "data")),
            ),
            ("jinja2", *DRAWING),
            extra=lambda: listed_files(f"{folder}/files.json"),
        )
